package archive

import (
	"context"
	"crypto/sha1"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// IndexOptions say how to index. The zero value will do.
type IndexOptions struct {
	Progress *Progress // may be nil
	Memory   int64     // bytes of lines to sort at a time, beyond which they wait in files; 256 MiB
	TempDir  string    // of those files; the system's own
	Name     string    // in the lines, of the one file that is indexed; its own
}

// Indexed sums up what was indexed.
type Indexed struct {
	Files   int   `json:"files"`
	Entries int64 `json:"entries"`
	Errors  int   `json:"errors"`
}

// Index writes the captures of files and folders (responses, resources and revisits) to out as sorted lines of CDXJ. Damage is
// given to see and passed over. An error is given when ctx ends, out or see fails, or a file cannot be read from disk.
func Index(ctx context.Context, paths []string, o IndexOptions, out io.Writer, see func(Finding) error) (Indexed, error) {
	files, faults := Files(paths)
	ix := indexing{see: see, sum: Indexed{Files: len(files)}, watch: o.Progress, bufs: new(buffers)}
	if ix.watch == nil {
		ix.watch = new(Progress)
	}
	if o.Name != "" && len(files) == 1 {
		files[0].Name = o.Name
	}
	ix.watch.expect(files)
	for _, f := range faults {
		if err := ix.report(*f); err != nil {
			return ix.sum, err
		}
	}
	lines := newSorter(o.Memory, o.TempDir)
	defer lines.close()
	results := make([][]Finding, len(files))
	work := func(ctx context.Context, i int) (err error) {
		results[i], err = ix.file(ctx, files[i], lines)
		return err
	}
	finish := func(i int) error {
		for _, f := range results[i] {
			if err := ix.report(f); err != nil {
				return err
			}
		}
		results[i] = nil
		return nil
	}
	if err := inParallel(ctx, len(files), work, finish); err != nil {
		return ix.sum, err
	}
	n, err := lines.writeTo(out)
	ix.sum.Entries = n
	return ix.sum, err
}

type indexing struct {
	see   func(Finding) error
	sum   Indexed
	watch *Progress
	bufs  *buffers
}

func (ix *indexing) report(f Finding) error {
	if f.Severity == Error {
		ix.sum.Errors++
	}
	return ix.see(f)
}

// file gives a file's captures to the sorter, some hundred at a time.
func (ix *indexing) file(ctx context.Context, f File, lines *sorter) ([]Finding, error) {
	const most = 512
	batch := make([]string, 0, most)
	var line []byte
	found, err := eachRecord(ctx, f, ix.watch, func(rec *Record) error {
		e, ok, err := entryOf(rec, f.Name, ix.bufs)
		if err != nil || !ok {
			return err
		}
		line = e.AppendTo(line[:0])
		if batch = append(batch, string(line)); len(batch) < most {
			return nil
		}
		err = lines.add(batch)
		batch = batch[:0]
		return err
	})
	return found, errors.Join(err, lines.add(batch))
}

// eachRecord gives each record of a file to see, which may read and close it. Damage is collected, and what see made of a
// record that then turns out to be damaged has to be dropped by see itself, by closing the record before it believes it.
func eachRecord(ctx context.Context, file File, watch *Progress, see func(rec *Record) error) (found []Finding, _ error) {
	if watch == nil {
		watch = new(Progress)
	}
	defer watch.files.Add(1)
	notes := notes{open: strings.HasSuffix(file.Path, openSuffix)}
	defer func() { found = notes.all(file.Path) }()
	if notes.open {
		notes.add(stillOpen(file.Path))
	}
	r, err := file.reader()
	if f, ok := asFinding(err); ok {
		notes.add(*f)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	for before := int64(0); ctx.Err() == nil; {
		rec, err := r.Next()
		if err == nil {
			if err = see(rec); !isFindingOrNil(err) {
				return nil, err
			}
		}
		watch.done.Add(r.Offset() - before)
		before = r.Offset()
		switch f, ok := asFinding(err); {
		case errors.Is(err, io.EOF):
			return nil, nil
		case ok:
			notes.add(*f)
		case err != nil:
			notes.add(Finding{File: file.Path, Offset: before, Severity: Error, Kind: Unreadable, Text: err.Error()})
			return nil, nil
		}
	}
	return nil, context.Cause(ctx)
}

func isFindingOrNil(err error) bool {
	_, ok := asFinding(err)
	return ok || err == nil
}

// entryOf makes the index entry of a record that is a capture, and proves the record.
func entryOf(rec *Record, filename string, bufs *buffers) (Entry, bool, error) {
	h := rec.Header
	kind := h.Type()
	if kind != "response" && kind != "revisit" && kind != "resource" {
		return Entry{}, false, rec.Close()
	}
	e := Entry{
		URL: h.Target(), Timestamp: h.Date().Format(stampLayout), Digest: h.Get("WARC-Payload-Digest"),
		Offset: rec.Offset, Filename: filename,
	}
	e.Key = Key(e.URL)
	in := bufs.get(rec)
	defer bufs.put(in)
	body := io.Reader(in)
	if hasHTTP(h) && rec.Size > 0 {
		head, err := readHead(in)
		if err == nil {
			e.Status, e.MIME = strconv.Itoa(head.Status), head.MIME()
			body, _ = payload(head, in)
		}
	} else if kind != "revisit" {
		e.MIME = MediaType(h.Get("Content-Type"))
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
		f := rec.finding(BadHeader, fmt.Sprintf("a %s without a date or URI cannot be indexed", kind))
		return Entry{}, false, &f
	}
	e.Length = rec.Length
	return e, true, nil
}
