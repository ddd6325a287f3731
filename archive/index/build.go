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

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/mediatype"
	"github.com/arcrawl/arcrawl/internal/parallel"
	"github.com/arcrawl/arcrawl/uri"
)

// Options say how to make an index. The zero value is valid.
type Options struct {
	Progress *warc.Progress // may be nil
	Memory   int64          // maximum size of lines that are sorted in memory, in bytes; 0 = 256 MiB
	TempDir  string         // folder of temporary files; empty = the system's own
	Name     string         // of the file in the lines, if only one file is indexed; empty = its own name

	Outside []string // for [OpenLibrary]: further files and folders, of earlier archives

	live *Live // for the library of a [LiveReader]

	Milliseconds bool // write timestamps of 17 digits, by which replay tools tell captures of one second apart

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
	if o.Name != "" && len(files) == 1 {
		files[0].Name = o.Name
	}
	return build(ctx, files, faults, o, out, report)
}

// build is Build for a list of files and the faults of others.
func build(
	ctx context.Context, files []warc.File, faults []*warc.Finding, o Options, out io.Writer,
	report func(warc.Finding) error,
) (Summary, error) {
	b := builder{sum: Summary{Files: len(files)}, progress: o.Progress, milliseconds: o.Milliseconds}
	collected := make([]func() error, len(files))
	b.report = func(f warc.Finding) error {
		if f.Severity == warc.Error {
			b.sum.Errors++
		}
		return report(f)
	}
	b.progress.Expect(files)
	for _, f := range faults {
		if err := b.report(*f); err != nil {
			return b.sum, err
		}
	}
	lines := newSorter(o.Memory, o.TempDir)
	defer lines.close()
	results := make([][]warc.Finding, len(files))
	work := func(ctx context.Context, i int) (err error) {
		see := func(*warc.Record, string) {}
		if o.Collect != nil {
			see, collected[i] = o.Collect(files[i])
		}
		results[i], err = b.file(ctx, files[i], lines, see)
		return err
	}
	finish := func(i int) error {
		if done := collected[i]; done != nil {
			if err := done(); err != nil {
				return err
			}
		}
		for _, f := range results[i] {
			if err := b.report(f); err != nil {
				return err
			}
		}
		results[i] = nil
		return nil
	}
	if err := parallel.Each(ctx, len(files), work, finish); err != nil {
		return b.sum, err
	}
	n, err := lines.writeTo(out)
	b.sum.Entries = n
	return b.sum, err
}

// builder makes one index.
type builder struct {
	report   func(warc.Finding) error
	sum      Summary
	progress *warc.Progress

	milliseconds bool
}

// file adds the lines of a file's captures to the sorter, in batches.
func (b *builder) file(
	ctx context.Context, f warc.File, lines *sorter, see func(rec *warc.Record, digest string),
) ([]warc.Finding, error) {
	const batchSize = 512
	batch := make([]string, 0, batchSize)
	var line []byte
	in, notes := warc.NewHeadReader(), warc.NewFindings(f)
	err := warc.EachRecord(ctx, f, b.progress, notes, func(rec *warc.Record) error {
		e, ok, err := entryOf(rec, f.Name, in)
		if err != nil || !ok {
			return err
		}
		see(rec, e.Digest)
		if b.milliseconds {
			e.Timestamp = Stamp(rec.Header.Date(), true)
		}
		line = e.AppendTo(line[:0])
		if batch = append(batch, string(line)); len(batch) < batchSize {
			return nil
		}
		err = lines.add(batch)
		batch = batch[:0]
		return err
	})
	return notes.All(), errors.Join(err, lines.add(batch))
}

// entryOf returns the index entry of a record, after checking that the record is whole. ok is false if the record is
// not a capture.
func entryOf(rec *warc.Record, filename string, in *bufio.Reader) (_ Entry, ok bool, _ error) {
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
		e.MIME = mediatype.Of(h.Get("Content-Type"))
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
