package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/importer"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

const needsStore = `It opens the store. Stop the daemon first.`

func newDedup() *cobra.Command {
	return cli.Group("dedup", "Manage the deduplication index",
		newDedupImport(), newDedupLost(), newDedupStatus(), newDedupRemove())
}

func newDedupImport() *cobra.Command {
	var path string
	var asJSON bool
	var o importer.Options
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
'arcrawl dedup status' until 'arcrawl dedup remove --purge'.

New WARC files will depend on the imported ones: keep them. With certainty = "compare" their records are read from the folder of the
archive; payloads that are not there are stored again.

` + needsStore,
		Example: `  arcrawl dedup import -c /etc/arcrawl/arcrawl.toml /archive/2024/
  arcrawl dedup import old.cdxj heritrix/crawl.log
  arcrawl dedup import --remove collection.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.As != "" && !slices.Contains(importer.Formats(), o.As) {
				return cli.Usage(fmt.Errorf("unknown --as %s; valid formats: %s", o.As, strings.Join(importer.Formats(), ", ")))
			}
			daemon.LimitGarbage(frontier.BulkLoadGarbage)
			return withIndex(cmd.Context(), path, true, func(i *dedup.Index, store *frontier.Frontier) error {
				return importArchives(cmd, i, store, args, o, asJSON)
			})
		},
	}
	f := cmd.Flags()
	cli.ConfigFlag(cmd, &path)
	f.StringVar(&o.As, "as", "", "read the files as: "+strings.Join(importer.Formats(), ", ")+" (default: detect)")
	f.StringVar(&o.Crawl, "crawl", "", "store this crawl id with the files")
	f.BoolVar(&o.Remove, "remove", false, "remove packages that are no longer in the manifests")
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}

func importArchives(
	cmd *cobra.Command, i *dedup.Index, store *frontier.Frontier, args []string, o importer.Options, asJSON bool,
) error {
	out, errs := cmd.OutOrStdout(), cmd.ErrOrStderr()
	o.Now, o.Progress = time.Now, new(warc.Progress)
	o.Added = func() error { return store.PageOut(frontier.BulkLoadMapped) }
	o.Done = func(f importer.FileSummary) error {
		if err := store.Sync(); err != nil {
			return err
		}
		cli.Control(errs, "\r"+cli.ClearLine) // the line of progress
		return printImported(out, f, asJSON)
	}
	stop := cli.ShowProgress(errs, o.Progress)
	sum, err := importer.Files(cmd.Context(), i, args, o, cli.PrintFinding(errs, asJSON))
	stop()
	if err != nil {
		return err
	}
	if asJSON {
		err = json.NewEncoder(out).Encode(struct {
			Summary importer.Summary `json:"summary"`
		}{sum})
	} else {
		_, err = fmt.Fprintf(out, "imported %s with %s and %s; %d known before, %d removed, %s skipped, %s\n",
			human.Count(sum.Files, "file"), human.Count(sum.Entries, "original"), human.Count(sum.Revisits, "revisit"),
			sum.Known, sum.Removed, human.Count(sum.Skipped, "record"), human.Count(sum.Errors, "error"))
	}
	if err == nil && sum.Errors > 0 {
		err = fmt.Errorf("%w: %s; the rest is imported", warc.ErrDamaged, human.Count(sum.Errors, "error"))
	}
	return err
}

func printImported(out io.Writer, f importer.FileSummary, asJSON bool) (err error) {
	switch {
	case asJSON:
		err = json.NewEncoder(out).Encode(f)
	case f.Removed:
		_, err = fmt.Fprintf(out, "%s: removed\n", f.File)
	case f.Known:
		_, err = fmt.Fprintf(out, "%s: known\n", f.File)
	default:
		resumed := ""
		if f.Resumed {
			resumed = "; resumed an interrupted import"
		}
		_, err = fmt.Fprintf(out, "%s: %s, %s, %d skipped%s\n", f.File, human.Count(f.Entries, "original"),
			human.Count(f.Revisits, "revisit"), f.Skipped, resumed)
	}
	return err
}

// withIndex opens the index of a stopped crawl and calls do. filling announces that do will write a large amount.
func withIndex(
	ctx context.Context, path string, filling bool, do func(*dedup.Index, *frontier.Frontier) error,
) (err error) {
	c, err := daemon.ReadConfig(path)
	if err != nil {
		return err
	}
	f, err := daemon.MakeStore(ctx, c, time.Now(), filling)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
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
		Use:   "status",
		Short: "Show what the index holds, by crawl and imported file",
		Long: `status reads the whole index. For this crawl and each imported file it prints the number of originals, how many of them
revisits refer to, and the number of those revisits. Removed files are included until they are purged.

` + needsStore,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withIndex(cmd.Context(), path, false, func(i *dedup.Index, _ *frontier.Frontier) error {
				list, err := i.Inventory(cmd.Context())
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

func printHoldings(out io.Writer, list []dedup.Row) error {
	table := cli.NewTable(out)
	fmt.Fprintln(table, "number\tname\tstate\tcrawl\toriginals\tpayload\treferred to\tby revisits")
	for _, h := range list {
		crawl := h.Crawl
		if crawl == "" {
			crawl = "-"
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%d\t%s\t%d\t%d\n", h.Number, h.Name, h.State, crawl, h.Originals,
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
		Long: `remove removes imported files by their number or name in 'arcrawl dedup status'. No new record refers to them. Existing
revisits that refer to them are counted until they are purged. Importing the same file again restores it.

With --purge it then deletes the entries of all removed files, and the counts of their revisits. It reads the whole index.

` + needsStore,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !purge {
				return cli.Usage(errors.New("name imported files, or use --purge to delete those that were removed"))
			}
			return withIndex(cmd.Context(), path, false, func(i *dedup.Index, _ *frontier.Frontier) error {
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
			if err := i.Remove(c.Number, time.Now()); err != nil {
				return err
			}
			fmt.Fprintf(out, "%s: removed\n", c.Name)
		}
		if !found {
			return cli.Usage(fmt.Errorf("no imported file has the number or name %s; list them with: arcrawl dedup status", arg))
		}
	}
	return nil
}
