package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/uri"
)

// where holds the flags that choose the folder of WARC files.
type where struct{ dir, config string }

func (w *where) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&w.dir, "warcs", "", "read WARC files in this folder (default: storage.warc of the configuration)")
	cmd.Flags().StringVarP(&w.config, "config", "c", defaultConfig, "the main configuration file, which names the folder")
}

// damages prints findings of damage and counts them. Damage does not stop a command, but changes its exit code.
type damages struct {
	print func(warc.Finding) error
	found int
}

func newDamages(errs io.Writer, asJSON bool) *damages {
	return &damages{print: printFinding(errs, asJSON)}
}

func (d *damages) see(f warc.Finding) error {
	if f.Severity == warc.Error && !isEmptyFolder(f) {
		d.found++
	}
	return d.print(f)
}

// isEmptyFolder reports whether a finding is about a folder without WARC files, which is not damage.
func isEmptyFolder(f warc.Finding) bool {
	if f.Kind != warc.Empty {
		return false
	}
	info, err := os.Stat(f.File)
	return err == nil && info.IsDir()
}

// err returns the error of a command that succeeded except for damage.
func (d *damages) err() error {
	if d.found == 0 {
		return nil
	}
	return fmt.Errorf("%w: %d errors, listed above; the answer does not include what they hide", warc.ErrDamaged, d.found)
}

// lookIn opens the folder and calls do. Its error says whether damage was found.
func (w *where) lookIn(cmd *cobra.Command, asJSON bool, do func(l *index.Library, d *damages) error) (err error) {
	dir, err := w.folder()
	if err != nil {
		return err
	}
	d, progress := newDamages(cmd.ErrOrStderr(), asJSON), new(warc.Progress)
	stop := watch(cmd.ErrOrStderr(), progress)
	l, err := index.OpenLibrary(cmd.Context(), dir, index.Options{Progress: progress}, d.see)
	stop()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	return errors.Join(do(l, d), d.err())
}

// name returns a URI in the form that the archive uses.
func name(s string) string {
	if u, err := uri.Parse(s); err == nil {
		return u.String()
	}
	return s // not http: unchanged
}

const howFound = `The folder is that of the configuration, or the one named by --warcs. Every file in it is read, unless an index.cdxj in the
folder covers it; arcrawl index -o writes one.`

func newHistory() *cobra.Command {
	var at where
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "history URI",
		Short: "List every archived capture of a URI",
		Long: `history prints one line for each capture of a URI, oldest first: date, status, kind of record, payload digest, size, file and
offset, the reason of the visit, and its result.

` + howFound,
		Example: "  arcrawl history --warcs warc/ https://www.example.org/",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return at.lookIn(cmd, asJSON, func(l *index.Library, d *damages) error {
				captures, err := l.History(name(args[0]))
				if err == nil && len(captures) == 0 {
					err = notFound(l, name(args[0]))
				}
				if err != nil {
					return err
				}
				for _, c := range captures {
					if c.Damage != nil {
						d.found++
					}
				}
				return printHistory(cmd.OutOrStdout(), captures, asJSON)
			})
		},
	}
	at.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object for each capture")
	return cmd
}

func notFound(l *index.Library, address string) error {
	alike, err := l.Alike(address)
	if err != nil {
		return err
	}
	if i := strings.LastIndexByte(address, '@'); i >= 0 && len(alike) == 0 {
		return fmt.Errorf("%w: %s; if %q should be a date, write it like 2026-11-21T09:00:00Z or 20261121090000, or the start of one", warc.ErrNotFound, address, address[i+1:])
	}
	if len(alike) == 0 {
		return fmt.Errorf("%w: %s", warc.ErrNotFound, address)
	}
	return fmt.Errorf("%w: %s; similar URIs: %s", warc.ErrNotFound, address, strings.Join(alike[:min(len(alike), 5)], ", "))
}

const dateLayout = "2006-01-02T15:04:05.000000Z"

func printHistory(out io.Writer, captures []index.Capture, asJSON bool) error {
	if asJSON {
		return historyJSON(out, captures)
	}
	table := newTable(out)
	fmt.Fprintln(table, "DATE\tSTATUS\tRECORD\tDIGEST\tSIZE\tWHERE\tWHY\tFOUND")
	for _, c := range captures {
		kind, bytes, status := c.Type, strconv.FormatInt(c.Size, 10), c.Status
		switch {
		case c.Damage != nil:
			kind, bytes = "damaged", "-"
		case kind == "revisit":
			kind, bytes = kind+" ("+c.Profile+")", "-"
		}
		if status == "" {
			status = "-"
		}
		reason, result := why(c)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s:%d\t%s\t%s\n", c.Date.Format(dateLayout), status, kind, c.Digest, bytes, c.Filename, c.Offset, reason, result)
	}
	return table.Flush()
}

// why returns the crawler's notes in a few words: the reason of the visit and its result.
func why(c index.Capture) (reason, result string) {
	if c.Damage != nil {
		return "-", c.Damage.Error()
	}
	noted := map[string]string{}
	for _, f := range c.Why {
		noted[f.Name] = f.Value
	}
	both := func(sep string, words ...string) string {
		words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
		return cmp.Or(strings.Join(words, sep), "-")
	}
	via := noted["via"]
	if via != "" {
		via = "via " + via
	}
	return both(", ", noted["visitReason"], via), both(": ", noted["contentState"], noted["contentStateReason"])
}

func historyJSON(out io.Writer, captures []index.Capture) error {
	enc := json.NewEncoder(out)
	for _, c := range captures {
		notes := map[string]string{}
		for _, f := range c.Why {
			notes[f.Name] = f.Value
		}
		line := map[string]any{
			"uri": c.URL, "date": c.Date.Format(time.RFC3339Nano), "record": c.Type, "profile": c.Profile, "id": c.RecordID, "status": c.Status,
			"mime": c.MIME, "digest": c.Digest, "size": c.Size, "file": c.Filename, "offset": c.Offset, "length": c.Length,
			"refersTo": c.RefersTo.RecordID, "refersToURI": c.RefersTo.URI, "metadata": notes,
		}
		if c.Damage != nil {
			line["damage"] = c.Damage.Error()
		}
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	return nil
}
