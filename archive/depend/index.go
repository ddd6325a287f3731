package depend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/archive/survey"
	"github.com/arcrawl/arcrawl/archive/warc"
)

// Index answers what depends on what in a folder of WARC files.
type Index struct {
	store *store
	runs  []*run
	valid []map[uint32]bool // for each run: the files about which its lines count
	here  map[string]warc.File
	read  int // files that were read because no run covers them

	saved map[string]bool // the last answers of elsewhere for one set of files
}

// maxSaved is the maximum number of answers that are kept.
const maxSaved = 100_000

// ErrOnlyIDs says that revisits do not name their originals by URI and date. The index cannot follow these.
var ErrOnlyIDs = errors.New("some revisits do not name their originals by URI and date")

// Options say how to open an index.
type Options struct {
	Progress *warc.Progress // may be nil
	Covered  bool           // read no WARC file: answer from the index alone
}

// Open opens the index of a folder, and reads the WARC files that it does not cover. It reports damage in these. The
// error is [ErrOnlyIDs] if the index cannot answer for this folder.
func Open(
	ctx context.Context, dir string, o Options, report func(warc.Finding) error,
) (x *Index, err error) {
	s, err := load(dir)
	if err != nil {
		return nil, fmt.Errorf("open the dependency index of %s: %w", dir, err)
	}
	x = &Index{store: s, here: map[string]warc.File{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, x.Close())
		}
	}()
	files, faults := warc.Files([]string{dir})
	for _, f := range faults {
		if err := report(*f); err != nil {
			return x, err
		}
	}
	for _, f := range files {
		x.here[f.Name] = f
	}
	fresh := x.fresh()
	for _, r := range s.runs {
		opened, err := openRun(s.path(runName(r.id) + runSuffix))
		if err != nil {
			return x, fmt.Errorf("open the dependency index of %s: %w", dir, err)
		}
		x.runs = append(x.runs, opened)
	}
	if o.Covered {
		files = nil
	}
	if err := x.readRest(ctx, files, fresh, o.Progress, report); err != nil {
		return x, err
	}
	err = x.each(onlyID, func(string) error { return ErrOnlyIDs })
	return x, err
}

// fresh returns the files that the index covers as they are now, and decides which lines of each run count.
func (x *Index) fresh() map[string]bool {
	fresh := map[string]bool{}
	for i, r := range x.store.runs {
		valid := map[uint32]bool{}
		for n, was := range r.covers {
			if at, _ := x.store.owner(n); at != i {
				continue
			}
			name := x.store.names[n]
			f, here := x.here[name]
			if here {
				if is, err := stampOf(f.Path); err != nil || is != was {
					continue
				}
				fresh[name] = true
			}
			valid[n] = true
		}
		x.valid = append(x.valid, valid)
	}
	return fresh
}

// readRest reads the files that no run covers, into a run in memory.
func (x *Index) readRest(
	ctx context.Context, files []warc.File, fresh map[string]bool, progress *warc.Progress,
	report func(warc.Finding) error,
) error {
	files = slices.DeleteFunc(slices.Clone(files), func(f warc.File) bool { return fresh[f.Name] })
	progress.Expect(files)
	var lines []string
	valid := map[uint32]bool{}
	for _, f := range files {
		c := NewCollector(f)
		notes := warc.NewFindings(f)
		err := warc.EachRecord(ctx, f, progress, notes, func(rec *warc.Record) error {
			if err := rec.Close(); err != nil {
				return err
			}
			c.Add(rec.Header, rec.Offset, rec.Header.Get("WARC-Payload-Digest"))
			return nil
		})
		if err != nil {
			return err
		}
		for _, finding := range notes.All() {
			if err := report(finding); err != nil {
				return err
			}
		}
		n, known := x.store.number[f.Name]
		if !known {
			n = x.store.add(f.Name)
		}
		valid[n] = true
		lines = c.lines(lines, n)
	}
	slices.Sort(lines)
	x.read = len(files)
	x.runs, x.valid = append(x.runs, &run{memory: slices.Compact(lines)}), append(x.valid, valid)
	return nil
}

// Close closes the index.
func (x *Index) Close() error {
	var errs []error
	for _, r := range x.runs {
		errs = append(errs, r.close())
	}
	return errors.Join(errs...)
}

// Read returns how many files were read because the index does not cover them.
func (x *Index) Read() int { return x.read }

