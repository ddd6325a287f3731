// Package archive is the wing for archives: commands to check, index, read, rewrite and package WARC files, and what
// looks after the archive of a running crawl. It also backs up the store, and restores or rebuilds it.
//
// For a running crawl it lists finished WARC files in the manifest of their folder, passes them to a server or a
// program, takes them to further folders and into a bucket, keeps the dependency index, and sends the lines of the live
// index to an OutbackCDX server. The crawl never waits for any of this.
//
// A file that is taken to another folder leaves a symbolic link under its old name. So all who read the archive find
// it, and the manifest, the indexes and the records that refer to it stay true. Only files that the manifest lists are
// taken away or uploaded, and each copy is compared with the manifest.
//
// It also has what lost files held archived again. A file is lost from the moment when the dedup index has its loss: no
// new record refers to it, and no request is conditional on a payload in it. That alone would not bring the payloads
// back soon. So [makeDue] goes through the store and makes the URIs due whose payload was in a lost file, one after the
// other at the pace of their host.
package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/daemon"
)

// Commands returns the commands of this wing.
func Commands() []*cobra.Command {
	return append(cli.In(cli.Operator, newBackup()), cli.In(cli.Archivist,
		newVerify(), newIndex(), newHistory(), newCat(), newDiff(), newDedup(), newDeps(), newExtract(), newWacz(), newBag(),
		newOffload())...)
}

// survey reads the folder of a command. It names damaged parts and reads the rest.
func (w *Flags) survey(cmd *cobra.Command, asJSON bool) (s *depend.Survey, damage *Damages, err error) {
	dir, outside, err := w.places()
	if err != nil {
		return nil, nil, err
	}
	progress := new(warc.Progress)
	stop := cli.ShowProgress(cmd.ErrOrStderr(), progress)
	defer stop()
	d := newDamages(cmd.ErrOrStderr(), asJSON)
	daemon.LimitGarbage(daemon.MaxGarbage)
	s, err = depend.New(cmd.Context(), append([]string{dir}, outside...), progress, d.see)
	return s, d, err
}

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
		if err := printEach(cmd.OutOrStdout(), f.asJSON, depend.Dependencies.Write, d); err != nil {
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
			return printEach(cmd.OutOrStdout(), f.asJSON, depend.Lost.Write, l)
		}
	}
	losses, err := s.Impact(files, layout, each)
	if err != nil {
		return errors.Join(err, damage.err())
	}
	if f.asJSON {
		err = printEach(cmd.OutOrStdout(), true, nil, losses...)
	} else {
		err = depend.WriteLosses(cmd.OutOrStdout(), losses)
	}
	return errors.Join(err, damage.err())
}

// printEach prints values, as JSON lines or as text.
func printEach[V any](out io.Writer, asJSON bool, text func(V, io.Writer) error, values ...V) error {
	for _, v := range values {
		var err error
		if asJSON {
			err = json.NewEncoder(out).Encode(v)
		} else {
			err = text(v, out)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
