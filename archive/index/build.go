package index

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/fileio"
	"github.com/arcrawl/arcrawl/uri"
)

// Options say how to make an index. The zero value is valid.
type Options struct {
	Progress *warc.Progress // may be nil
	Memory   int64          // maximum size of lines that are sorted in memory, in bytes; 0 = 256 MiB
	TempDir  string         // folder of temporary files; empty = the system's own
	Name     string         // of the file in the lines, if only one file is indexed; empty = its own name

	Leave func(warc.File) bool // reports which files are left out; nil = none

	Milliseconds bool // write timestamps of 17 digits, by which replay tools tell captures of one second apart
	Visits       bool // read the metadata records of visits too, for [Entry.Visit]

	// Collect, when set, is called with each file before it is read. each receives the whole captures of the file with
	// their payload digests; done is called when the file has been read, in the order of the files.
	Collect func(f warc.File) (each func(rec *warc.Record, digest string), done func() error)
}

// Summary counts what was indexed. Errors are findings of the severity error.
type Summary struct {
	Files   int   `json:"files"`
	Entries int64 `json:"entries"`
	Errors  int   `json:"errors"`
}

// Build writes the captures of files and folders (responses, resources and revisits) to out as sorted lines of CDXJ. It
// reports damage and skips it. It returns an error if ctx ends, out or report fails, or a file cannot be read from
// disk.
func Build(
	ctx context.Context, paths []string, o Options, out io.Writer, report func(warc.Finding) error,
) (Summary, error) {
	files, faults := warc.Files(paths)
	files = warc.Without(files, o.Leave)
	if o.Name != "" && len(files) == 1 {
		files[0].Name = o.Name
	}
	return BuildFiles(ctx, files, faults, o, out, report)
}

// BuildFiles is Build for a list of files and the faults of others.
func BuildFiles(
	ctx context.Context, files []warc.File, faults []*warc.Finding, o Options, out io.Writer,
	report func(warc.Finding) error,
) (Summary, error) {
	sum := Summary{Files: len(files)}
	report = warc.CountErrors(&sum.Errors, report)
	o.Progress.Expect(files)
	if err := warc.ReportAll(faults, report); err != nil {
		return sum, err
	}
	lines := newSorter(o.Memory, o.TempDir)
	defer lines.close()
	collected, found := make([]func() error, len(files)), make([]*warc.Findings, len(files))
	work := func(ctx context.Context, i int) error {
		see := func(*warc.Record, string) {}
		if o.Collect != nil {
			see, collected[i] = o.Collect(files[i])
		}
		found[i] = warc.NewFindings(files[i])
		return addLines(ctx, files[i], o, lines, found[i], see)
	}
	finish := func(i int) error {
		if done := collected[i]; done != nil {
			if err := done(); err != nil {
				return err
			}
		}
		err := found[i].Report(report)
		found[i] = nil
		return err
	}
	if err := warc.ForEach(ctx, len(files), work, finish); err != nil {
		return sum, err
	}
	var err error
	sum.Entries, err = lines.writeTo(out)
	return sum, err
}

// addLines adds the lines of a file's captures to the sorter, in batches.
func addLines(
	ctx context.Context, f warc.File, o Options, lines *sorter, found *warc.Findings,
	see func(rec *warc.Record, digest string),
) error {
	const batchSize = 512
	batch := make([]string, 0, batchSize)
	var line []byte
	add := func(e Entry) (err error) {
		line = e.AppendTo(line[:0])
		if batch = append(batch, string(line)); len(batch) == batchSize {
			err = lines.add(batch)
			batch = batch[:0]
		}
		return err
	}
	in := warc.NewHeadReader()
	var last visited
	err := warc.EachRecord(ctx, f, o.Progress, found, func(rec *warc.Record) error {
		if o.Visits && rec.Header.Type() == "metadata" {
			if e, ok := changeOf(rec, f.Name); ok {
				return errors.Join(rec.Close(), add(e))
			}
			return last.read(rec)
		}
		e, ok, err := EntryOf(rec, f.Name, in)
		if err != nil || !ok {
			return err
		}
		see(rec, e.Digest)
		if o.Milliseconds {
			e.Timestamp = Stamp(rec.Header.Date(), true)
		}
		if !o.Visits {
			return add(e)
		}
		before := last
		e.Visit = new(Visit)
		last = visited{entry: e, id: rec.ID()}
		if profile := rec.Header.Get("WARC-Profile"); strings.HasSuffix(profile, "/server-not-modified") {
			e.Visit.State = "unchanged" // its metadata record does not repeat it
		}
		if before.id == "" {
			return nil
		}
		return add(before.entry)
	})
	if last.id != "" {
		err = errors.Join(err, add(last.entry))
	}
	return errors.Join(err, lines.add(batch))
}

// changeOf returns the entry of a record that says what a reader sees that changed. ok is false for other records.
func changeOf(rec *warc.Record, filename string) (e Entry, ok bool) {
	if !strings.HasPrefix(rec.Header.Target(), ChangeMIME+":") {
		return e, false
	}
	var note struct {
		URI    string    `json:"uri"`
		At     time.Time `json:"at"`
		Change struct {
			Kinds []string `json:"kinds"`
		} `json:"change"`
	}
	err := json.NewDecoder(io.LimitReader(rec, maxNote)).Decode(&note)
	return Entry{
		Key: uri.ReplayKey(note.URI), URL: note.URI, Timestamp: Stamp(note.At, true), MIME: ChangeMIME,
		Offset: rec.Offset, Filename: filename, Visit: &Visit{Changes: strings.Join(note.Change.Kinds, ",")},
	}, err == nil && note.URI != "" && !note.At.IsZero()
}

// maxNote is the maximum number of bytes that are read of a record about a change.
const maxNote = 1 << 20

