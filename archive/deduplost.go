package archive

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/keep"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/internal/human"
)

func newDedupLost() *cobra.Command {
	var path string
	var asJSON, moved, found bool
	cmd := &cobra.Command{
		Use:   "lost [FILE…]",
		Short: "Declare WARC files lost, so that their payloads are archived again",
		Long: `lost records that WARC files of this crawl are lost or damaged. No new record refers to them. The URIs whose payload was in them are
visited soon, at the pace of their hosts, without conditions, and archived whole. FILE is a name or a path; only the name counts. Use
it for a file that verify found damaged too: all its records then count as lost. Without FILE it lists the lost and moved files.

The daemon itself looks for missing and shortened files when it starts. Files that were moved away on purpose are not lost if
storage.elsewhere names their place, if warc.sealed_url or warc.sealed_command took them, or after lost --moved. A missing file that is
back counts again; after 'lost FILE', say so with lost --found. URIs that are due already stay due.

It first prints the captures that can no longer be replayed, like arcrawl deps --lost, from the dependency index. The command asks the running daemon. If no daemon answers, it
opens the store.`,
		Example: `  arcrawl dedup lost arcrawl-20261121090000000-00001-c1.warc.gz
  arcrawl dedup lost --moved arcrawl-2024*.warc.gz
  arcrawl dedup lost`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (moved || found) && len(args) == 0 {
				return cli.Usage(errors.New("name the files"))
			}
			o := api.LostFiles{Files: args, Are: dedup.AreLost}
			switch {
			case moved:
				o.Are = dedup.AreMoved
			case found:
				o.Are = dedup.AreFound
			}
			if o.Are == dedup.AreLost && len(args) > 0 && !asJSON {
				if err := printImpact(cmd, path, args); err != nil {
					return err
				}
			}
			l, err := keep.Lose(cmd.Context(), path, o, time.Now)
			if err != nil {
				return err
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), l)
			}
			return printLost(cmd.OutOrStdout(), o, l)
		},
	}
	f := cmd.Flags()
	cli.ConfigFlag(cmd, &path)
	f.BoolVar(&moved, "moved", false, "the files were moved away on purpose: their records count")
	f.BoolVar(&found, "found", false, "the files are neither lost nor moved")
	cli.JSONFlag(cmd, &asJSON)
	cmd.MarkFlagsMutuallyExclusive("moved", "found")
	return cmd
}

// printImpact prints which captures cannot be replayed without the files, as far as the dependency index knows.
func printImpact(cmd *cobra.Command, path string, files []string) (err error) {
	s, err := config.StorageAt(path)
	if err != nil {
		return err
	}
	x, err := depend.Open(cmd.Context(), s.WARC, depend.Options{Covered: true}, func(warc.Finding) error { return nil })
	if err == nil {
		defer func() { err = errors.Join(err, x.Close()) }()
		var losses []depend.Loss
		losses, err = x.Impact(files, "2006-01", func(depend.Lost) error { return nil })
		if err == nil {
			return depend.WriteLosses(cmd.OutOrStdout(), losses)
		}
	}
	if errors.Is(err, warc.ErrNotFound) || errors.Is(err, depend.ErrOnlyIDs) {
		fmt.Fprintf(cmd.ErrOrStderr(), "the impact is not known: %v; make the index with arcrawl index -o %s\n", err,
			filepath.Join(s.WARC, index.FileName))
		return nil
	}
	return err
}

// printLost prints what was recorded, or all losses if no files were named.
func printLost(out io.Writer, o api.LostFiles, l keep.Lost) (err error) {
	if len(o.Files) == 0 {
		table := cli.NewTable(out)
		fmt.Fprintln(table, "file\tfrom byte\tstate\tURIs due")
		for _, x := range l.Losses {
			due := "yes"
			if x.Pending {
				due = "not yet"
			} else if x.Cause == "moved" {
				due = "-"
			}
			fmt.Fprintf(table, "%s\t%d\t%s\t%s\n", x.File, x.From, x.Cause, due)
		}
		return table.Flush()
	}
	text := fmt.Sprintf("%s now %s", human.Count(l.Changed, "file"), o.Are)
	switch {
	case o.Are != dedup.AreLost || l.Changed == 0:
	case l.Running:
		text += "; the daemon makes their URIs due, and logs how many"
	default:
		text += fmt.Sprintf("; %s due at the pace of their hosts", human.Count(l.Due, "URI"))
	}
	_, err = fmt.Fprintln(out, text)
	return err
}
