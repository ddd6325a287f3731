package depend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// Index answers what depends on what in a folder of WARC files.
type Index struct {
	store *store
	runs  []*run
	valid []map[uint32]bool // for each run: the files about which its lines count
	here  map[string]warc.File
	read  int // files that were read because no run covers them

	saved sync.Map     // answers of elsewhere by digest, for one set of files
	kept  atomic.Int64 // number of answers
	left  int          // files that are neither covered nor read
}

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
	if err := warc.ReportAll(faults, report); err != nil {
		return x, err
	}
	for _, f := range files {
		x.here[f.Name] = f
	}
	fresh := x.fresh()
	for _, r := range s.runs {
		opened, err := openRun(s.runPath(r.id))
		if err != nil {
			return x, fmt.Errorf("open the dependency index of %s: %w", dir, err)
		}
		x.runs = append(x.runs, opened)
	}
	if o.Covered {
		for _, f := range files {
			if !fresh[f.Name] {
				x.left++
			}
		}
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
			err := rec.Close()
			if err == nil {
				c.Record(rec)
			}
			return err
		})
		if err != nil {
			return err
		}
		if err := notes.Report(report); err != nil {
			return err
		}
		n := x.store.numberOf(f.Name)
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

// Left returns how many files were not read although the index does not cover them.
func (x *Index) Left() int { return x.left }

// Read returns how many files were read because the index does not cover them.
func (x *Index) Read() int { return x.read }

// find returns the numbers of the named files. A name is a path, or relative to the folder. Files that are gone are
// found too.
func (x *Index) find(names []string) (map[uint32]bool, error) {
	set := map[uint32]bool{}
	for _, name := range names {
		n, known := x.store.number[filepath.ToSlash(name)]
		if !known {
			abs, err := filepath.Abs(name)
			dir, errDir := filepath.Abs(x.store.dir)
			rel, errRel := filepath.Rel(dir, abs)
			if errors.Join(err, errDir, errRel) == nil {
				n, known = x.store.number[filepath.ToSlash(rel)]
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
func (x *Index) Dependencies(names []string) ([]Dependencies, error) {
	set, err := x.find(names)
	if err != nil {
		return nil, err
	}
	var all []Dependencies
	for n := range set {
		d, err := x.dependencies(n)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b Dependencies) int { return strings.Compare(a.File, b.File) })
	return all, nil
}

// link holds the captures that depend on a capture, or the one on which it depends.
type link struct {
	to      []place // the original of a revisit, or the revisits of another capture
	missing bool    // it is a revisit whose original is not there
	in      string  // the package that has the original then, if the revisit names one
}

// linkOf returns which captures depend on a capture, or on which one it depends.
func (x *Index) linkOf(c capture) (l link, err error) {
	if !c.revisit {
		l.to, err = x.revisits(c)
		return l, err
	}
	o, found, err := x.original(c)
	if err != nil || found {
		return link{to: []place{o}}, err
	}
	return link{missing: true, in: x.container(c)}, nil
}

func (x *Index) dependencies(n uint32) (Dependencies, error) {
	d := Dependencies{File: x.store.names[n]}
	needs, neededBy, packages := map[uint32]int{}, map[uint32]int{}, map[string]int{}
	err := eachCapture(x, n, x.linkOf, func(c capture, l link) error {
		d.Captures++
		if l.missing {
			d.Missing++
		}
		if l.in != "" {
			packages[l.in]++
		}
		for _, p := range l.to {
			switch {
			case p.file == n:
			case c.revisit:
				needs[p.file]++
			default:
				neededBy[p.file]++
			}
		}
		return nil
	})
	of := func(n uint32) Dependency { return Dependency{File: x.store.names[n], Gone: !x.isHere(n)} }
	d.Needs, d.NeededBy, d.Packages = listOf(needs, of), listOf(neededBy, of), byName(packages)
	return d, err
}

// container returns the name of the package that a revisit names as the place of its original. It reads the record, and
// returns "" if there is no such name or the file is gone.
func (x *Index) container(c capture) string {
	f, here := x.here[x.store.names[c.file]]
	if !here {
		return ""
	}
	r, rec, err := f.RecordAt(c.offset)
	if err != nil {
		return ""
	}
	defer r.Close() //nolint:errcheck // nothing was written
	return strings.TrimPrefix(rec.Header.Get("WARC-Refers-To-Container"), "file://")
}

// Impact returns which captures can no longer be replayed if the named files are lost, like [survey.Survey.Impact].
// The files may be gone already.
func (x *Index) Impact(names []string, period string, each func(Lost) error) ([]Loss, error) {
	set, err := x.find(names)
	if err != nil {
		return nil, err
	}
	sums := newLosses(period)
	x.saved.Clear()
	x.kept.Store(0)
	for _, n := range slices.Sorted(maps.Keys(set)) {
		lost := func(c capture) ([]loss, error) { return x.lostWith(c, set) }
		err := eachCapture(x, n, lost, func(_ capture, all []loss) error {
			for _, l := range all {
				sums.add(l.Lost, l.date)
				if err := each(l.Lost); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return sums.list(), nil
}

// loss is a capture that is lost.
type loss struct {
	Lost
	date time.Time
}

// lostWith returns what is lost with a capture of a lost file: the capture, and the revisits of it in other files.
func (x *Index) lostWith(c capture, set map[uint32]bool) ([]loss, error) {
	if c.revisit {
		o, found, err := x.original(c)
		if err != nil || !found {
			return nil, err // it could not be replayed before
		}
		original, err := x.at(o)
		if err != nil {
			return nil, err
		}
		if c.digest == noDigest {
			c.digest = original.digest
		}
		if c.digest == original.digest && !set[o.file] && x.isHere(o.file) {
			x.keep(c.digest, true) // no run has to be searched for the payload
		}
		l, err := x.lossOf(c, o.file, set)
		return []loss{l}, err
	}
	places, err := x.revisits(c)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.offset, b.offset))
	})
	var all []loss
	for _, p := range places {
		if set[p.file] {
			continue // it is counted as a capture of its file
		}
		r, err := x.at(p)
		if err != nil {
			return nil, err
		}
		r.digest = c.digest
		l, err := x.lossOf(r, c.file, set)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	l, err := x.lossOf(c, c.file, set)
	return append(all, l), err
}

// lossOf describes a lost capture whose original is in a file.
func (x *Index) lossOf(c capture, original uint32, set map[uint32]bool) (loss, error) {
	saved, err := x.elsewhere(c.digest, set)
	l := Lost{
		URI: c.uri, Date: c.date.Format(warc.DateLayout), File: x.store.names[c.file], Offset: c.offset, Saved: saved,
	}
	if !set[c.file] {
		l.Original = x.store.names[original]
	}
	return loss{l, c.date}, err
}
