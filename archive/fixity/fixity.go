// Package fixity keeps a manifest of the finished WARC files of a folder: what each one was when it was sealed.
//
// The manifest is the file manifest.jsonl in the folder. It only grows. Its first line says since when files are
// listed. Each further line is a JSON object about one file: name, size, SHA-256, number of records, dates of the
// first and the last record. A line with a verdict says what a program found in a file that is listed. Each line has
// the SHA-256 of the line before it. So nobody can change or remove a line without a trace, except at the end, or by
// writing all later lines again. Who has noted the head at another place, the SHA-256 of the last line, finds that too:
// no line has that SHA-256 then.
//
// The digest of a file is made after the file was sealed, by reading it. Files that were there before the manifest are
// not listed until somebody adds them.
package fixity

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
)

// FileName is the name of the manifest in the folder of the WARC files.
const FileName = "manifest.jsonl"

const format = 1

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

// Verdict is a line of the manifest about a file that is listed: what a program said of it, such as a virus check.
type Verdict struct {
	File     string    `json:"file"`
	SHA256   string    `json:"sha256"` // of the file when it was listed
	At       time.Time `json:"at"`
	Agent    string    `json:"agent"` // the path of the program
	Verdict  string    `json:"verdict"`
	Previous string    `json:"previous"` // as in an [Entry]
}

// head is the first line of the manifest.
type head struct {
	Format int       `json:"arcrawl-fixity"`
	Since  time.Time `json:"since"`
}

// Manifest is an open manifest. One goroutine may use it.
type Manifest struct {
	Entries  []Entry
	Verdicts []Verdict
	Since    time.Time // files that were sealed before are not listed
	Faults   []string  // what is wrong with the chain of lines

	chain
	dir string
}

// Open opens the manifest of a folder to add files to it. It creates the manifest if there is none. It removes a line
// that a crash has cut. A manifest with faults can be continued; the faults stay visible.
func Open(dir string, now time.Time) (*Manifest, error) {
	m := &Manifest{dir: dir}
	err := m.open(filepath.Join(dir, FileName), m.take, func() any {
		m.Since = now.UTC().Truncate(time.Second)
		return head{format, m.Since}
	})
	if err != nil {
		return nil, fmt.Errorf("open the manifest of the WARC files: %w", err)
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
	m.lines = map[[sha256.Size]byte]int{}
	return m, errors.Join(m.read(f, m.take), f.Close())
}

// Head returns the head of the manifest of a folder as it is on disk: the SHA-256 of its last line. It is empty if
// there is no manifest.
func Head(dir string) (string, error) {
	head, err := lastOf(filepath.Join(dir, FileName))
	if err != nil {
		return "", fmt.Errorf("read the head of the manifest of the WARC files: %w", err)
	}
	return head, nil
}

func (m *Manifest) take(n int, line []byte) error {
	if n == 1 {
		var h head
		if err := json.Unmarshal(line, &h); err != nil || h.Format < 1 || h.Format > format {
			return fmt.Errorf("line 1 is %.60q: not a manifest, or written by a newer arcrawl", line)
		}
		m.Since = h.Since
		return nil
	}
	var l struct {
		Entry
		At      time.Time `json:"at"`
		Agent   string    `json:"agent"`
		Verdict string    `json:"verdict"` // "" = the line lists a file
	}
	readable := json.Unmarshal(line, &l) == nil && l.File != "" && filepath.IsLocal(l.File)
	m.Faults = m.follow(m.Faults, n, l.Previous, readable)
	switch {
	case !readable:
	case l.Verdict != "":
		m.Verdicts = append(m.Verdicts, Verdict{l.File, l.SHA256, l.At, l.Agent, l.Verdict, l.Previous})
	default:
		m.Entries = append(m.Entries, l.Entry)
	}
	return nil
}

// Judge appends what a program said of a file that is listed.
func (m *Manifest) Judge(e Entry, agent, verdict string, now time.Time) error {
	v := Verdict{e.File, e.SHA256, now.UTC().Truncate(time.Second), agent, verdict, m.last}
	if err := m.add(v); err != nil {
		return fmt.Errorf("add what %s said of %s to the manifest of the WARC files: %w", agent, e.File, err)
	}
	m.Verdicts = append(m.Verdicts, v)
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
	if e.SHA256, e.Size, err = hashFile(ctx, path, nil); err != nil {
		return e, fmt.Errorf("measure %s: %w", path, err)
	}
	return e, nil
}

func hashFile(
	ctx context.Context, path string, slow func(*os.File) io.Reader,
) (digest string, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h, in := sha256.New(), io.Reader(f)
	if slow != nil {
		in = slow(f)
	}
	size, err = Copy(ctx, h, in)
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