// find returns the numbers of the named files. A name is a path, or relative to the folder. Files that are gone are
// found too.
func (x *Index) find(names []string) (map[uint32]bool, error) {
	set := map[uint32]bool{}
	for _, name := range names {
		rel := filepath.ToSlash(name)
		n, known := x.store.number[rel]
		if !known {
			if abs, err := filepath.Abs(name); err == nil {
				if dir, err := filepath.Abs(x.store.dir); err == nil {
					if r, err := filepath.Rel(dir, abs); err == nil {
						n, known = x.store.number[filepath.ToSlash(r)]
					}
				}
			}
		}
		if !known {
			n, known = x.store.number[filepath.Base(name)]
		}
		if !known {
			return nil, fmt.Errorf("%w: the file %s is neither in %s nor in its index", warc.ErrNotFound, name, x.store.dir)
		}
		set[n] = true
	}
	return set, nil
}

// Dependencies returns for each of the named files which files it needs, and which files need it.
func (x *Index) Dependencies(names []string) ([]survey.Dependencies, error) {
	set, err := x.find(names)
	if err != nil {
		return nil, err
	}
	var all []survey.Dependencies
	for n := range set {
		d, err := x.dependencies(n)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b survey.Dependencies) int { return strings.Compare(a.File, b.File) })
	return all, nil
}

func (x *Index) dependencies(n uint32) (survey.Dependencies, error) {
	d := survey.Dependencies{File: x.store.names[n]}
	needs, neededBy, packages := map[uint32]int{}, map[uint32]int{}, map[string]int{}
	err := x.captures(n, func(c capture) error {
		d.Captures++
		if !c.revisit {
			places, err := x.revisits(c)
			for _, p := range places {
				if p.file != n {
					neededBy[p.file]++
				}
			}
			return err
		}
		o, found, err := x.original(c)
		switch {
		case err != nil:
			return err
		case !found:
			d.Missing++
			if name := x.container(c); name != "" {
				packages[name]++
			}
		case o.file != n:
			needs[o.file]++
		}
		return nil
	})
	d.Needs, d.NeededBy, d.Packages = x.list(needs), x.list(neededBy), survey.ByName(packages)
	return d, err
}

// container returns the name of the package that a revisit names as the place of its original. It reads the record, and
// returns "" if there is no such name or the file is gone.
func (x *Index) container(c capture) string {
	f, here := x.here[x.store.names[c.file]]
	if !here {
		return ""
	}
	r, err := warc.OpenAt(f.Path, c.offset)
	if err != nil {
		return ""
	}
	defer r.Close() //nolint:errcheck // nothing was written
	rec, err := r.Next()
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(rec.Header.Get("WARC-Refers-To-Container"), "file://")
}

// list returns counts by file, sorted by name.
func (x *Index) list(counts map[uint32]int) []survey.Dependency {
	list := make([]survey.Dependency, 0, len(counts))
	for n, count := range counts {
		list = append(list, survey.Dependency{File: x.store.names[n], Revisits: count, Gone: !x.isHere(n)})
	}
	slices.SortFunc(list, func(a, b survey.Dependency) int { return strings.Compare(a.File, b.File) })
	return list
}

// Impact returns which captures can no longer be replayed if the named files are lost, like [survey.Survey.Impact].
// The files may be gone already.
func (x *Index) Impact(names []string, period string, each func(survey.Lost) error) ([]survey.Loss, error) {
	set, err := x.find(names)
	if err != nil {
		return nil, err
	}
	sums := survey.NewLosses(period)
	x.saved = map[string]bool{}
	lose := func(c capture, original uint32) error {
		saved, err := x.elsewhere(c.digest, set)
		if err != nil {
			return err
		}
		l := survey.Lost{
			URI: c.uri, Date: c.date.Format(warc.DateLayout), File: x.store.names[c.file], Offset: c.offset, Saved: saved,
		}
		if !set[c.file] {
			l.Original = x.store.names[original]
		}
		sums.Add(l, c.date)
		return each(l)
	}
	for _, n := range sorted(set) {
		if err := x.captures(n, func(c capture) error { return x.lose(c, set, lose) }); err != nil {
			return nil, err
		}
	}
	return sums.List(), nil
}

// lose calls do with a capture of a lost file, and with the revisits of it in other files.
func (x *Index) lose(c capture, set map[uint32]bool, do func(c capture, original uint32) error) error {
	if c.revisit {
		o, found, err := x.original(c)
		if err != nil || !found {
			return err // it could not be replayed before
		}
		if c.digest == noDigest {
			original, err := x.at(o)
			if err != nil {
				return err
			}
			c.digest = original.digest
		}
		return do(c, o.file)
	}
	places, err := x.revisits(c)
	if err != nil {
		return err
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.offset, b.offset))
	})
	for _, p := range places {
		if set[p.file] {
			continue // it is counted as a capture of its file
		}
		r, err := x.at(p)
		if err == nil {
			r.digest = c.digest
			err = do(r, c.file)
		}
		if err != nil {
			return err
		}
	}
	return do(c, c.file)
}

func sorted(set map[uint32]bool) []uint32 {
	var list []uint32
	for n := range set {
		list = append(list, n)
	}
	slices.Sort(list)
	return list
}
