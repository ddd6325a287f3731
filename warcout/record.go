package warcout

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/nlnwa/gowarc"

	"github.com/arcrawl/arcrawl/digest"
)

// stampLayout is WARC-Date with the microseconds that WARC/1.1 allows.
const stampLayout = "2006-01-02T15:04:05.000000Z"

const (
	typeResponse = "application/http;msgtype=response"
	typeRequest  = "application/http;msgtype=request"
	typeFields   = "application/warc-fields"
	typeBytes    = "application/octet-stream"
)

// record is one WARC record on its way to the file. Its header lacks only WARC-Warcinfo-ID, which depends on the file.
type record struct {
	kind   gowarc.RecordType
	id     string // "urn:uuid:…"
	header []Field
	block  io.Reader
	size   int64
	sum    digest.Digest
}

// newRecord starts a record with the headers that every record has.
func newRecord(kind gowarc.RecordType, date time.Time, block []byte) (record, error) {
	id, err := uuid.NewRandomFromReader(rand.Reader)
	if err != nil {
		return record{}, fmt.Errorf("make a record id: %w", err)
	}
	r := record{kind: kind, id: id.URN()}
	r.add(gowarc.WarcRecordID, "<"+r.id+">")
	r.add(gowarc.WarcDate, stamp(date))
	return r.with(bytes.NewReader(block), int64(len(block)), digest.Of(block)), nil
}

func (r *record) add(name, value string) { r.header = append(r.header, Field{name, value}) }

// addIf adds a header that is left out when empty.
func (r *record) addIf(name, value string) {
	if value != "" {
		r.add(name, value)
	}
}

func (r record) with(block io.Reader, size int64, sum digest.Digest) record {
	r.block, r.size, r.sum = block, size, sum
	return r
}

// finish adds the headers that end every record. A record without content has no content type.
func (r record) finish(contentType, infoID string) record {
	if r.size > 0 {
		r.add(gowarc.ContentType, contentType)
	}
	r.add(gowarc.WarcBlockDigest, r.sum.String())
	if infoID != "" {
		r.add(gowarc.WarcWarcinfoID, "<"+infoID+">")
	}
	r.add(gowarc.ContentLength, strconv.FormatInt(r.size, 10))
	return r
}

// composer makes the records of one visit for one file.
type composer struct {
	v       Visit
	infoID  string
	records []record
}

// compose gives the records of a visit in the order in which they are written.
func compose(v Visit, infoID string) ([]record, error) {
	c := composer{v: v, infoID: infoID}
	steps := []func() error{c.main, c.request, c.evidence, c.metadata}
	if v.Response == nil && v.Revisit == nil {
		steps = []func() error{c.evidence, c.request, c.metadata}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return c.records, nil
}

// start begins a record of the visit and points it at the first one, if there is one already.
func (c *composer) start(kind gowarc.RecordType, block []byte) (record, error) {
	r, err := newRecord(kind, c.v.Date, block)
	if err != nil {
		return record{}, err
	}
	r.add(gowarc.WarcTargetURI, c.v.URI.String())
	if len(c.records) > 0 {
		r.add(gowarc.WarcConcurrentTo, "<"+c.records[0].id+">")
	}
	return r, nil
}

func (c *composer) emit(r record, contentType string) {
	c.records = append(c.records, r.finish(contentType, c.infoID))
}

// addIP says whom the visit spoke to. A zone names an interface of this machine and means nothing elsewhere.
func (c *composer) addIP(r *record) {
	if c.v.IP.IsValid() {
		r.add(gowarc.WarcIPAddress, c.v.IP.Unmap().WithZone("").String())
	}
}

func (c *composer) main() error {
	if c.v.Revisit != nil {
		return c.revisit(*c.v.Revisit)
	}
	return c.response(*c.v.Response)
}

func (c *composer) response(p Response) error {
	begin := make([]byte, len(httpVersion))
	n, err := io.ReadFull(p.Block, begin)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return fmt.Errorf("read block: %w", err)
	}
	kind, contentType := gowarc.Response, typeResponse
	if !looksLikeResponse(begin[:n]) {
		kind, contentType = gowarc.Metadata, typeBytes
	}
	r, err := c.start(kind, nil)
	if err != nil {
		return err
	}
	r = r.with(io.MultiReader(bytes.NewReader(begin[:n]), p.Block), p.Size, p.BlockDigest)
	c.addIP(&r)
	if kind == gowarc.Response {
		r.addIf(gowarc.WarcPayloadDigest, p.PayloadDigest.String())
		r.addIf(gowarc.WarcIdentifiedPayloadType, p.IdentifiedType)
	}
	r.addIf(gowarc.WarcTruncated, p.Truncated)
	c.emit(r, contentType)
	return nil
}

