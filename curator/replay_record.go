// This file shows the records of one archived version as the WARC file has them: their headers, and the heads of the
// request and the response.

package curator

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/uri"
)

// maxShown is the maximum size of a header or head that is shown, in bytes.
const maxShown = 64 << 10

// Record returns the records of the version of a URI that is nearest to a timestamp. A record that cannot be read is a
// problem in the answer.
func (c *catalog) Record(
	ctx context.Context, role access.Role, u uri.URI, at string, now time.Time,
) (out Record, err error) {
	out = Record{URI: u.String(), Parts: []RecordPart{}}
	if c.Archive == nil {
		out.Problem = captures.NoIndex
		return out, nil
	}
	err = c.nearest(role, u.String(), at, now, func(l *captures.Library, e index.Entry) (err error) {
		out.URI, out.Version = e.URL, versionOf(e, false)
		if out.Parts, err = recordParts(l, e); err != nil {
			out.Problem = captures.Sentence(err)
			return nil
		}
		if !slices.ContainsFunc(out.Parts, func(p RecordPart) bool { return p.Type == "request" }) {
			usual, err := usualRequest(l, e)
			if err != nil {
				out.Notes = append(out.Notes, "The request of this version cannot be read. "+captures.Sentence(err))
			}
			out.Parts = append(out.Parts, usual...)
			if len(usual) == 0 && err == nil {
				out.Notes = append(out.Notes, "No request record follows the record of this version.")
			}
		}
		original, err := l.OriginalOf(ctx, e)
		if err == nil && original != e {
			out.Original, err = recordParts(l, original)
		}
		if err != nil {
			out.Notes = append(out.Notes, "The record with the payload cannot be read. "+captures.Sentence(err))
		}
		return ctx.Err()
	})
	return out, err
}

// usualRequest returns the request of a version that has no request record, because the first record of its file shows
// it. It returns nothing if the version does not say so.
func usualRequest(l *captures.Library, e index.Entry) ([]RecordPart, error) {
	text, err := l.UsualRequest(e)
	if err != nil || text == "" {
		return nil, err
	}
	p := RecordPart{Type: "request", File: e.Filename, Size: int64(len(text))}
	p.Header = "No record of its own. The usual request, from the warcinfo record at the beginning of the file, and what the\n" +
		"metadata record says of it.\n"
	p.Head = readable(text, &p.Cut)
	return []RecordPart{p}, nil
}

// recordParts returns the record of an entry and the records that belong to it.
func recordParts(l *captures.Library, e index.Entry) ([]RecordPart, error) {
	out := []RecordPart{}
	err := l.Group(e, func(_ *warc.Reader, rec *warc.Record) error {
		p, err := partOf(rec)
		p.File = e.Filename
		if out = append(out, p); err != nil && len(out) == 1 {
			return warc.Damaged(err)
		}
		return nil
	})
	return out, err
}

// partOf describes a record. It reads no more than the beginning of the block.
func partOf(rec *warc.Record) (RecordPart, error) {
	p := RecordPart{Type: captures.Harmless(rec.Header.Type()), Offset: rec.Offset, Size: rec.Size}
	var b strings.Builder
	fmt.Fprintf(&b, "WARC/%s\n", rec.Version)
	for _, f := range rec.Header {
		fmt.Fprintf(&b, "%s: %s\n", f.Name, f.Value)
	}
	p.Header = readable(b.String(), &p.Cut)
	isText := strings.HasPrefix(rec.Header.Get("Content-Type"), "application/warc-fields")
	if !rec.Header.IsHTTP() && !isText {
		return p, nil
	}
	begin, err := io.ReadAll(io.LimitReader(rec, maxShown+1))
	if !isText {
		begin = headOf(begin)
	}
	p.Head = readable(string(begin), &p.Cut)
	return p, err
}

// headOf returns the beginning of a message up to the empty line.
func headOf(text []byte) []byte {
	for _, end := range []string{"\r\n\r\n", "\n\n"} {
		if i := bytes.Index(text, []byte(end)); i >= 0 {
			return text[:i+len(end)/2]
		}
	}
	return text
}

// readable returns a text as it is shown: its beginning, without characters that could mislead a reader.
func readable(text string, cut *bool) string {
	if len(text) > maxShown {
		text, *cut = text[:maxShown], true
	}
	return captures.Harmless(strings.ReplaceAll(text, "\r\n", "\n"))
}
