package archive

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/fileio"
	"github.com/arcrawl/arcrawl/uri"
)

// parquetSuffix is the end of the name of an index that is a table.
const parquetSuffix = ".parquet"

// tableRow is a capture in a table. Columns that Common Crawl's index has too have its names.
type tableRow struct {
	Key      string    `parquet:"url_surtkey,zstd"`
	URL      string    `parquet:"url,zstd"`
	Host     string    `parquet:"url_host_name,dict,zstd"`
	Domain   string    `parquet:"url_host_registered_domain,dict,zstd"`
	Scheme   string    `parquet:"url_protocol,dict,zstd"`
	Path     string    `parquet:"url_path,zstd"`
	Query    *string   `parquet:"url_query,optional,zstd"`
	Time     time.Time `parquet:"fetch_time,timestamp(millisecond),zstd"`
	Status   *int32    `parquet:"fetch_status,optional,zstd"`
	Digest   *string   `parquet:"content_digest,optional,zstd"`
	MIME     *string   `parquet:"content_mime_type,optional,dict,zstd"`
	Revisit  bool      `parquet:"revisit"`
	Change   string    `parquet:"payload_change,dict,zstd"` // since the capture before: first, changed or unchanged
	Filename string    `parquet:"warc_filename,dict,zstd"`
	Offset   int64     `parquet:"warc_record_offset,zstd"`
	Length   *int64    `parquet:"warc_record_length,optional,zstd"`

	// What the crawler found and why it looked, from the metadata record of the visit; null in archives of other tools.
	State       *string `parquet:"content_state,optional,dict,zstd"`
	StateReason *string `parquet:"content_state_reason,optional,dict,zstd"`
	Comparison  *string `parquet:"comparison_digest,optional,zstd"`
	VisitReason *string `parquet:"visit_reason,optional,zstd"`
	Wait        *int64  `parquet:"wait_seconds,optional,zstd"` // by which the visit was due; null for a first visit

	// Kinds of what a reader sees that changed, as "headline,text"; null unless the archive says it (warc.changes).
	Changes *string `parquet:"change_kinds,optional,dict,zstd"`
}

// rowWriter receives the sorted lines of an index and writes them as rows of a Parquet file.
type rowWriter struct {
	out  *parquet.GenericWriter[tableRow]
	rest []byte            // of a line that is not whole yet
	last map[string]string // digests by URLs that have the key of the last line
	key  string
	held []tableRow // of this key, in order: what changed with them may follow
	rows int64
}

// maxHeld is the maximum number of rows that wait. What changed is said a moment after the capture.
const maxHeld = 1000

// rowGroup is the number of rows that are kept in memory and written together.
const rowGroup = 100_000

func newRowWriter(out io.Writer) *rowWriter {
	return &rowWriter{
		out: parquet.NewGenericWriter[tableRow](out, parquet.MaxRowsPerRowGroup(rowGroup)), last: map[string]string{},
	}
}

// Write adds lines.
func (t *rowWriter) Write(p []byte) (int, error) {
	t.rest = append(t.rest, p...)
	for {
		line, rest, ok := bytes.Cut(t.rest, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		e, err := index.ParseEntry(string(line))
		if err != nil {
			return 0, err
		}
		if err := t.add(e); err != nil {
			return 0, err
		}
		t.rest = append(t.rest[:0], rest...)
	}
}

// add adds the row of a capture, or says of the last row of its URL what changed.
func (t *rowWriter) add(e index.Entry) error {
	if e.MIME == index.ChangeMIME {
		for i := len(t.held) - 1; i >= 0; i-- {
			if r := &t.held[i]; r.URL == e.URL {
				r.Changes = unlessEmpty(e.Visit.Changes)
				break
			}
		}
		return nil
	}
	if e.Key != t.key || len(t.held) >= maxHeld {
		if err := t.flush(); err != nil {
			return err
		}
	}
	t.held = append(t.held, t.row(e))
	return nil
}

// flush writes the rows that wait.
func (t *rowWriter) flush() error {
	n, err := t.out.Write(t.held)
	t.rows += int64(n)
	t.held = t.held[:0]
	return err
}

// row returns the row of a capture.
func (t *rowWriter) row(e index.Entry) tableRow {
	r := tableRow{
		Key: e.Key, URL: e.URL, Time: e.Date(), Revisit: e.MIME == index.RevisitMIME, Filename: e.Filename, Offset: e.Offset,
		Digest: unlessEmpty(e.Digest), Change: t.change(e),
	}
	if u, err := url.Parse(e.URL); err == nil {
		r.Host, r.Scheme, r.Path, r.Query = u.Hostname(), u.Scheme, u.EscapedPath(), unlessEmpty(u.RawQuery)
	}
	if u, err := uri.Parse(e.URL); err == nil {
		r.Domain = u.Domain()
	}
	if status, err := strconv.ParseInt(e.Status, 10, 32); err == nil {
		n := int32(status)
		r.Status = &n
	}
	if !r.Revisit && e.MIME != index.UnknownMIME {
		r.MIME = unlessEmpty(e.MIME)
	}
	if e.Length > 0 {
		r.Length = &e.Length
	}
	if v := e.Visit; v != nil {
		r.State, r.StateReason = unlessEmpty(v.State), unlessEmpty(v.StateReason)
		r.Comparison, r.VisitReason = unlessEmpty(v.Comparison), unlessEmpty(v.VisitReason)
		if wait, err := strconv.ParseInt(v.Wait, 10, 64); err == nil {
			r.Wait = &wait
		}
	}
	return r
}

// change compares the payload of a capture with the capture of the URL before.
func (t *rowWriter) change(e index.Entry) string {
	if e.Key != t.key {
		t.key = e.Key
		clear(t.last)
	}
	before, known := t.last[e.URL]
	t.last[e.URL] = e.Digest
	switch {
	case !known:
		return "first"
	case before == e.Digest:
		return "unchanged"
	}
	return "changed"
}

func unlessEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// writeTable writes an index as a Parquet file, which appears when it is complete.
func writeTable(
	ctx context.Context, paths []string, o index.Options, path string, report func(warc.Finding) error,
) (index.Summary, error) {
	out, err := fileio.Create(filepath.Clean(path), 0o644)
	if err != nil {
		return index.Summary{}, err
	}
	defer out.Discard()
	t := newRowWriter(out)
	o.Milliseconds, o.Visits = true, true
	sum, err := index.Build(ctx, paths, o, t, report)
	if err == nil {
		err = errors.Join(t.flush(), t.out.Close())
		sum.Entries = t.rows
	}
	if err == nil {
		err = out.Replace()
	}
	return sum, err
}
