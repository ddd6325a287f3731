package index

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// The files of a live index, all in the folder of the archive. Lines begin in the first, go into the second when their WARC
// file is finished, and into the third, [IndexName], when the second has grown to a part of it. The second and third are
// sorted, each with a list of the files that it covers.
const (
	liveName   = "live.cdxj"
	recentName = "recent.cdxj"
)

// The second file is merged into the third when it is larger than mergeFrom and than the third divided by mergeShare: so a line is
// written again only as often as the index grows by a part, which bounds the work however large it is.
const (
	mergeFrom  = 32 << 20
	mergeShare = 8
)

// Live keeps the index of an archive that is being written: a line for each capture as soon as it is there. Its methods may be called
// by many goroutines at once.
//
// A line is added after its record is safe. It is written with those of the same second, as soon as one of another comes or there are many,
// at the latest by [Live.Merge], and not synced: a crash takes the last lines with it, and may cut one. So what is in the
// first file is not believed at the next start: the WARC files that it may have been about are read again, which are those that no
// sorted index covers and that were written to since. An error of the disk has the same cure: no line is added after it.
type Live struct {
	dir string

	mu     sync.Mutex // guards the fields below
	file   *os.File
	lines  []byte          // that are not written yet
	second string          // the timestamp of the first of them
	size   int64           // of the first file
	open   map[string]bool // the WARC files that its lines are about, and those that are not written; true once seen finished
	err    error           // of the disk; nothing is added after it

	settle func() error // see [Live.BeforeMerge]

	merging sync.Mutex // one merge at a time
}

