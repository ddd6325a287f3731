package archive

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

const needsStore = `It opens the store. Stop the daemon first.`

func newDedup() *cobra.Command {
	cmd := newDedupStatus()
	cmd.AddCommand(newDedupImport(), newDedupLost(), newDedupRemove())
	return cmd
}

func newDedupImport() *cobra.Command {
	var path string
	var asJSON bool
	var o importOptions
	cmd := &cobra.Command{
		Use:   "import FILE|DIR…",
		Short: "Import earlier archives, so that their payloads are not stored again",
		Long: `import reads earlier archives into the index: WARC and ARC files, plain or gzip; WACZ packages; CDX and CDXJ indexes; crawl.log of
Heritrix or arcrawl; and manifests, JSON files that list packages as Browsertrix does:

  {"resources": [{"name": "a.wacz", "path": "a.wacz", "hash": "sha256:…", "size": 123, "crawlId": "c1"}]}

A folder means all WARC files and packages below it. A file that was imported before is recognized by its content and skipped. An
interrupted import resumes. The records of a file are used once the whole file was read. Damaged parts are named and skipped, with exit
code 65; the rest is imported.

With --remove, packages that are no longer in a manifest are removed from the index: no new record refers to them. They are listed by
'arcrawl dedup' until 'arcrawl dedup remove --purge'.

Indexes and logs are imported only with --plain. They do not say whether bodies are in chunks or have a content coding, and a
revisit with another framing is not shown rightly by replay tools. By default Heritrix asks for neither.

New WARC files will depend on the imported ones: keep them. With certainty = "compare" their records are read from the folder of the
archive; payloads that are not there are stored again.

` + needsStore,
		Example: `  arcrawl dedup import -c /etc/arcrawl/arcrawl.toml /archive/2024/
  arcrawl dedup import --plain old.cdxj heritrix/crawl.log
  arcrawl dedup import --remove collection.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.As != "" && !slices.Contains(importFormats(), o.As) {
				return cli.Usage(fmt.Errorf("unknown --as %s; valid formats: %s", o.As, strings.Join(importFormats(), ", ")))
			}
			daemon.LimitGarbage(frontier.BulkLoadGarbage)
			return withIndex(cmd, path, filling, func(i *dedup.Index, store *frontier.Frontier) error {
				return importArchives(cmd, i, store, args, o, asJSON)
			})
		},
	}
	f := cmd.Flags()
	cli.ConfigFlag(cmd, &path)
	f.StringVar(&o.As, "as", "", "read the files as: "+strings.Join(importFormats(), ", ")+" (default: detect)")
	f.StringVar(&o.Crawl, "crawl", "", "store this crawl id with the files")
	f.BoolVar(&o.Plain, "plain", false, "import indexes and logs: their bodies are in no chunks and have no content coding")
	f.BoolVar(&o.Remove, "remove", false, "remove packages that are no longer in the manifests")
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}

func importArchives(
	cmd *cobra.Command, i *dedup.Index, store *frontier.Frontier, args []string, o importOptions, asJSON bool,
) error {
	out, errs := cmd.OutOrStdout(), cmd.ErrOrStderr()
	o.Now, o.Progress = time.Now, new(warc.Progress)
	o.Added = func() error { return store.PageOut(frontier.BulkLoadMapped) }
	o.Done = func(f importedFile) error {
		if err := store.Sync(); err != nil {
			return err
		}
		cli.Control(errs, "\r"+cli.ClearLine) // the line of progress
		return printImported(out, f, asJSON)
	}
	stop := cli.ShowProgress(errs, o.Progress)
	sum, err := importFiles(cmd.Context(), i, args, o, cli.PrintFinding(errs, asJSON))
	stop()
	if err != nil {
		return err
	}
	err = printResult(out, asJSON, map[string]importSummary{"summary": sum},
		"imported %s with %s and %s; %d known before, %d removed, %s skipped, %s\n",
		human.Count(sum.Files, "file"), human.Count(sum.Entries, "original"), human.Count(sum.Revisits, "revisit"),
		sum.Known, sum.Removed, human.Count(sum.Skipped, "record"), human.Count(sum.Errors, "error"))
	return damaged(err, sum.Errors, "; the rest is imported")
}

func printImported(out io.Writer, f importedFile, asJSON bool) error {
	result := fmt.Sprintf("%s, %s, %d skipped",
		human.Count(f.Entries, "original"), human.Count(f.Revisits, "revisit"), f.Skipped)
	switch {
	case f.Removed:
		result = "removed"
	case f.Known:
		result = "known"
	case f.Resumed:
		result += "; resumed an interrupted import"
	}
	return printResult(out, asJSON, f, "%s: %s\n", f.File, result)
}

// indexUse says what a command does with the index.
type indexUse uint8

const (
	counting indexUse = iota
	filling           // it writes a large amount
	removing
	purging
)

// permit returns an error if this cannot be done with the index that the nodes of a cluster share. They have the
// numbers of imported files from the time before the crawl was divided.
func (u indexUse) permit(out io.Writer, c *config.Config, f *frontier.Frontier) (err error) {
	switch {
	case c.Cluster.Database == "":
	case u == counting:
		_, err = fmt.Fprintln(out, "note: the index is in the database of the cluster; counted is what this node keeps of it")
	case u == purging:
		err = errors.New("the index is in the database of the cluster: leave the cluster before you purge it")
	case f.IsPart():
		err = errors.New("the crawl is divided, and all nodes must have the same imported files: leave the cluster, " +
			"import or remove files, and make the cluster again")
	}
	return err
}

// withIndex opens the index of a stopped crawl and calls do.
func withIndex(
	cmd *cobra.Command, path string, use indexUse, do func(*dedup.Index, *frontier.Frontier) error,
) (err error) {
	c, err := daemon.ReadConfig(path)
	if err != nil {
		return err
	}
	f, err := daemon.MakeStore(cmd.Context(), c, time.Now(), use == filling)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := use.permit(cmd.ErrOrStderr(), c, f); err != nil {
		return err
	}
	i, err := dedup.Open(f.DB(), dedup.Options{Name: uri.ReplayKey})
	if err != nil {
		return err
	}
	return do(i, f)
}

func newDedupStatus() *cobra.Command {
	var path string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "dedup",
		Short: "Show and manage the deduplication index",
		Long: `dedup reads the whole deduplication index. For this crawl and each imported file it prints the number of originals, how many of them
revisits refer to, and the number of those revisits. Removed files are included until they are purged.

` + needsStore,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withIndex(cmd, path, counting, func(i *dedup.Index, _ *frontier.Frontier) error {
				list, err := inventory(cmd.Context(), i)
				if err != nil {
					return err
				}
				if asJSON {
					return cli.WriteJSON(cmd.OutOrStdout(), list)
				}
				return printHoldings(cmd.OutOrStdout(), list)
			})
		},
	}
	cli.ConfigFlag(cmd, &path)
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}

func printHoldings(out io.Writer, list []holding) error {
	table := cli.NewTable(out)
	fmt.Fprintln(table, "number\tname\tstate\tcrawl\toriginals\tpayload\treferred to\tby revisits")
	for _, h := range list {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%d\t%s\t%d\t%d\n", h.Number, h.Name, h.State, cmp.Or(h.Crawl, "-"), h.Originals,
			human.Bytes(h.Bytes), h.Referred, h.References)
	}
	return table.Flush()
}

func newDedupRemove() *cobra.Command {
	var path string
	var purge bool
	cmd := &cobra.Command{
		Use:   "remove [--purge] NUMBER|NAME…",
		Short: "Remove imported files from the index",
		Long: `remove removes imported files by their number or name in 'arcrawl dedup'. No new record refers to them. Existing
revisits that refer to them are counted until they are purged. Importing the same file again restores it.

With --purge it then deletes the entries of all removed files, and the counts of their revisits. It reads the whole index.

` + needsStore,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !purge {
				return cli.Usage(errors.New("name imported files, or use --purge to delete those that were removed"))
			}
			use := removing
			if purge {
				use = purging
			}
			return withIndex(cmd, path, use, func(i *dedup.Index, _ *frontier.Frontier) error {
				if err := removeCollections(cmd.OutOrStdout(), i, args); err != nil || !purge {
					return err
				}
				n, err := i.Purge(cmd.Context())
				if err == nil {
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s deleted\n", human.Count(n, "entry"))
				}
				return err
			})
		},
	}
	cli.ConfigFlag(cmd, &path)
	cmd.Flags().BoolVar(&purge, "purge", false, "then delete removed files from the index")
	return cmd
}

func removeCollections(out io.Writer, i *dedup.Index, args []string) error {
	for _, arg := range args {
		found := false
		for _, c := range i.Collections() {
			if fmt.Sprint(c.Number) != arg && c.Name != arg {
				continue
			}
			found = true
			if err := removeCollection(i, c, time.Now()); err != nil {
				return err
			}
			fmt.Fprintf(out, "%s: removed\n", c.Name)
		}
		if !found {
			return cli.Usage(fmt.Errorf("no imported file has the number or name %s; list them with: arcrawl dedup", arg))
		}
	}
	return nil
}

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
			l, err := lose(cmd.Context(), path, o, time.Now)
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
			return writeLosses(cmd.OutOrStdout(), losses)
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
func printLost(out io.Writer, o api.LostFiles, l loseResult) (err error) {
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
		if l.Later > 0 {
			text += fmt.Sprintf("; the daemon makes %d more due", l.Later)
		}
	}
	_, err = fmt.Fprintln(out, text)
	return err
}
