package rebuild

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// readArchive adds to each history what only the archive knows: headers, digests and the record of the last payload.
// It does so for all URIs of the store, or for those that got missing visits.
func (b *rebuilder) readArchive(ctx context.Context) error {
	if b.missing && len(b.added) == 0 {
		return nil
	}
	library, err := b.open(ctx)
	if err != nil {
		return err
	}
	read := func(list []frontier.Entry) error {
		for i := range list {
			b.addCaptures(ctx, library, &list[i])
		}
		_, err := b.store.Import(b.now, true, list...)
		return errors.Join(err, ctx.Err())
	}
	if !b.missing {
		return b.eachBatch(frontier.Selection{}, read)
	}
	for some := range slices.Chunk(b.added, batchSize) {
		if err := b.eachBatch(frontier.Selection{URIs: some}, read); err != nil {
			return err
		}
	}
	return nil
}

// addCaptures adds the last captures of a URI to its history. It removes the origin of a payload that the archive
// does not hold, because no record may refer to a record that does not exist.
func (b *rebuilder) addCaptures(ctx context.Context, l *captures.Library, e *frontier.Entry) {
	if e.LastRead.IsZero() {
		return
	}
	capture, header, err := l.On(e.URI.String(), e.LastRead)
	read := toRecord(capture, header, err)
	if b.inferred[e.URI] {
		e.Origin = archivedOrigin(ctx, l, capture, *e)
	}
	last, payload := capture, read
	if read == nil || !isAt(read.Origin, e.Origin) {
		last, header, err = findPayload(l, e.Origin)
		payload = toRecord(last, header, err)
	}
	e.History = recaptured(e.History, read, payload)
	switch {
	case payload != nil:
		b.result.Payloads++
		e.Title = cmp.Or(titleOf(ctx, l, last, header, e.URI), e.Title)
	case e.Origin != (digest.Origin{}):
		b.result.Missing++
		b.result.name("the last payload of %s, archived at %s in %s at %d: %v", e.URI,
			e.Origin.Date.Format(time.RFC3339), cmp.Or(e.Origin.File, "an unknown file"), e.Origin.Offset,
			cmp.Or(err, errNoRecord))
		e.Origin = digest.Origin{}
	}
}

var errNoRecord = errors.New("there is no such record")

// titleBytes is how much of a page is read for its title.
const titleBytes = 256 << 10

// titleOf returns the title of an archived page. Only the beginning of a page is read, and nothing of what is not HTML,
// because a rebuild must not take as long as reading the whole archive. A page that cannot be read has no title: the
// crawl notes it when the page changes.
func titleOf(
	ctx context.Context, l *captures.Library, c captures.Capture, header http.Header, u uri.URI,
) string {
	if t := header.Get("Content-Type"); t != "" && !digest.IsHTML(t) {
		return ""
	}
	payload, err := l.Unchecked(c)
	if err != nil {
		return ""
	}
	defer payload.Close()
	doc := discover.Document{URI: u, Status: payload.Head.Status, Header: header}
	page, _ := discover.Links(ctx, doc, payload, discover.Bounds{MaxLinks: 1, MaxBytes: titleBytes})
	return page.Title
}

// archivedOrigin returns the record that holds the last payload of a URI whose lines do not name it. That is the
// capture of the last visit that read the body, or the original of this revisit. If that visit was not archived because
// it found the content unchanged, it is the record that is known.
func archivedOrigin(ctx context.Context, l *captures.Library, c captures.Capture, e frontier.Entry) digest.Origin {
	if c.URL != "" {
		original, err := l.Original(ctx, c)
		if r := toRecord(original, nil, err); r != nil && r.Origin.Payload == e.Payload {
			return r.Origin
		}
	}
	if e.Origin.Payload != e.Payload && e.LastChange.Equal(e.LastRead) {
		return digest.Origin{URI: e.URI.String(), Date: e.LastRead, Payload: e.Payload} // counts as missing
	}
	return e.Origin
}

// isAt reports whether the record at an origin is the one that another origin, which comes from a log, names.
func isAt(o, named digest.Origin) bool {
	return named.File != "" && o.File == named.File && o.Offset == named.Offset && o.URI == named.URI
}

// findPayload finds the record of an origin that comes from a log: by its file and offset, or by its URI and date.
func findPayload(l *captures.Library, o digest.Origin) (captures.Capture, http.Header, error) {
	if o.File != "" {
		return l.At(o.URI, o.File, o.Offset)
	}
	return l.On(o.URI, o.Date)
}

// toRecord returns a capture as a record of a history. It returns nil if there is no capture, or if it cannot be read.
func toRecord(c captures.Capture, header http.Header, err error) *archivedRecord {
	payload, errDigest := digest.Parse(c.Digest)
	if err != nil || errDigest != nil {
		return nil
	}
	r := &archivedRecord{Header: header, Metadata: map[string]string{}, Origin: digest.Origin{
		RecordID: c.RecordID, URI: c.URL, Date: c.Date, Payload: payload,
		File: strings.TrimSuffix(c.Filename, warc.OpenSuffix), Offset: c.Offset, Length: c.Length, Size: c.Size,
		Framing: c.Framing,
	}}
	for _, field := range c.Why {
		r.Metadata[field.Name] = field.Value
	}
	return r
}
