// Package fixity keeps a manifest of the finished WARC files of a folder: what each one was when it was sealed.
//
// The manifest is the file manifest.jsonl in the folder. It only grows. Its first line says since when files are
// listed. Each further line is a JSON object about one file: name, size, SHA-256, number of records, dates of the
// first and the last record. Each line has the SHA-256 of the line before it. So nobody can change or remove a line
// without a trace, except the last ones; a copy of the last line at another place also protects those.
//
// The digest of a file is made after the file was sealed, by reading it. Files that were there before the manifest are
// not listed until somebody adds them.
package fixity

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// FileName is the name of the manifest in the folder of the WARC files.
const FileName = "manifest.jsonl"

const (
	format  = 1
	maxLine = 64 << 10
)

// Entry is one line of the manifest: a finished file.
type Entry struct {
	File     string    `json:"file"` // its name in the folder
	Size     int64     `json:"size"`
	SHA256   string    `json:"sha256"`
	Records  int       `json:"records"`
	First    time.Time `json:"first"` // WARC-Date of its oldest record
	Last     time.Time `json:"last"`  // WARC-Date of its newest record
	Listed   time.Time `json:"listed"`
	Previous string    `json:"previous"` // SHA-256 of the line before, without its line end
}

// head is the first line of the manifest.
type head struct {
	Format int       `json:"arcrawl-fixity"`
	Since  time.Time `json:"since"`
}

// Manifest is an open manifest. One goroutine may use it.
type Manifest struct {
	Entries []Entry
	Since   time.Time // files that were sealed before are not listed
	Faults  []string  // what is wrong with the chain of lines

	dir  string
	file *os.File
	last string // SHA-256 of the last line
	size int64  // of the whole lines
}

// Open opens the manifest of a folder to add files to it. It creates the manifest if there is none. It removes a line
// that a crash has cut. A manifest with faults can be continued; the faults stay visible.
func Open(dir string, now time.Time) (*Manifest, error) {
	f, err := os.OpenFile(filepath.Join(dir, FileName), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the manifest of the WARC files: %w", err)
	}
	m := &Manifest{dir: dir, file: f}
	err = m.read(f)
	if err == nil {
		err = f.Truncate(m.size)
	}
	if err == nil && m.size == 0 {
		m.Since = now.UTC().Truncate(time.Second)
		err = errors.Join(m.add(head{format, m.Since}), fileio.SyncDir(dir))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the manifest of the WARC files %s: %w", f.Name(), err), f.Close())
	}
	return m, nil
}

// Read reads the manifest of a folder. The error wraps [fs.ErrNotExist] if there is none.
func Read(dir string) (*Manifest, error) {
	f, err := os.Open(filepath.Join(dir, FileName))
	if err != nil {
		return nil, err
	}
	m := &Manifest{dir: dir}
	return m, errors.Join(m.read(f), f.Close())
}

// Close closes the manifest.
func (m *Manifest) Close() error { return m.file.Close() }

// read reads all whole lines.
func (m *Manifest) read(f io.Reader) error {
	lines := bufio.NewReaderSize(f, maxLine)
	for n := 1; ; n++ {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read line %d: %w", n, err)
		}
		if n == 1 {
			var h head
			if err := json.Unmarshal(line, &h); err != nil || h.Format < 1 || h.Format > format {
				return fmt.Errorf("line 1 is %.60q: not a manifest, or written by a newer arcrawl", line)
			}
			m.Since = h.Since
		} else {
			m.take(n, line)
		}
		m.last = sum(line)
		m.size += int64(len(line))
	}
}

func (m *Manifest) take(n int, line []byte) {
	var e Entry
	switch err := json.Unmarshal(line, &e); {
	case err != nil || e.File == "" || !filepath.IsLocal(e.File):
		m.Faults = append(m.Faults, fmt.Sprintf("line %d cannot be read", n))
		return
	case e.Previous != m.last:
		m.Faults = append(m.Faults, fmt.Sprintf("line %d does not follow the line before it: a line was changed or removed", n))
	}
	m.Entries = append(m.Entries, e)
}