// OpenLive begins a live index, or goes on with one. Nothing must be writing to the archive yet, and what a crash left of WARC files
// must be in order. Lines that had to be made anew are given to again, which may be nil. A folder with files from before there was a live
// index is indexed by [WriteIndex]; those files are passed over here.
func OpenLive(ctx context.Context, dir string, again func(line []byte) error, see func(warc.Finding) error) (*Live, error) {
	l := &Live{dir: dir, open: map[string]bool{}}
	lines, err := l.repair(ctx, again, see)
	if err == nil {
		err = l.rewrite(func(line func([]byte) error) error {
			for one := range bytes.Lines(lines) {
				if err := line(one); err != nil {
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

// repair reads the files again that the lines of the last run may have been about, and gives their lines.
func (l *Live) repair(ctx context.Context, again func(line []byte) error, see func(warc.Finding) error) ([]byte, error) {
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
	for _, name := range []string{FileName, recentName} {
		more, err := covered(l.path(name), files)
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
	if _, err := Build(ctx, paths, Options{}, &out, see); err != nil {
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

// named lists the files that the lines of the last run are about. A torn line says nothing.
func (l *Live) named() (map[string]bool, error) {
	f, err := os.Open(l.path(liveName))
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	files := map[string]bool{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, MaxLine)
	for lines.Scan() {
		if e, err := ParseEntry(lines.Text()); err == nil {
			files[e.Filename] = true
		}
	}
	return files, lines.Err()
}

// rewrite makes the first file anew, of the lines that each gives. The lock is held, or nobody else is there.
func (l *Live) rewrite(each func(line func([]byte) error) error) error {
	out, err := warc.CreateFile(l.path(liveName))
	if err != nil {
		return err
	}
	defer out.Discard()
	size := int64(0)
	err = each(func(line []byte) error {
		n, err := out.Write(line)
		size += int64(n)
		return err
	})
	if err != nil {
		return err
	}
	if err := out.Commit(true); err != nil {
		return err
	}
	f, err := os.OpenFile(l.path(liveName), os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	if l.file != nil {
		_ = l.file.Close() // it has been replaced
	}
	l.file, l.size = f, size
	return nil
}

// Add adds a capture whose record is on disk. An error is told once; nothing is added after it, and the next start makes good for it.
func (l *Live) Add(e Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return nil
	}
	if len(l.lines) == 0 {
		l.second = e.Timestamp
	}
	l.lines = e.AppendTo(l.lines)
	if _, known := l.open[e.Filename]; !known {
		l.open[e.Filename] = false
	}
	if len(l.lines) < maxUnwritten && e.Timestamp == l.second {
		return nil
	}
	return l.write()
}

// maxUnwritten is how many bytes of lines may wait to be written.
const maxUnwritten = 64 << 10

// write writes the lines that wait. The lock is held.
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

// each reads the first so many bytes of the first file, and gives each line with the WARC file that it is about. The line is good only
// until the next.
func (l *Live) each(size int64, see func(about string, line []byte) error) error {
	f, err := os.Open(l.path(liveName))
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	lines := bufio.NewReaderSize(io.LimitReader(f, size), MaxLine)
	for {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", f.Name(), err)
		}
		about, err := fileOf(line)
		if err == nil {
			err = see(about, line)
		}
		if err != nil {
			return err
		}
	}
}

// fileOf is the WARC file that a line of [Entry.AppendTo] is about.
func fileOf(line []byte) (string, error) {
	const key, end = `"filename":"`, "\"}\n"
	name, ok := bytes.CutSuffix(line[bytes.LastIndex(line, []byte(key))+len(key):], []byte(end))
	if ok && bytes.IndexByte(name, '\\') < 0 {
		return string(name), nil
	}
	e, err := ParseEntry(string(line))
	return e.Filename, err
}

// BeforeMerge has a function called before lines are merged, which makes them final: after that no start gives them again. An error
// puts the merging off. It must be set before anything is added.
func (l *Live) BeforeMerge(settle func() error) { l.settle = settle }

// Merge puts the lines of WARC files into the sorted index that were finished when it was called the last time. It does nothing when there are none.
func (l *Live) Merge(ctx context.Context) error { return l.merge(ctx, false) }

// merge is Merge; all tells that nothing is added any more.
func (l *Live) merge(ctx context.Context, all bool) error {
	l.merging.Lock()
	defer l.merging.Unlock()
	done, size, err := l.finished(all)
	if len(done) == 0 && err == nil {
		return nil
	}
	if err == nil && l.settle != nil {
		err = l.settle()
	}
	if err == nil {
		err = l.mergeLive(done, size)
	}
	if err == nil && l.recentIsLarge() {
		err = l.mergeRecent()
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("merge the index of %s: %w", l.dir, err)
	}
	return nil
}

// finished lists the WARC files that have lines in the first file and are complete, and how long the part is that has all these lines.
// A file is finished as soon as its last record is there, of which the line may still be on its way; so it counts from the second look on, or
// at once with all. After an error of the disk there are none.
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

// mergeLive moves the lines of WARC files from the first file into the second.
func (l *Live) mergeLive(done map[string]bool, size int64) error {
	s := newSorter(0, l.dir)
	defer s.close()
	err := l.each(size, func(about string, line []byte) error {
		if !done[about] {
			return nil
		}
		return s.add([]string{string(line)})
	})
	if err != nil {
		return err
	}
	if err := l.mergeInto(recentName, slices.Collect(maps.Keys(done)), s); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.write(); err != nil {
		return err
	}
	err = l.rewrite(func(keep func([]byte) error) error {
		return l.each(l.size, func(about string, line []byte) error {
			if done[about] {
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
	recent, err := os.Stat(l.path(recentName))
	if err != nil || recent.Size() < mergeFrom {
		return false
	}
	index, err := os.Stat(l.path(FileName))
	return err != nil || recent.Size() > index.Size()/mergeShare
}

// mergeRecent empties the second file into the third.
func (l *Live) mergeRecent() error {
	names, err := coveredNames(l.path(recentName))
	if err != nil {
		return err
	}
	recent, err := os.Open(l.path(recentName))
	if err != nil {
		return err
	}
	s := newSorter(0, l.dir)
	s.runs = append(s.runs, recent)
	defer s.close()
	if err := l.mergeInto(FileName, names, s); err != nil {
		return err
	}
	for _, name := range []string{recentName + coveredSuffix, recentName} { // in this order: no file is covered by what is not there
		if err := os.Remove(l.path(name)); err != nil {
			return err
		}
	}
	return nil
}

// mergeInto adds lines about some WARC files to a sorted index. The index is replaced first and then the list of
// what it covers: a crash between the two leaves lines that nobody looks at, and that the next merge makes one of.
func (l *Live) mergeInto(index string, names []string, s *sorter) error {
	path := l.path(index)
	if old, err := os.Open(path); err == nil {
		s.runs = append(s.runs, old)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	out, err := warc.CreateFile(path)
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
	if err := out.Commit(true); err != nil {
		return err
	}
	return l.note(path, append(before, names...))
}

// note writes the list of what an index covers, of files as they are now. Those that are gone are left out.
func (l *Live) note(path string, names []string) error {
	var files []warc.File
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		files = append(files, warc.File{Path: l.path(name), Name: name})
	}
	out, err := warc.CreateFile(path + coveredSuffix)
	if err != nil {
		return err
	}
	defer out.Discard()
	list := coverage(files)
	for _, f := range files {
		if line, ok := list[f.Name]; ok {
			fmt.Fprintln(out, line) // an error comes again at commit
		}
	}
	return out.Commit(true)
}

// coveredNames are the names in the list of what an index covers.
func coveredNames(index string) ([]string, error) {
	text, err := os.ReadFile(index + coveredSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		if parts := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3); len(parts) == 3 {
			names = append(names, parts[2])
		}
	}
	return names, nil
}

// Close merges what is finished, and ends the index. Nothing must be added any more.
func (l *Live) Close() error {
	err := l.merge(context.Background(), true)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		err = errors.Join(err, l.write())
	}
	return errors.Join(err, l.file.Close())
}
