package captures

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

// Entry is a line of an index.
type Entry = index.Entry

// SeriesIn returns a function that returns the series of the WARC file of a capture, "" if it is in none. prefix begins
// the names of our files.
func SeriesIn(prefix string) func(Entry) string {
	of := warcout.SeriesIn(prefix)
	return func(e Entry) string { return of(strings.TrimSuffix(e.Filename, ".open")) }
}

// Library looks up the captures of a folder of WARC files. It uses the folder's indexes for the files that they cover
// as the files are now. All other files are read when the library is opened.
type Library struct {
	dir     string
	files   map[string]warc.File // by name
	indexes []sortedIndex        // the main index, and the recent one of a live index
	read    []index.Entry        // of the files that no index covers, in the order of an index
	live    *index.Live          // of a LiveReader; nil otherwise

	unindexed int // files that no index covers and that were not read
	report    func(warc.Finding) error

	hides func(Entry) bool // nil hides nothing
}

// Except returns the same library without the captures that an embargo keeps closed; nil keeps none. prefix begins the
// names of our files. The library is for one goroutine, and is not closed.
func (l *Library) Except(embargo func(address, contentType string, series ...string) bool, prefix string) *Library {
	if embargo == nil {
		return l
	}
	series, open := SeriesIn(prefix), *l
	open.hides = func(e Entry) bool { return embargo(e.URL, e.MIME, series(e)) }
	return &open
}

// shows reports whether the library has a capture.
func (l *Library) shows(e Entry) bool { return l.hides == nil || !l.hides(e) }

// sortedIndex is an index of some of the files.
type sortedIndex struct {
	counts func(file string) bool // whether the lines of a file count
	file   *os.File
	size   int64
}

// Options say how to open a library. The zero value is valid.
type Options struct {
	Progress *warc.Progress // of reading the files that no index covers; may be nil
	Outside  []string       // further files and folders, of earlier archives
}