func sum(line []byte) string {
	s := sha256.Sum256(bytes.TrimSuffix(line, []byte("\n")))
	return hex.EncodeToString(s[:])
}

// add appends a line and syncs it.
func (m *Manifest) add(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if _, err := m.file.WriteAt(line, m.size); err != nil {
		return errors.Join(err, m.file.Truncate(m.size))
	}
	if err := m.file.Sync(); err != nil {
		return err
	}
	m.last = sum(line)
	m.size += int64(len(line))
	return nil
}

// Add appends a finished file of the folder that was measured.
func (m *Manifest) Add(name string, e Entry, now time.Time) error {
	e.File, e.Listed, e.Previous = filepath.ToSlash(name), now.UTC().Truncate(time.Second), m.last
	if err := m.add(e); err != nil {
		return fmt.Errorf("add %s to the manifest of the WARC files: %w", name, err)
	}
	m.Entries = append(m.Entries, e)
	return nil
}

// Missing returns the names of the finished WARC files in the folder that the manifest does not list and that were
// sealed since a time, sorted.
func (m *Manifest) Missing(since time.Time) ([]string, error) {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return nil, err
	}
	listed := make(map[string]bool, len(m.Entries))
	for _, e := range m.Entries {
		listed[e.File] = true
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		if listed[name] || !e.Type().IsRegular() || !warc.IsArchive(name) || strings.HasSuffix(name, warc.OpenSuffix) {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // moved away meanwhile
		}
		if err != nil {
			return nil, err
		}
		if !info.ModTime().Before(since) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Measure reads a WARC file and returns what the manifest lists about it. Damaged records are not counted. It calls see
// with each whole record, unless see is nil.
func Measure(ctx context.Context, path string, see func(*warc.Record)) (e Entry, err error) {
	if e, err = Hash(ctx, path); err != nil {
		return e, err
	}
	file := warc.File{Path: path, Name: filepath.Base(path), Size: e.Size}
	err = warc.EachRecord(ctx, file, nil, warc.NewFindings(file), func(rec *warc.Record) error {
		if err := rec.Close(); err != nil {
			return err
		}
		e.Records++
		if see != nil {
			see(rec)
		}
		if d := rec.Header.Date().UTC(); !d.IsZero() {
			if e.First.IsZero() || d.Before(e.First) {
				e.First = d
			}
			if d.After(e.Last) {
				e.Last = d
			}
		}
		return nil
	})
	if err != nil {
		return e, fmt.Errorf("measure %s: %w", path, err)
	}
	return e, nil
}

// Hash is Measure without a look at the records: only the SHA-256 and the size are set.
func Hash(ctx context.Context, path string) (e Entry, err error) {
	if e.SHA256, e.Size, err = hashFile(ctx, path); err != nil {
		return e, fmt.Errorf("measure %s: %w", path, err)
	}
	return e, nil
}

func hashFile(ctx context.Context, path string) (digest string, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	size, err = Copy(ctx, h, f)
	return hex.EncodeToString(h.Sum(nil)), size, err
}

// Copy copies until the end or until ctx ends.
func Copy(ctx context.Context, to io.Writer, from io.Reader) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{to}, contextReader{ctx, from}, make([]byte, 256<<10))
}

