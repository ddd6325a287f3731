package depend

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// Folder is the name of the folder of the index, below the WARC files.
const Folder = "deps"

// The files of the index: the names of all WARC files, each of which has its line number; and the runs, each with the
// list of the WARC files that it covers.
const (
	namesFile   = "names"
	lockName    = "lock"
	runSuffix   = ".run"
	filesSuffix = ".files"
)

// mergeRuns is how many runs of similar size are merged. smallest is the size up to which runs are of similar size.
const (
	mergeRuns = 8
	smallest  = 16 << 20
)

// store is the state of an index on disk.
type store struct {
	dir    string // of the WARC files
	names  []string
	number map[string]uint32
	runs   []runFile // oldest first

	saved     int   // number of names in the file of names
	savedSize int64 // size of their lines
}

// runFile is a run and what it covers.
type runFile struct {
	id     int
	size   int64
	covers map[uint32]stamp // by the number of the file
}

// stamp is the size and the time of change of a file.
type stamp struct {
	size    int64
	changed int64 // ns since 1970
}

func stampOf(path string) (stamp, error) {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}, err
	}
	return stamp{info.Size(), info.ModTime().UnixNano()}, nil
}

func (s *store) path(name string) string { return filepath.Join(s.dir, Folder, name) }

func (s *store) folderPath(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

func (s *store) runPath(id int) string { return s.path(fmt.Sprintf("%08d", id) + runSuffix) }

// load reads the state. A folder without an index has an empty one.
func load(dir string) (*store, error) {
	s := &store{dir: dir, number: map[string]uint32{}}
	text, err := os.ReadFile(s.path(namesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasSuffix(line, "\n") {
			break // a crash has cut it
		}
		s.add(strings.TrimSuffix(line, "\n"))
		s.saved++
		s.savedSize += int64(len(line))
	}
	entries, err := os.ReadDir(s.path(""))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), runSuffix+filesSuffix)
		id, err := strconv.Atoi(name)
		if !ok || err != nil {
			continue
		}
		r, err := s.loadRun(id)
		if err != nil {
			return nil, err
		}
		if r.covers != nil {
			s.runs = append(s.runs, r)
		}
	}
	slices.SortFunc(s.runs, func(a, b runFile) int { return a.id - b.id })
	return s, nil
}

func (s *store) add(name string) uint32 {
	n := uint32(len(s.names))
	s.names = append(s.names, name)
	s.number[name] = n
	return n
}

// numberOf returns the number of a WARC file, and adds its name if it is new.
func (s *store) numberOf(name string) uint32 {
	if n, known := s.number[name]; known {
		return n
	}
	return s.add(name)
}

// loadRun reads what a run covers. covers is nil if the run itself is missing.
func (s *store) loadRun(id int) (runFile, error) {
	r := runFile{id: id}
	info, err := os.Stat(s.runPath(id))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	f, err := os.Open(s.runPath(id) + filesSuffix)
	if err != nil {
		return r, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	r.size, r.covers = info.Size(), map[uint32]stamp{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var n uint32
		var t stamp
		if _, err := fmt.Sscan(lines.Text(), &n, &t.size, &t.changed); err != nil || int(n) >= len(s.names) {
			return r, fmt.Errorf("%s has the line %.80q: remove the folder %s and make the index again", f.Name(),
				lines.Text(), s.path(""))
		}
		r.covers[n] = t
	}
	return r, lines.Err()
}

// owner returns the position of the newest run that covers a file. ok is false if there is none.
func (s *store) owner(n uint32) (at int, ok bool) {
	for i := len(s.runs) - 1; i >= 0; i-- {
		if _, ok := s.runs[i].covers[n]; ok {
			return i, true
		}
	}
	return 0, false
}

// Collector collects the captures of one WARC file while it is read.
type Collector struct {
	file     warc.File
	stamp    stamp
	err      error
	captures []capture
}

// NewCollector returns a collector for a file that is going to be read.
func NewCollector(f warc.File) *Collector {
	c := &Collector{file: f}
	c.stamp, c.err = stampOf(f.Path)
	return c
}

// Add adds a record that is whole. digest is its payload digest, which the header may lack.
func (c *Collector) Add(h warc.Header, offset int64, digest string) {
	if one, ok := captureOf(h, offset, digest); ok {
		one.uri = strings.Clone(one.uri) // the text would keep the whole header in memory
		c.captures = append(c.captures, one)
	}
}

// Record is Add for a record that is whole, with the payload digest of its header.
func (c *Collector) Record(rec *warc.Record) {
	c.Add(rec.Header, rec.Offset, rec.Header.Get("WARC-Payload-Digest"))
}

// Gone reports whether there is no such file.
func (c *Collector) Gone() bool { return errors.Is(c.err, fs.ErrNotExist) }

func (c *Collector) lines(lines []string, n uint32) []string {
	for _, capture := range c.captures {
		capture.file = n
		lines = capture.appendLines(lines)
	}
	return lines
}

// Put adds finished files to the index in a folder, and merges runs. A file that is known already is replaced.
func Put(dir string, files ...*Collector) (err error) {
	s := &store{dir: dir}
	folder := s.path("")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("write the dependency index: %w", err)
	}
	lock, err := os.OpenFile(s.path(lockName), os.O_CREATE|os.O_RDWR, 0o644)
	if err == nil {
		defer func() { err = errors.Join(err, lock.Close()) }()
		err = fileio.Lock(lock)
	}
	if err == nil {
		s, err = load(dir)
	}
	if err == nil {
		err = s.put(files)
	}
	if err == nil {
		err = s.compact()
	}
	if err != nil {
		return fmt.Errorf("write the dependency index in %s: %w", folder, err)
	}
	return nil
}

