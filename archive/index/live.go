package index

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// The files of a live index, all in the folder of the archive. A line is first written to the live file. When its WARC
// file is finished it moves to the recent file, and when that has grown, to the main file, [FileName]. The recent and
// the main file are sorted, and each has a list of the files that it covers.
const (
	liveName   = "live.cdxj"
	RecentName = "recent.cdxj"
)

// The recent file is merged into the main file when it is larger than mergeFrom, and larger than the main file divided
// by mergeShare. So all lines are written again only when the index has grown by a fixed fraction, which bounds the
// work.
const (
	mergeFrom  = 32 << 20
	mergeShare = 8
)

// Live keeps the index of an archive while the archive is written: one line for each capture, as soon as the capture is
// stored. Its methods are safe for concurrent use.
//
// A line is added after its record is safe on disk. Lines of one second are written together, when a line of another
// second arrives or there are many, and at the latest by [Live.Merge]. They are not synced: a crash loses the last
// lines and may cut one. So the live file is not trusted at the next start. OpenLive again reads the WARC files that
// its lines may be about: files that no sorted index covers and that were written since then. A disk error is
// repaired in the same way: no line is added after it, until the next start.
type Live struct {
	dir  string
	seed maphash.Seed // of the hashes of keys; no site can choose URIs with equal ones

	mu     sync.Mutex // guards the fields below
	file   *os.File
	lines  []byte          // lines that are not written yet
	second string          // timestamp of the first of them
	size   int64           // of the live file
	places []place         // of all lines, also of those that are not written yet
	open   map[string]bool // WARC files with lines that are not merged; true once seen finished
	err    error           // the first disk error; no line is added after it
	closed bool

	readers []func() error // see [Live.OnClose]

	beforeMerge func() error // see [Live.BeforeMerge]

	merging sync.Mutex   // one merge at a time
	merges  atomic.Int64 // moves of lines to a sorted index, for readers that must open the indexes again
}