// contextReader reads until its context ends.
type contextReader struct {
	ctx context.Context
	io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// CheckOptions say what to compare.
type CheckOptions struct {
	Only      map[string]bool   // the names of files to compare; nil = all
	Elsewhere map[string]string // files that were moved away, and where to read them; see [Elsewhere]
}

// Check compares the files of a folder with its manifest and reports each difference. A folder without a manifest has
// none. checked is the number of files that were compared.
func Check(ctx context.Context, dir string, o CheckOptions, report func(warc.Finding) error) (checked int, err error) {
	m, err := Read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	path := filepath.Join(dir, FileName)
	if err != nil {
		return 0, report(finding(path, warc.Error, "the manifest cannot be read: %v", err))
	}
	for _, fault := range m.Faults {
		if err := report(finding(path, warc.Error, "%s", fault)); err != nil {
			return 0, err
		}
	}
	for _, e := range m.Entries {
		if o.Only != nil && !o.Only[e.File] {
			continue
		}
		if f := e.compare(ctx, filepath.Join(dir, filepath.FromSlash(e.File)), o.Elsewhere); f.Text != "" {
			if err := report(f); err != nil {
				return checked, err
			}
		}
		if ctx.Err() != nil {
			return checked, context.Cause(ctx)
		}
		checked++
	}
	missing, err := m.Missing(m.Since)
	if err != nil || o.Only != nil {
		return checked, err
	}
	for _, name := range missing {
		f := finding(filepath.Join(dir, name), warc.Warning, "is not in the manifest; a running daemon adds it")
		if err := report(f); err != nil {
			return checked, err
		}
	}
	return checked, nil
}

func finding(file string, severity warc.Severity, format string, args ...any) warc.Finding {
	return warc.Finding{
		File: file, Offset: -1, Severity: severity, Kind: warc.Fixity, Text: fmt.Sprintf(format, args...),
	}
}

// compare compares a file with its entry. The finding is empty if they agree.
func (e Entry) compare(ctx context.Context, file string, elsewhere map[string]string) (f warc.Finding) {
	got, size, err := hashFile(ctx, file)
	if errors.Is(err, fs.ErrNotExist) {
		place, moved := elsewhere[filepath.Base(file)]
		if moved && place == "" {
			return f // a list says so
		}
		if moved {
			file = place
			got, size, err = hashFile(ctx, file)
		}
	}
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, fs.ErrNotExist):
		f = finding(file, warc.Error, "is gone; it had %d bytes and SHA-256 %s; "+
			"if it was moved away, name its place with --elsewhere", e.Size, e.SHA256)
	case err != nil:
		f = finding(file, warc.Error, "cannot be read: %v", err)
	case size < e.Size:
		f = finding(file, warc.Error, "has %d bytes, and %d when it was sealed: %d are lost", size, e.Size, e.Size-size)
	case got != e.SHA256:
		f = finding(file, warc.Error, "has SHA-256 %s, and %s when it was sealed: it was changed", got, e.SHA256)
	}
	return f
}

// Elsewhere returns the names of the WARC files that are at other places, each with its path: in folders and below, and
// in lists, where the path is empty. A line of a list is the name of a file, possibly after a checksum as sha256sum
// writes it, or a line of a manifest.
func Elsewhere(places []string) (map[string]string, error) {
	names := map[string]string{}
	for _, place := range places {
		files, faults := warc.FilesNamed([]string{place}, warc.IsArchive)
		for _, f := range faults {
			if f.Kind != warc.Empty {
				return nil, fmt.Errorf("look for moved WARC files: %w", f)
			}
		}
		if len(files) == 1 && files[0].Path == place && !warc.IsArchive(place) {
			if err := readList(place, names); err != nil {
				return nil, fmt.Errorf("read a list of moved WARC files: %w", err)
			}
			continue
		}
		for _, f := range files {
			names[filepath.Base(f.Path)] = f.Path
		}
	}
	return names, nil
}

func readList(list string, names map[string]string) (err error) {
	f, err := fileio.OpenText(list)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		text := strings.TrimSpace(lines.Text())
		var e Entry
		if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &e) == nil {
			text = e.File
		} else if words := strings.Fields(text); len(words) > 0 {
			text = strings.TrimPrefix(words[len(words)-1], "*")
		}
		if name := path.Base(filepath.ToSlash(text)); warc.IsArchive(name) {
			names[name] = ""
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", list, err)
	}
	return nil
}