// visited is a capture whose metadata record may follow.
type visited struct {
	entry Entry
	id    string // of the record
}

// read reads a metadata record, if it is about the visit of the capture.
func (v *visited) read(rec *warc.Record) error {
	about := slices.Contains(rec.Header.Values("WARC-Concurrent-To"), "<"+v.id+">")
	if !about || !strings.HasPrefix(rec.Header.Get("Content-Type"), warc.FieldsMIME) {
		return rec.Close()
	}
	fields, err := rec.Fields()
	if err != nil {
		return err
	}
	to := v.entry.Visit
	for _, f := range []struct {
		name string
		to   *string
	}{
		{"contentState", &to.State},
		{"contentStateReason", &to.StateReason},
		{"comparisonDigest", &to.Comparison},
		{"visitReason", &to.VisitReason},
		{"waitSec", &to.Wait},
	} {
		if value := fields.Get(f.name); value != "" {
			*f.to = value
		}
	}
	return nil
}

// EntryOf returns the index entry of a record, after checking that the record is whole. ok is false if the record is
// not a capture.
func EntryOf(rec *warc.Record, filename string, in *bufio.Reader) (_ Entry, ok bool, _ error) {
	h := rec.Header
	kind := h.Type()
	if kind != "response" && kind != "revisit" && kind != "resource" {
		return Entry{}, false, rec.Close()
	}
	e := Entry{
		URL: h.Target(), Timestamp: Stamp(h.Date(), false), Digest: h.Get("WARC-Payload-Digest"),
		Offset: rec.Offset, Filename: filename,
	}
	e.Key = uri.ReplayKey(e.URL)
	in.Reset(rec)
	body := io.Reader(in)
	if h.IsHTTP() && rec.Size > 0 {
		head, err := warc.ReadHead(in)
		if err == nil {
			e.Status, e.MIME = strconv.Itoa(head.Status), head.MIME()
			body, _ = head.Payload(in)
		}
	} else if kind != "revisit" {
		e.MIME = h.MIME()
	}
	if kind == "revisit" {
		e.MIME = RevisitMIME
	} else if e.Digest == "" {
		sum := sha1.New()
		if _, err := io.Copy(sum, body); err == nil {
			e.Digest = "sha1:" + base32.StdEncoding.EncodeToString(sum.Sum(nil))
		}
	}
	if e.MIME == "" {
		e.MIME = UnknownMIME
	}
	if err := rec.Close(); err != nil {
		return Entry{}, false, err
	}
	if h.Date().IsZero() || e.URL == "" {
		f := rec.Finding(warc.BadHeader, fmt.Sprintf("a %s without a date or URI cannot be indexed", kind))
		return Entry{}, false, &f
	}
	e.Length = rec.Length
	return e, true, nil
}

// FileName is the name of an index in the folder of the files that it covers.
const FileName = "index.cdxj"

// coveredSuffix ends the name of the list of the files that an index covers.
const coveredSuffix = ".files"

// WriteFile makes an index as [Build] does and writes it to the file at path, which is replaced when the new index is
// whole. It also writes the list of the files that the index covers: see the package comment.
func WriteFile(
	ctx context.Context, paths []string, o Options, path string, report func(warc.Finding) error,
) (Summary, error) {
	files, _ := warc.Files(paths) // Build reports the faults
	files = warc.Without(files, o.Leave)
	list := coverage(files) // before reading: a file that changes meanwhile is not covered
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return Summary{}, fmt.Errorf("write %s: %w", path, err)
	}
	out, err := fileio.Create(path, 0o644)
	if err != nil {
		return Summary{}, err
	}
	defer out.Discard()
	sum, err := Build(ctx, paths, o, out, report)
	if err != nil {
		return sum, err
	}
	if err := out.Replace(); err != nil {
		return sum, err
	}
	return sum, writeCoverage(path, files, list)
}

// coverage returns the stamp of each file, by name. It leaves out files that are still open.
func coverage(files []warc.File) map[string]string {
	list := make(map[string]string, len(files))
	for _, f := range files {
		if line := f.Stamp(); line != "" && !strings.HasSuffix(f.Path, warc.OpenSuffix) {
			list[f.Name] = line
		}
	}
	return list
}

// writeCoverage writes the list of the files that an index covers, in the order of files.
func writeCoverage(index string, files []warc.File, list map[string]string) error {
	var text bytes.Buffer
	for _, f := range files {
		if line, ok := list[f.Name]; ok {
			text.WriteString(line + "\n")
		}
	}
	return fileio.Write(index+coveredSuffix, text.Bytes(), 0o644)
}

// Covered returns the names of the files that an index covers as they are now. It is nil if the index has no list.
func Covered(index string, files []warc.File) (map[string]bool, error) {
	listed, err := readCoverage(index)
	if err != nil {
		return nil, fmt.Errorf("read the list of indexed files: %w", err)
	}
	if listed == nil {
		return nil, nil
	}
	unchanged := map[string]bool{}
	for name, line := range coverage(files) {
		if listed[line] {
			unchanged[name] = true
		}
	}
	return unchanged, nil
}

// readCoverage returns the lines of the list of the files that an index covers. It is nil if there is no list.
func readCoverage(index string) (map[string]bool, error) {
	text, err := os.ReadFile(index + coveredSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	lines := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		lines[strings.TrimSuffix(line, "\n")] = true
	}
	return lines, err
}

// coveredNames returns the names in the list of the files that an index covers, whether or not they have changed.
func coveredNames(index string) (names []string, err error) {
	lines, err := readCoverage(index)
	for line := range lines {
		if parts := strings.SplitN(line, " ", 3); len(parts) == 3 {
			names = append(names, parts[2])
		}
	}
	return names, err
}
