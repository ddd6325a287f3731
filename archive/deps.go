package archive

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/human"
)

// dependencies answers what depends on what.
type dependencies interface {
	Dependencies(names []string) ([]depend.Dependencies, error)
	Impact(names []string, period string, each func(depend.Lost) error) ([]depend.Loss, error)
}

// dependencies opens the dependency index of the folder and reads the files that it does not cover. If the index cannot
// answer, because of packages or of files by other tools, it reads all files.
func (w *Flags) dependencies(cmd *cobra.Command, asJSON bool) (dependencies, *Damages, func() error, error) {
	none := func() error { return nil }
	dir, outside, err := w.places()
	if err != nil {
		return nil, nil, none, err
	}
	d := newDamages(cmd.ErrOrStderr(), asJSON)
	packages, _ := warc.FilesNamed([]string{dir}, func(name string) bool { return strings.HasSuffix(name, ".wacz") })
	if len(packages)+len(outside) == 0 {
		progress := new(warc.Progress)
		stop := cli.ShowProgress(cmd.ErrOrStderr(), progress)
		x, err := depend.Open(cmd.Context(), dir, depend.Options{Progress: progress}, d.see)
		stop()
		if !errors.Is(err, depend.ErrOnlyIDs) {
			return x, d, x.Close, err
		}
	}
	s, d, err := w.survey(cmd, asJSON)
	return s, d, none, err
}

// depsFlags holds the flags of deps.
type depsFlags struct {
	Flags
	asJSON, lost, list bool
	period             string
}

func newDeps() *cobra.Command {
	var f depsFlags
	cmd := &cobra.Command{
		Use:   "deps FILE…",
		Short: "Show which WARC files a file needs, which need it, and what would be lost with it",
		Long: `deps follows each revisit in a folder of WARC files to its original. For each named FILE it prints the files with
originals of its revisits, the files with revisits that need it, and the numbers. FILE is a path or a name in the folder; a WACZ
package stands for the WARC files in it. A revisit without an original, or a damaged file, is reported with exit code 65.

With --lost it counts, by host and period, the captures that could not be replayed without the named files: the captures in them, and
revisits in other files whose originals are in them. It also counts how many of these have their payload in a remaining file, under any
URI: a person could restore them, but a replay tool would not find them. The files may be gone already if the dependency index has them.
Nothing is changed.

It uses the dependency index of the folder (deps/), which the daemon keeps and arcrawl index makes, and reads the files that the index
does not cover. The folder is storage.warc of the configuration, or the one named by --warcs.`,
		Example: `  arcrawl deps --warcs warc/ arcrawl-20261121090000000-00001-c1.warc.gz
  arcrawl deps --lost --warcs warc/ --by day --list lost-1.warc.gz lost-2.warc.gz`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.lost {
				return f.printLosses(cmd, args)
			}
			if f.list || cmd.Flags().Changed("by") {
				return cli.Usage(errors.New("--list and --by need --lost"))
			}
			return f.printDependencies(cmd, args)
		},
	}
	f.Add(cmd)
	cli.JSONFlag(cmd, &f.asJSON)
	cmd.Flags().BoolVar(&f.lost, "lost", false, "count the captures that would be lost together with the files")
	cmd.Flags().BoolVar(&f.list, "list", false, "with --lost: print each lost capture first")
	cmd.Flags().StringVar(&f.period, "by", "month", "with --lost: count by year, month or day")
	return cmd
}

func (f *depsFlags) printDependencies(cmd *cobra.Command, files []string) error {
	s, damage, closeIndex, err := f.dependencies(cmd, f.asJSON)
	if err != nil {
		return err
	}
	defer closeIndex() //nolint:errcheck // nothing was written
	all, err := s.Dependencies(files)
	if err != nil {
		return errors.Join(err, damage.err())
	}
	missing := 0
	for _, d := range all {
		missing += d.Missing
		if err := printEach(cmd.OutOrStdout(), f.asJSON, writeDependencies, d); err != nil {
			return err
		}
	}
	if missing > 0 {
		err = fmt.Errorf("%w: the originals of %d revisits are in no file", warc.ErrDamaged, missing)
	}
	return errors.Join(err, damage.err())
}

func (f *depsFlags) printLosses(cmd *cobra.Command, files []string) error {
	layout, ok := map[string]string{"year": "2006", "month": "2006-01", "day": "2006-01-02"}[f.period]
	if !ok {
		return cli.Usage(fmt.Errorf("unknown --by %s; valid periods: year, month, day", f.period))
	}
	s, damage, closeIndex, err := f.dependencies(cmd, f.asJSON)
	if err != nil {
		return err
	}
	defer closeIndex() //nolint:errcheck // nothing was written
	each := func(depend.Lost) error { return nil }
	if f.list {
		each = func(l depend.Lost) error {
			return printEach(cmd.OutOrStdout(), f.asJSON, writeLost, l)
		}
	}
	losses, err := s.Impact(files, layout, each)
	if err != nil {
		return errors.Join(err, damage.err())
	}
	if f.asJSON {
		err = printEach(cmd.OutOrStdout(), true, nil, losses...)
	} else {
		err = writeLosses(cmd.OutOrStdout(), losses)
	}
	return errors.Join(err, damage.err())
}

// writeDependencies writes what a file needs and which files need it, as lines for people.
func writeDependencies(d depend.Dependencies, out io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s\n", d.File, human.Count(d.Captures, "capture"))
	for _, f := range d.Needs {
		gone := ""
		if f.Gone {
			gone = ", which is not here,"
		}
		fmt.Fprintf(&text, "  needs %s%s for %s\n", f.File, gone, human.Count(f.Revisits, "revisit"))
	}
	for _, f := range d.NeededBy {
		fmt.Fprintf(&text, "  is needed by %s for %s\n", f.File, human.Count(f.Revisits, "revisit"))
	}
	if d.Missing > 0 {
		fmt.Fprintf(&text, "  lacks the originals of %s\n", human.Count(d.Missing, "revisit"))
	}
	for _, f := range d.Packages {
		fmt.Fprintf(&text, "  %d of them are in %s, say the revisits\n", f.Revisits, f.File)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// writeLost writes a lost capture as a line for people.
func writeLost(l depend.Lost, out io.Writer) error {
	from := ""
	if l.Original != "" {
		from = ", a revisit of a record in " + l.Original
	}
	if l.Saved {
		from += "; the payload is also elsewhere"
	}
	_, err := fmt.Fprintf(out, "%s %s in %s:%d%s\n", l.Date, l.URI, l.File, l.Offset, from)
	return err
}

// writeLosses writes a table of losses, with their sum in the last line.
func writeLosses(out io.Writer, losses []depend.Loss) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "HOST\tPERIOD\tLOST\tREVISITS ELSEWHERE\tPAYLOAD LEFT")
	for _, l := range append(losses, depend.Sum(losses)) {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\n", l.Host, l.Period, l.Captures, l.Revisits, l.Saved)
	}
	return table.Flush()
}
