package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/frontier"
)

const needsStore = `It works on the store, which the daemon has for itself while it runs: stop the daemon first.`

func newDedup() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dedup",
		Short: "Look after the index of what is archived",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newDedupImport(), newDedupStatus(), newDedupRemove(), newDedupPurge())
	return cmd
}

func newDedupImport() *cobra.Command {
	var path string
	var asJSON bool
	var o archive.ImportOptions
	cmd := &cobra.Command{
		Use:   "import FILE|DIR…",
		Short: "Deduplicate against earlier archives",
		Long: `import reads earlier archives into the index, so that what they hold is not stored again: WARC files, plain or gzip; WACZ packages;
CDX and CDXJ indexes; crawl.log of Heritrix or arcrawl; and manifests, JSON files that list packages as Browsertrix does:

  {"resources": [{"name": "a.wacz", "path": "a.wacz", "hash": "sha256:…", "size": 123, "crawlId": "c1"}]}

A folder stands for the WARC files and packages below it. A file that was read before changes nothing, whatever its name; one that
was interrupted is read on. The records of a file count when all of it has been read. Damage is named and passed over, and
gives exit code 65; the rest is imported.

With --remove, what came of a manifest and is no longer in it is removed: nothing refers to it from now on. It is counted in
'arcrawl dedup status' until 'arcrawl dedup purge'.

New files will depend on the imported ones: keep them. With certainty = "compare" their records are read from the folder of the
archive; those that are not there are stored again.

` + needsStore,
		Example: `  arcrawl dedup import -c /etc/arcrawl/arcrawl.toml /archive/2024/
  arcrawl dedup import old.cdxj heritrix/crawl.log
  arcrawl dedup import --remove collection.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.As != "" && !slices.Contains(archive.ImportFormats(), o.As) {
				return usageError{fmt.Errorf("--as %s: accepted are %s", o.As, strings.Join(archive.ImportFormats(), ", "))}
			}
			boundGarbage(frontier.FillingGarbage)
			return withIndex(path, true, func(i *dedup.Index, store *frontier.Frontier) error {
				return importArchives(cmd, i, store, args, o, asJSON)
			})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&path, "config", "c", defaultConfig, "the main configuration file")
	f.StringVar(&o.As, "as", "", "what the files are: "+strings.Join(archive.ImportFormats(), ", ")+"; else their names or beginnings tell")
	f.StringVar(&o.Crawl, "crawl", "", "id of the crawl that the files came of")
	f.BoolVar(&o.Remove, "remove", false, "remove what came of the manifests and is no longer in them")
	f.BoolVar(&asJSON, "json", false, "print one JSON object for each file, and last the summary")
	return cmd
}

func importArchives(cmd *cobra.Command, i *dedup.Index, store *frontier.Frontier, args []string, o archive.ImportOptions, asJSON bool) error {
	out, errs := cmd.OutOrStdout(), cmd.ErrOrStderr()
	o.Now, o.Progress = time.Now, new(archive.Progress)
	onTerminal := isTerminal(errs)
	o.Added = func() error { return store.Relieve(frontier.FillingMapped) }
	o.Done = func(f archive.ImportedFile) error {
		if err := store.Sync(); err != nil {
			return err
		}
		if onTerminal {
			fmt.Fprint(errs, "\r\x1b[K") // the line of progress
		}
		return printImported(out, f, asJSON)
	}
	stop := watch(errs, o.Progress)
	sum, err := archive.Import(cmd.Context(), i, args, o, printFinding(errs, asJSON))
	stop()
	if err != nil {
		return err
	}
	if asJSON {
		err = json.NewEncoder(out).Encode(struct {
			Summary archive.Imported `json:"summary"`
		}{sum})
	} else {
		_, err = fmt.Fprintf(out, "%d files with %d originals and %d revisits imported, %d known before, %d removed; %d records were of no use; %d errors\n",
			sum.Files, sum.Entries, sum.Revisits, sum.Known, sum.Removed, sum.Skipped, sum.Errors)
	}
	if err == nil && sum.Errors > 0 {
		err = fmt.Errorf("%w: %d errors; the rest is imported", archive.ErrDamaged, sum.Errors)
	}
	return err
}

func printImported(out io.Writer, f archive.ImportedFile, asJSON bool) (err error) {
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
			resumed = ", read on where an earlier import had ended"
		}
		_, err = fmt.Fprintf(out, "%s: %d originals, %d revisits, %d of no use%s\n", f.File, f.Entries, f.Revisits, f.Skipped, resumed)
	}
	return err
}

// withIndex opens the index of a stopped crawl. Filling tells that a great deal is going to be written.
func withIndex(path string, filling bool, do func(*dedup.Index, *frontier.Frontier) error) (err error) {
	c, err := config.Load(path)
	if err != nil {
		return err
	}
	if err := prepareFolders(c); err != nil {
		return err
	}
	f, _, err := openFrontier(config.NewLive(c), time.Now(), filling)
	if errors.Is(err, frontier.ErrLocked) {
		return fmt.Errorf("%w: stop the daemon first", err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	i, err := dedup.Open(f.DB(), dedup.Options{Name: archive.Key})
	if err != nil {
		return err
	}
	return do(i, f)
}

// holding is one line of the status.
type holding struct {
	Number     uint32 `json:"number"`
	Name       string `json:"name"`
	State      string `json:"state"`
	Crawl      string `json:"crawl,omitempty"`
	Hash       string `json:"hash,omitempty"`
	Size       int64  `json:"size"`
	Originals  int64  `json:"originals"`
	Bytes      int64  `json:"bytes"`
	Referred   int64  `json:"referred"`
	References int64  `json:"references"`
	Changed    string `json:"changed,omitempty"`
}

func newDedupStatus() *cobra.Command {
	var path string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Tell what the index holds, of the crawl itself and of what was imported",
		Long: `status reads the whole index and prints, for the crawl itself and each imported file, how many records stand for a payload, how many
of them revisits refer to, and how many revisits those are. What was removed is counted until it is purged.

` + needsStore,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withIndex(path, false, func(i *dedup.Index, _ *frontier.Frontier) error {
				list, err := holdings(cmd.Context(), i)
				if err != nil {
					return err
				}
				if asJSON {
					return writeJSON(cmd.OutOrStdout(), list)
				}
				return printHoldings(cmd.OutOrStdout(), list)
			})
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", defaultConfig, "the main configuration file")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func holdings(ctx context.Context, i *dedup.Index) ([]holding, error) {
	of, err := i.Holdings(ctx)
	if err != nil {
		return nil, err
	}
	list := []holding{{Name: "(this crawl)", State: dedup.Active.String()}}
	for _, c := range i.Collections() {
		list = append(list, holding{
			Number: c.Number, Name: c.Name, State: c.State.String(), Crawl: c.Crawl, Hash: c.Hash, Size: c.Size, Changed: stamp(c.Changed),
		})
	}
	for n := range list {
		if h := of[list[n].Number]; h != nil {
			list[n].Originals, list[n].Bytes, list[n].Referred, list[n].References = h.Originals, h.Bytes, h.Referred, h.References
		}
	}
	return list, nil
}

func printHoldings(out io.Writer, list []holding) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "number\tname\tstate\tcrawl\toriginals\tpayload\treferred to\tby revisits")
	for _, h := range list {
		crawl := h.Crawl
		if crawl == "" {
			crawl = "-"
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%d\t%s\t%d\t%d\n", h.Number, h.Name, h.State, crawl, h.Originals, size(h.Bytes), h.Referred, h.References)
	}
	return table.Flush()
}

func newDedupRemove() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "remove NUMBER|NAME…",
		Short: "Remove imported files from the index",
		Long: `remove takes imported files out of use, by their number or name in 'arcrawl dedup status': nothing refers to their records from now on. Revisits
that refer to them already are counted until 'arcrawl dedup purge'. Importing the same file again takes it back.

` + needsStore,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withIndex(path, false, func(i *dedup.Index, _ *frontier.Frontier) error { return removeCollections(cmd.OutOrStdout(), i, args) })
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", defaultConfig, "the main configuration file")
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
			return usageError{fmt.Errorf("nothing of the number or name %s was imported; see arcrawl dedup status", arg)}
		}
	}
	return nil
}

func newDedupPurge() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "purge",
		Short: "Delete what was removed from the index",
		Long: `purge deletes the entries of removed files, and what is known of revisits in them. It reads the whole index.

` + needsStore,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withIndex(path, false, func(i *dedup.Index, _ *frontier.Frontier) error {
				n, err := i.Purge(cmd.Context())
				if err == nil {
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d entries deleted\n", n)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", defaultConfig, "the main configuration file")
	return cmd
}