func (c *composer) revisit(p Revisit) error {
	head := p.Head
	if p.Profile == NotModified {
		head = nil
	}
	r, err := c.start(gowarc.Revisit, head)
	if err != nil {
		return err
	}
	c.addIP(&r)
	r.add(gowarc.WarcProfile, p.Profile.String())
	if p.Origin.RecordID != "" { // an index of an earlier archive may not tell it; WARC/1.1, 6.7.2, asks for it where it is known
		r.add(gowarc.WarcRefersTo, "<"+p.Origin.RecordID+">")
	}
	r.add(gowarc.WarcRefersToTargetURI, p.Origin.URI)
	r.add(gowarc.WarcRefersToDate, stamp(p.Origin.Date))
	r.add(gowarc.WarcPayloadDigest, p.Origin.Payload.String())
	if p.Profile == NotModified {
		r.addIf("WARC-Etag", representable(p.ETag))
		r.addIf("WARC-Last-Modified", representable(p.LastModified))
	}
	c.emit(r, typeResponse)
	return nil
}

func (c *composer) request() error {
	if len(c.v.Request) == 0 {
		return nil
	}
	// A request cut off in its first line would stop readers as a response without a status line does.
	kind, contentType := gowarc.Request, typeRequest
	if !looksLikeRequest(c.v.Request) {
		kind, contentType = gowarc.Metadata, typeBytes
	}
	r, err := c.start(kind, c.v.Request)
	if err != nil {
		return err
	}
	c.addIP(&r)
	c.emit(r, contentType)
	return nil
}

func (c *composer) evidence() error {
	head := c.v.Head
	if c.v.Revisit != nil && c.v.Revisit.Profile == NotModified && len(head) == 0 {
		head = c.v.Revisit.Head
	}
	if len(head) == 0 {
		return nil
	}
	contentType := typeResponse
	if !looksLikeResponse(head) {
		contentType = typeBytes
	}
	r, err := c.start(gowarc.Metadata, head)
	if err != nil {
		return err
	}
	c.addIP(&r)
	c.emit(r, contentType)
	return nil
}

func (c *composer) metadata() error {
	if len(c.v.Metadata) == 0 {
		return nil
	}
	block, err := fieldBlock(c.v.Metadata)
	if err != nil {
		return err
	}
	r, err := c.start(gowarc.Metadata, block)
	if err != nil {
		return err
	}
	c.emit(r, typeFields)
	return nil
}

// warcinfo is the first record of a file.
func warcinfo(now time.Time, name string, info []Field) (record, error) {
	block, err := fieldBlock(info)
	if err != nil {
		return record{}, err
	}
	r, err := newRecord(gowarc.Warcinfo, now, block)
	if err != nil {
		return record{}, err
	}
	r.add(gowarc.WarcFilename, name)
	return r.finish(typeFields, ""), nil
}

func stamp(t time.Time) string { return t.UTC().Format(stampLayout) }

// httpVersion begins every status line that readers of WARC files take.
const httpVersion = "HTTP/"

func looksLikeResponse(head []byte) bool { return bytes.HasPrefix(head, []byte(httpVersion)) }

func looksLikeRequest(b []byte) bool {
	line, _, found := bytes.Cut(b, []byte("\r\n"))
	parts := strings.Split(string(line), " ")
	return found && len(parts) == 3 && isToken(parts[0]) && strings.HasPrefix(parts[2], httpVersion)
}