// OpenLive creates or continues the live index of a folder. Nothing may write to the archive yet, and WARC files that a
// crash left open must have been repaired. Each line that OpenLive had to make again is passed to again, which may be
// nil. OpenLive ignores files that were there before the folder had a live index: [WriteFile] indexes these.
func OpenLive(
	ctx context.Context, dir string, again func(line []byte) error, report func(warc.Finding) error,
) (*Live, error) {
	l := &Live{dir: dir, seed: maphash.MakeSeed(), open: map[string]bool{}}
	lines, err := l.repair(ctx, again, report)
	if err == nil {
		err = l.rewrite(func(line func([]byte) error) error {
			for part := range bytes.Lines(lines) {
				if err := line(part); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		return nil, fmt.Errorf("open the live index of %s: %w", dir, err)
	}
	return l, nil
}

func (l *Live) path(name string) string { return filepath.Join(l.dir, name) }

// repair returns the lines of all WARC files that may have had lines in the live file of the last run.
func (l *Live) repair(
	ctx context.Context, again func(line []byte) error, report func(warc.Finding) error,
) ([]byte, error) {
	info, err := os.Stat(l.path(liveName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	named, err := l.named()
	if err != nil {
		return nil, err
	}
	files, _ := warc.Files([]string{l.dir}) // an archive may be empty
	done := map[string]bool{}
	for _, name := range []string{FileName, RecentName} {
		more, err := Covered(l.path(name), files)
		if err != nil {
			return nil, err
		}
		for f := range more {
			done[f] = true
		}
	}
	var paths []string
	for _, f := range files {
		changed, err := os.Stat(f.Path)
		if err != nil || done[f.Name] || filepath.Dir(f.Path) != filepath.Clean(l.dir) {
			continue
		}
		if named[f.Name] || !changed.ModTime().Before(info.ModTime().Add(-time.Minute)) {
			paths = append(paths, f.Path)
		}
	}
	if len(paths) == 0 {
		return nil, nil
	}
	var out bytes.Buffer
	if _, err := Build(ctx, paths, Options{}, &out, report); err != nil {
		return nil, err
	}
	for line := range bytes.Lines(out.Bytes()) {
		e, err := ParseEntry(string(line))
		if err != nil {
			return nil, err
		}
		l.open[e.Filename] = false
		if again != nil {
			if err := again(line); err != nil {
				return nil, err
			}
		}
	}
	return out.Bytes(), nil
}

// named returns the WARC files that the lines of the live file name, also in lines that are too long. It ignores a line
// that a crash has cut.
func (l *Live) named() (map[string]bool, error) {
	f, err := os.Open(l.path(liveName))
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	files := map[string]bool{}
	lines := newLines(f, func(tail []byte) {
		if name, err := fileOf(append(bytes.Clone(tail), '\n')); err == nil {
			files[name] = true
		}
	})
	for lines.Scan() {
		if e, err := ParseEntry(lines.Text()); err == nil {
			files[e.Filename] = true
		}
	}
	return files, lines.Err()
}

// rewrite replaces the live file with the lines that each passes to its argument. The lock is held, or nothing else
// uses l yet.
func (l *Live) rewrite(each func(line func([]byte) error) error) error {
	out, err := fileio.Create(l.path(liveName), 0o644)
	if err != nil {
		return err
	}
	defer out.Discard()
	var places []place
	size, buffered := int64(0), bufio.NewWriterSize(out, runBuffer)
	err = each(func(line []byte) error {
		key, _, _ := bytes.Cut(line, []byte(" "))
		places = append(places, place{maphash.Bytes(l.seed, key), size})
		n, err := buffered.Write(line)
		size += int64(n)
		return err
	})
	if err = errors.Join(err, buffered.Flush()); err != nil {
		return err
	}
	if err := out.Replace(); err != nil {
		return err
	}
	f, err := os.OpenFile(l.path(liveName), os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	if l.file != nil {
		_ = l.file.Close() // it has been replaced
	}
	l.file, l.size, l.places = f, size, places
	return nil
}

// Add adds the line of a capture whose record is safe on disk. It returns a disk error once and then ignores all
// further lines: the next start adds what is missing.
func (l *Live) Add(e Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return fmt.Errorf("add to the live index: %w", os.ErrClosed)
	}
	if l.err != nil {
		return nil
	}
	if len(l.lines) == 0 {
		l.second = e.Timestamp
	}
	l.places = append(l.places, place{maphash.String(l.seed, e.Key), l.size + int64(len(l.lines))})
	l.lines = e.AppendTo(l.lines)
	if _, known := l.open[e.Filename]; !known {
		l.open[e.Filename] = false
	}
	if len(l.lines) < maxUnwritten && e.Timestamp == l.second {
		return nil
	}
	return l.write()
}

// maxUnwritten is the maximum size of lines that wait to be written, in bytes.
const maxUnwritten = 64 << 10

// write writes the waiting lines. The lock is held.
func (l *Live) write() error {
	if len(l.lines) == 0 {
		return nil
	}
	n, err := l.file.Write(l.lines)
	if err != nil {
		l.err = fmt.Errorf("write the live index: %w", err)
		return l.err
	}
	l.size += int64(n)
	l.lines = l.lines[:0]
	return nil
}

// each calls do with each line in the first size bytes of the live file, and with the WARC file that the line names.
// The line is valid only during the call.
func (l *Live) each(size int64, do func(file string, line []byte) error) error {
	f, err := os.Open(l.path(liveName))
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	lines := NewLines(io.LimitReader(f, size))
	var line []byte
	for lines.Scan() {
		line = append(append(line[:0], lines.Bytes()...), '\n')
		file, err := fileOf(line)
		if err == nil {
			err = do(file, line)
		}
		if err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", f.Name(), err)
	}
	return nil
}

// fileOf returns the WARC file in a line of [Entry.AppendTo].
func fileOf(line []byte) (string, error) {
	const key, end = `"filename":"`, "\"}\n"
	at := bytes.LastIndex(line, []byte(key))
	name, ok := bytes.CutSuffix(line[max(0, at):], []byte(end))
	name, ok = bytes.TrimPrefix(name, []byte(key)), ok && at >= 0
	if ok && bytes.IndexByte(name, '\\') < 0 {
		return string(name), nil
	}
	e, err := ParseEntry(string(line))
	return e.Filename, err
}

// BeforeMerge sets a function that is called before lines are merged. Merged lines are final: [OpenLive] does not make
// them again. An error of the function postpones the merge. BeforeMerge must be called before lines are added.
func (l *Live) BeforeMerge(do func() error) { l.beforeMerge = do }

// Merge moves lines to the sorted index. It takes the lines of WARC files that were already finished at the previous
// call.
func (l *Live) Merge(ctx context.Context) error { return l.merge(ctx, false) }

// merge does the work of Merge. all means that no line will be added any more.
func (l *Live) merge(ctx context.Context, all bool) error {
	l.merging.Lock()
	defer l.merging.Unlock()
	done, size, err := l.finished(all)
	if len(done) == 0 && err == nil {
		return nil
	}
	if err == nil && l.beforeMerge != nil {
		err = l.beforeMerge()
	}
	if err == nil {
		err = l.mergeLive(done, size)
		l.merges.Add(1) // at once: the next step may take minutes
	}
	if err == nil && l.recentIsLarge() {
		err = l.mergeRecent()
	}
	l.merges.Add(1)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("merge the index of %s: %w", l.dir, err)
	}
	return nil
}

// finished returns the complete WARC files that have lines in the live file, and the size of the part of the live
// file that has all these lines. When a file gets its final name, the line of its last record may still be missing.
// So a file counts from the second call on, or at once with all. After a disk error no file is finished.
func (l *Live) finished(all bool) (done map[string]bool, size int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return nil, 0, nil
	}
	if err := l.write(); err != nil {
		return nil, 0, err
	}
	done = map[string]bool{}
	for name, seen := range l.open {
		if _, err := os.Stat(l.path(name)); err == nil { // it has its final name
			if l.open[name] = true; seen || all {
				done[name] = true
			}
		}
	}
	return done, l.size, nil
}

// mergeLive moves the lines of WARC files from the live file to the recent file.
func (l *Live) mergeLive(done map[string]bool, size int64) error {
	s := newSorter(0, l.dir)
	defer s.close()
	err := l.each(size, func(file string, line []byte) error {
		if !done[file] {
			return nil
		}
		return s.add([]string{string(line)})
	})
	if err != nil {
		return err
	}
	if err := l.mergeInto(RecentName, slices.Collect(maps.Keys(done)), s); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.write(); err != nil {
		return err
	}
	err = l.rewrite(func(keep func([]byte) error) error {
		return l.each(l.size, func(file string, line []byte) error {
			if done[file] {
				return nil
			}
			return keep(line)
		})
	})
	if err != nil {
		return err
	}
	maps.DeleteFunc(l.open, func(name string, _ bool) bool { return done[name] })
	return nil
}

func (l *Live) recentIsLarge() bool {
	recent, err := os.Stat(l.path(RecentName))
	if err != nil || recent.Size() < mergeFrom {
		return false
	}
	index, err := os.Stat(l.path(FileName))
	return err != nil || recent.Size() > index.Size()/mergeShare
}

// mergeRecent moves all lines of the recent file to the main file.
func (l *Live) mergeRecent() error {
	names, err := coveredNames(l.path(RecentName))
	if err != nil {
		return err
	}
	recent, err := os.Open(l.path(RecentName))
	if err != nil {
		return err
	}
	s := newSorter(0, l.dir)
	s.runs = append(s.runs, recent)
	defer s.close()
	if err := l.mergeInto(FileName, names, s); err != nil {
		return err
	}
	for _, name := range []string{RecentName + coveredSuffix, RecentName} { // no list is left without its index
		if err := os.Remove(l.path(name)); err != nil {
			return err
		}
	}
	return nil
}

// mergeInto adds sorted lines of the named WARC files to a sorted index. It replaces the index first and then the list
// of files that the index covers. A crash in between leaves lines of files that are not in the list: readers ignore
// them, and the next merge removes the duplicates.
func (l *Live) mergeInto(index string, names []string, s *sorter) error {
	path := l.path(index)
	if old, err := os.Open(path); err == nil {
		s.runs = append(s.runs, old)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	out, err := fileio.Create(path, 0o644)
	if err != nil {
		return err
	}
	defer out.Discard()
	if _, err := s.writeTo(out); err != nil {
		return err
	}
	before, err := coveredNames(path)
	if err != nil {
		return err
	}
	if err := out.Replace(); err != nil {
		return err
	}
	var files []warc.File // those that are gone are left out
	names = slices.Concat(before, names)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		files = append(files, warc.File{Path: l.path(name), Name: name})
	}
	return writeCoverage(path, files, coverage(files))
}

// Close closes the readers, merges the lines of finished WARC files and closes the index. No line may be added any
// more.
func (l *Live) Close() error {
	err := l.closeReaders()
	err = errors.Join(err, l.merge(context.Background(), true))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		err = errors.Join(err, l.write())
	}
	l.closed = true
	return errors.Join(err, l.file.Close())
}
