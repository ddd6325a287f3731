package index

import (
	"bufio"
	"context"
	"crypto/sha1"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/arcrawl/arcrawl/archive/parallel"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/uri"
)

// Options say how to index. The zero value will do.
type Options struct {
	Progress *warc.Progress // may be nil
	Memory   int64          // bytes of lines to sort at a time, beyond which they wait in files; 256 MiB
	TempDir  string         // of those files; the system's own
	Name     string         // in the lines, of the one file that is indexed; its own
}

// Summary sums up what was indexed.
type Summary struct {
	Files   int   `json:"files"`
	Entries int64 `json:"entries"`
	Errors  int   `json:"errors"`
}

// Build writes the captures of files and folders (responses, resources and revisits) to out as sorted lines of CDXJ. Damage is
// given to see and passed over. An error is given when ctx ends, out or see fails, or a file cannot be read from disk.
func Build(ctx context.Context, paths []string, o Options, out io.Writer, see func(warc.Finding) error) (Summary, error) {
	files, faults := warc.Files(paths)
	ix := indexing{see: see, sum: Summary{Files: len(files)}, watch: o.Progress}
	if ix.watch == nil {
		ix.watch = new(warc.Progress)
	}
	if o.Name != "" && len(files) == 1 {
		files[0].Name = o.Name
	}
	ix.watch.Expect(files)
	for _, f := range faults {
		if err := ix.report(*f); err != nil {
			return ix.sum, err
		}
	}
	lines := newSorter(o.Memory, o.TempDir)
	defer lines.close()
	results := make([][]warc.Finding, len(files))
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
	if err := parallel.Each(ctx, len(files), work, finish); err != nil {
		return ix.sum, err
	}
	n, err := lines.writeTo(out)
	ix.sum.Entries = n
	return ix.sum, err
}

type indexing struct {
	see   func(warc.Finding) error
	sum   Summary
	watch *warc.Progress
}

func (ix *indexing) report(f warc.Finding) error {
	if f.Severity == warc.Error {
		ix.sum.Errors++
	}
	return ix.see(f)
}

// file gives a file's captures to the sorter, some hundred at a time.
func (ix *indexing) file(ctx context.Context, f warc.File, lines *sorter) ([]warc.Finding, error) {
	const most = 512
	batch := make([]string, 0, most)
	var line []byte
	in, notes := warc.NewHeadReader(), warc.NewFindings(f)
	err := warc.EachRecord(ctx, f, ix.watch, notes, func(rec *warc.Record) error {
		e, ok, err := entryOf(rec, f.Name, in)
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
	return notes.All(), errors.Join(err, lines.add(batch))
}

// entryOf makes the index entry of a record that is a capture, and proves the record.
func entryOf(rec *warc.Record, filename string, in *bufio.Reader) (Entry, bool, error) {
	h := rec.Header
	kind := h.Type()
	if kind != "response" && kind != "revisit" && kind != "resource" {
		return Entry{}, false, rec.Close()
	}
	e := Entry{
		URL: h.Target(), Timestamp: h.Date().Format(DateLayout), Digest: h.Get("WARC-Payload-Digest"),
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
		e.MIME = warc.MediaType(h.Get("Content-Type"))
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