// OpenLibrary opens a folder, and the files and folders of o.Outside, all with the WACZ packages in them. It reports
// damage in the files that it has to read, and the library later reports damage in an index. [index.WriteFile] makes
// the index that saves reading all files of the folder.
func OpenLibrary(ctx context.Context, dir string, o Options, report func(warc.Finding) error) (*Library, error) {
	l := &Library{dir: dir, files: map[string]warc.File{}, report: report}
	if err := l.open(ctx, o); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// open lists the files, opens their indexes, and reads those that no index covers.
func (l *Library) open(ctx context.Context, o Options) error {
	files, faults := warc.FilesAndPackages([]string{l.dir})
	more, moreFaults := warc.FilesAndPackages(o.Outside)
	if err := warc.ReportAll(append(faults, moreFaults...), l.report); err != nil {
		return err
	}
	for _, f := range files {
		l.files[f.Name] = f
	}
	more = l.addOutside(more)
	done := map[string]bool{}
	for _, name := range []string{index.FileName, index.RecentName} {
		if err := l.openIndex(filepath.Join(l.dir, name), files, done); err != nil {
			return err
		}
	}
	rest := more
	for _, f := range files {
		if !done[f.Name] {
			rest = append(rest, f)
		}
	}
	if l.live != nil {
		for _, f := range rest {
			if !l.live.Knows(f.Name) {
				l.unindexed++
			}
		}
		return nil
	}
	if len(rest) == 0 {
		return nil
	}
	return l.scan(ctx, rest, o)
}

// addOutside adds files outside the folder under names that no file of the folder has, and returns them. A file of the
// same name and size as one in the folder is a copy and is left out.
func (l *Library) addOutside(files []warc.File) (added []warc.File) {
	for _, f := range files {
		if same, taken := l.files[f.Name]; taken && same.Size == f.Size {
			continue
		} else if taken {
			f.Name = filepath.ToSlash(f.Path)
		}
		if _, taken := l.files[f.Name]; !taken {
			l.files[f.Name] = f
			added = append(added, f)
		}
	}
	return added
}

// openIndex opens an index for the files that it covers and that are not done, and adds these to done.
func (l *Library) openIndex(path string, files []warc.File, done map[string]bool) error {
	covers, err := index.Covered(path, files)
	if err != nil || covers == nil {
		return err
	}
	for name := range covers {
		if done[name] {
			delete(covers, name)
		}
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the list is there without its index
	}
	if err != nil {
		return fmt.Errorf("open the index: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(fmt.Errorf("open the index: %w", err), f.Close())
	}
	for name := range covers {
		done[name] = true
	}
	// Lines of files that are not in the folder count too: the files were moved away.
	counts := func(file string) bool {
		_, here := l.files[file]
		return covers[file] || !here
	}
	l.indexes = append(l.indexes, sortedIndex{counts: counts, file: f, size: info.Size()})
	return nil
}

// scan reads the files that no index covers.
func (l *Library) scan(ctx context.Context, files []warc.File, o Options) error {
	var out bytes.Buffer
	if _, err := index.BuildFiles(ctx, files, nil, index.Options{Progress: o.Progress}, &out, l.report); err != nil {
		return err
	}
	for line := range strings.Lines(out.String()) {
		e, err := index.ParseEntry(line)
		if err != nil {
			return err
		}
		l.read = append(l.read, e)
	}
	slices.SortFunc(l.read, index.Compare)
	return nil
}

// Close closes the indexes.
func (l *Library) Close() error {
	var errs []error
	for _, x := range l.indexes {
		errs = append(errs, x.file.Close())
	}
	return errors.Join(errs...)
}

// Lookup returns those captures with the key of a URI that are wanted, oldest first; nil wants all. Other URIs may have
// the same key: see [uri.ReplayKey].
func (l *Library) Lookup(address string, wanted func(index.Entry) bool) (found []index.Entry, err error) {
	err = l.each(address, func(e index.Entry) {
		if wanted == nil || wanted(e) {
			found = append(found, e)
		}
	})
	slices.SortFunc(found, index.Compare)
	return slices.CompactFunc(found, isSame), err // a crash while indexes are merged leaves a line in both
}

func isSame(a, b index.Entry) bool { return index.Compare(a, b) == 0 }

// each calls see with the captures that have the key of a URI, in no order, and perhaps with some of them twice. It
// keeps none of them in memory: a page that is visited each minute has millions.
func (l *Library) each(address string, see func(index.Entry)) error {
	return l.During(address, "", see)
}

// During calls see with the captures that have the key of a URI and whose timestamps begin with a text, as 202611 for a
// month, in no order, and perhaps with some of them twice. It reads no other lines of a sorted index.
func (l *Library) During(address, stamps string, see func(index.Entry)) error {
	key := uri.ReplayKey(address)
	some := func(e index.Entry) {
		if l.shows(e) {
			see(e)
		}
	}
	if l.live != nil {
		if err := l.live.Find(key, stamps, some); err != nil {
			return err
		}
	}
	for _, x := range l.indexes {
		err := x.each(key+" "+stamps, func(e index.Entry) error { some(e); return nil }, func(err error) error {
			return l.report(*warc.FileFinding(x.file.Name(), warc.BadIndex, err.Error()+"; make the index again"))
		})
		if err != nil {
			return err
		}
	}
	byKey := func(e index.Entry, key string) int { return strings.Compare(e.Key, key) }
	i, _ := slices.BinarySearchFunc(l.read, key, byKey)
	for ; i < len(l.read) && l.read[i].Key == key; i++ {
		if strings.HasPrefix(l.read[i].Timestamp, stamps) {
			some(l.read[i])
		}
	}
	return nil
}

// each calls do with the entries whose lines begin with a prefix, and bad with the error of each line that cannot be
// read.
func (x sortedIndex) each(prefix string, do func(index.Entry) error, bad func(error) error) error {
	at, err := index.SearchLines(x.size, index.MaxLine/16, prefix, x.lineAfter)
	if err != nil {
		return err
	}
	lines, err := x.linesFrom(at)
	if err != nil {
		return err
	}
	for lines.Scan() && (lines.Text() < prefix || strings.HasPrefix(lines.Text(), prefix)) {
		if !strings.HasPrefix(lines.Text(), prefix) {
			continue
		}
		e, err := index.ParseEntry(lines.Text())
		if err != nil {
			err = bad(err)
		} else if x.counts(e.Filename) {
			err = do(e)
		}
		if err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", x.file.Name(), err)
	}
	return nil
}

// linesFrom returns a scanner of the lines that begin at or after an offset.
func (x sortedIndex) linesFrom(at int64) (*bufio.Scanner, error) {
	from := max(0, at-1)
	lines := index.NewLines(io.NewSectionReader(x.file, from, x.size-from))
	if at > 0 {
		lines.Scan() // the rest of the previous line
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", x.file.Name(), err)
	}
	return lines, nil
}

// lineAfter returns the first line that begins at or after an offset, or "" if there is none.
func (x sortedIndex) lineAfter(at int64) (string, error) {
	lines, err := x.linesFrom(at)
	if err != nil {
		return "", err
	}
	lines.Scan()
	return lines.Text(), lines.Err()
}