func (s *store) put(files []*Collector) error {
	var lines []string
	covers := map[uint32]stamp{}
	for _, c := range files {
		if errors.Is(c.err, fs.ErrNotExist) {
			continue // it was moved away meanwhile
		}
		if c.err != nil {
			return c.err
		}
		n := s.numberOf(c.file.Name)
		covers[n] = c.stamp
		lines = c.lines(lines, n)
	}
	if len(covers) == 0 {
		return nil
	}
	if err := s.saveNames(); err != nil {
		return err
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	return s.write(covers, func(write func(line string) error) error {
		for _, l := range lines {
			if err := write(l); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *store) saveNames() error {
	if s.saved == len(s.names) {
		return nil
	}
	f, err := os.OpenFile(s.path(namesFile), os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	text := []byte(strings.Join(s.names[s.saved:], "\n") + "\n")
	_, err = f.WriteAt(text, s.savedSize) // over a line that a crash has cut
	if err == nil {
		err = f.Truncate(s.savedSize + int64(len(text)))
	}
	if err == nil {
		err = f.Sync()
	}
	s.saved, s.savedSize = len(s.names), s.savedSize+int64(len(text))
	return errors.Join(err, f.Close())
}

// write writes a new run: first its lines, then its fences and what it covers.
func (s *store) write(covers map[uint32]stamp, content func(write func(line string) error) error) error {
	id := 1
	if n := len(s.runs); n > 0 {
		id = s.runs[n-1].id + 1
	}
	path := s.runPath(id)
	out, err := fileio.Create(path, 0o644)
	if err != nil {
		return err
	}
	defer out.Discard()
	w, fences := bufio.NewWriterSize(out, runBuffer), &fencer{}
	err = content(func(line string) error {
		fences.add(line)
		_, err := w.WriteString(line)
		return err
	})
	fences.add(noLine)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = out.Replace()
	}
	if err == nil {
		err = fileio.Write(path+fencesSuffix, fences.text, 0o644)
	}
	if err != nil {
		return err
	}
	var list bytes.Buffer
	for n, t := range covers {
		fmt.Fprintln(&list, n, t.size, t.changed)
	}
	if err := fileio.Write(path+filesSuffix, list.Bytes(), 0o644); err != nil {
		return err
	}
	r, err := s.loadRun(id)
	s.runs = append(s.runs, r)
	return err
}

// tier returns the class of size of a run.
func (r runFile) tier() (n int) {
	for size := int64(smallest); r.size > size; size *= mergeRuns {
		n++
	}
	return n
}

// compact merges runs of similar size until there are fewer than mergeRuns of each size.
func (s *store) compact() error {
	for {
		tiers := map[int][]int{}
		chosen := []int(nil)
		for i, r := range s.runs {
			t := r.tier()
			if tiers[t] = append(tiers[t], i); len(tiers[t]) >= mergeRuns {
				chosen = tiers[t]
			}
		}
		if chosen == nil {
			return nil
		}
		if err := s.mergeRuns(chosen); err != nil {
			return err
		}
	}
}

// mergeRuns replaces runs by one with their lines that still count. A crash before the old runs are removed leaves them
// behind: the new run is newer and covers the same files, so their lines do not count.
func (s *store) mergeRuns(chosen []int) error {
	covers := map[uint32]stamp{}
	var from []index.LineSource
	for _, i := range chosen {
		f, err := os.Open(s.runPath(s.runs[i].id))
		if err != nil {
			return err
		}
		defer f.Close() //nolint:errcheck // nothing was written
		counts := map[uint32]bool{}
		for n, t := range s.runs[i].covers {
			if at, _ := s.owner(n); at == i {
				counts[n], covers[n] = true, t
			}
		}
		from = append(from, source(f, func(line string) (bool, error) {
			n, err := fileOf(line)
			return counts[n], err
		}))
	}
	if err := s.write(covers, func(write func(string) error) error {
		return index.MergeLines(from, write)
	}); err != nil {
		return err
	}
	for _, i := range chosen {
		path := s.runPath(s.runs[i].id)
		if err := errors.Join(os.Remove(path+filesSuffix), os.Remove(path)); err != nil {
			return err
		}
		if err := os.Remove(path + fencesSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	loaded, err := load(s.dir)
	if err == nil {
		*s = *loaded
	}
	return err
}

// The bounds of a batch.
const (
	maxBatchFiles    = 256
	maxBatchCaptures = 250_000
)

// Batch adds many files to an index, some at a time.
type Batch struct {
	dir      string
	files    []*Collector
	captures int
}

// NewBatch returns a batch for the index in a folder of WARC files.
func NewBatch(dir string) *Batch { return &Batch{dir: dir} }

// Add adds a file that has been read. It ignores files that are still open.
func (b *Batch) Add(c *Collector) error {
	if strings.HasSuffix(c.file.Path, warc.OpenSuffix) {
		return nil
	}
	b.files, b.captures = append(b.files, c), b.captures+len(c.captures)
	if len(b.files) < maxBatchFiles && b.captures < maxBatchCaptures {
		return nil
	}
	return b.Flush()
}

// Flush writes what is left.
func (b *Batch) Flush() error {
	if len(b.files) == 0 {
		return nil
	}
	err := Put(b.dir, b.files...)
	b.files, b.captures = nil, 0
	return err
}

// Uncovered returns which of some files of a folder its index does not cover as they are.
func Uncovered(dir string, names []string) (list []string, err error) {
	s, err := load(dir)
	if err != nil {
		return nil, err
	}
	x := &Index{store: s, here: map[string]warc.File{}}
	for _, name := range names {
		x.here[name] = warc.File{Path: s.folderPath(name), Name: name}
	}
	fresh := x.fresh()
	for _, name := range names {
		if !fresh[name] {
			list = append(list, name)
		}
	}
	return list, nil
}
