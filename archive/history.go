package archive

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/wacz"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

// Flags holds the flags that choose the folder of WARC files.
type Flags struct {
	Config string // the main configuration file
	dir    string
	from   []string
}

// Add adds the flags to a command.
func (w *Flags) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&w.dir, "warcs", "", "read WARC files in this folder (default: storage.warc of the configuration)")
	cmd.Flags().StringArrayVar(&w.from, "from", nil,
		"also read this file, folder, WACZ package or list of packages (.json), of earlier archives; repeatable")
	cli.ConfigFlag(cmd, &w.Config)
}

// sources returns the files and folders of --from, with lists of packages replaced by their packages.
func (w *Flags) sources() ([]string, error) {
	s, err := wacz.ReadSources(w.from)
	if err != nil {
		return nil, cli.Usage(err)
	}
	return s.Paths, nil
}

// Damages prints findings of damage and counts them. Damage does not stop a command, but changes its exit code.
type Damages struct {
	print func(warc.Finding) error
	Found int
}

func newDamages(errs io.Writer, asJSON bool) *Damages {
	return &Damages{print: cli.PrintFinding(errs, asJSON)}
}

func (d *Damages) see(f warc.Finding) error {
	if f.Kind == warc.StillOpen {
		return nil // a running crawl writes it; only verify needs to say so
	}
	if f.Severity == warc.Error && !isEmptyFolder(f) {
		d.Found++
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
func (d *Damages) err() error {
	if d.Found == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s, listed above; the answer does not include what they hide", warc.ErrDamaged,
		human.Count(d.Found, "error"))
}

// LookIn opens the folder and calls do. Its error says whether damage was found.
func (w *Flags) LookIn(
	cmd *cobra.Command, asJSON bool, do func(l *index.Library, d *Damages) error,
) (err error) {
	dir, err := w.folder()
	if err != nil {
		return err
	}
	outside, err := w.sources()
	if err != nil {
		return err
	}
	d, progress := newDamages(cmd.ErrOrStderr(), asJSON), new(warc.Progress)
	stop := cli.ShowProgress(cmd.ErrOrStderr(), progress)
	l, err := index.OpenLibrary(cmd.Context(), dir, index.Options{Progress: progress, Outside: outside}, d.see)
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

// HowFound says in the help which files are read.
const HowFound = `The folder is storage.warc of the configuration, or the one named by --warcs. Every file in it is read, unless an index.cdxj in the
folder covers it; arcrawl index -o writes one. WACZ packages in the folder are always read.`

func newHistory() *cobra.Command {
	var at Flags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "history URI",
		Short: "List every archived capture of a URI",
		Long: `history prints one line for each capture of a URI, oldest first: date, status, kind of record, payload digest, size, file and
offset, the reason of the visit, and its result. If the index has a capture whose file was moved away, history says which file to
bring back.

` + HowFound,
		Example: "  arcrawl history --warcs warc/ https://www.example.org/",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return at.LookIn(cmd, asJSON, func(l *index.Library, d *Damages) error {
				captures, err := l.History(name(args[0]))
				if err == nil && len(captures) == 0 {
					err = l.NotFound(name(args[0]))
				}
				if err != nil {
					return err
				}
				for _, c := range captures {
					if c.Damage != nil && !c.IsElsewhere() {
						d.Found++
					}
				}
				if asJSON {
					return index.WriteJSON(cmd.OutOrStdout(), captures)
				}
				return index.WriteTable(cmd.OutOrStdout(), captures)
			})
		},
	}
	at.Add(cmd)
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}
