package warcout

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/nlnwa/gowarc/v3"

	"github.com/arcrawl/arcrawl/digest"
)

const (
	typeResponse = "application/http;msgtype=response"
	typeRequest  = "application/http;msgtype=request"
	typeFields   = "application/warc-fields"
	typeBytes    = "application/octet-stream"
)

// composer composes the records of one visit for one file.
type composer struct {
	v       Visit
	date    string // of the visit, as records write it
	number  uint32 // of the visit in the file, from 1
	infoID  string
	joined  bool           // the metadata record has the head
	plain   bool           // the usual request was sent: the metadata record says so, with its conditions
	with    []byte         // the conditions
	id      [idLength]byte // of the record begun last
	text    []byte         // the records so far that are in memory; the next one follows
	records []record
}

// compose returns the records of a visit in the order in which they are written. number is the number of the visit in
// its file, and usual the request that the file shows. The texts use buffer as long as it suffices.
func compose(buffer []byte, v Visit, infoID string, number uint32, usual Usual) ([]record, error) {
	if v.resource != nil {
		return v.resource.compose(buffer, infoID, number)
	}
	c := composer{
		v: v, date: stamp(v.Date), number: number, infoID: infoID, text: buffer[:0], records: make([]record, 0, maxRecords),
	}
	copy(c.id[:], infoID)
	if v.Revisit != nil {
		c.joined = fieldsCanHold(c.head())
		c.with, c.plain = usual.conditions(v.Request, v.URI)
	}
	steps := [...]func() error{c.main, c.request, c.evidence, c.metadata}
	if v.Response == nil && v.Revisit == nil {
		steps = [...]func() error{c.evidence, c.request, nothing, c.metadata}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return c.records, nil
}

func nothing() error { return nil }

// start begins a record of the visit. The first record has the headers of the whole visit; the others point at it.
// A metadata record that holds what was sent or received has a URI of its own: other indexers would take it for a
// capture of the page.
func (c *composer) start(kind gowarc.RecordType, fields bool) draft {
	setNumber(c.id[:], c.number, len(c.records))
	d := begin(c.text, kind, c.id[:], c.date)
	prefix := ""
	if kind == gowarc.Metadata && !fields {
		prefix = EvidencePrefix
	}
	d.addWithin(gowarc.WarcTargetURI, prefix, c.v.URI.String(), "")
	if len(c.records) > 0 {
		d.addID(gowarc.WarcConcurrentTo, c.records[0].id)
		return d
	}
	d.id = string(c.id[:])
	if c.v.IP.IsValid() { // without the zone, which is an interface of this machine
		d.add(gowarc.WarcIPAddress, c.v.IP.Unmap().WithZone("").String())
	}
	return d
}

// emit adds a record whose block is in memory.
func (c *composer) emit(d draft, contentType string, block []byte) error {
	r, err := d.with(contentType, block, c.info())
	c.records, c.text = append(c.records, r), r.text
	return err
}

// info returns the id of the file's warcinfo record for the first record of a visit, and nothing for the others.
func (c *composer) info() string {
	if len(c.records) > 0 {
		return ""
	}
	return c.infoID
}

// main adds the record of the response or revisit.
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
	if !IsResponse(begin[:n]) {
		kind, contentType = gowarc.Metadata, typeBytes
	}
	d := c.start(kind, false)
	if kind == gowarc.Response {
		if !p.PayloadDigest.IsZero() {
			d.addSum(gowarc.WarcPayloadDigest, p.PayloadDigest)
		}
		d.addIf(gowarc.WarcIdentifiedPayloadType, p.IdentifiedType)
	}
	d.addIf(gowarc.WarcTruncated, p.Truncated)
	c.connection(&d, true)
	block := io.MultiReader(bytes.NewReader(begin[:n]), p.Block)
	r, err := d.streaming(contentType, block, p.Size, p.BlockDigest, c.info())
	if p.InMemory {
		r.sum = digest.Digest{}
	}
	c.records, c.text = append(c.records, r), r.text
	return err
}

func (c *composer) revisit(p Revisit) error {
	head := p.Head
	if p.Profile == NotModified {
		head = nil
	}
	d := c.start(gowarc.Revisit, false)
	d.add(gowarc.WarcProfile, p.Profile.String())
	if p.Origin.RecordID != "" { // WARC/1.1, 6.7.2, asks for it if known; an index of an earlier archive may not have it
		d.addID(gowarc.WarcRefersTo, p.Origin.RecordID)
	}
	d.add(gowarc.WarcRefersToTargetURI, p.Origin.URI)
	d.add(gowarc.WarcRefersToDate, originalStamp(p.Origin))
	if p.Container != "" { // as Browsertrix writes it: the package in which a replay tool looks for the original
		d.addIf("WARC-Refers-To-Container", representable("file://"+p.Container))
	}
	d.addSum(gowarc.WarcPayloadDigest, p.Origin.Payload)
	if p.Profile == IdenticalPayload { // WARC/1.1, 6.7.2, asks for it where a body is left out
		d.add(gowarc.WarcTruncated, "length")
	}
	c.connection(&d, true)
	return c.emit(d, typeResponse, head)
}

// originalStamp returns the date of an original as its record has it. Our own records have microseconds. Other tools
// write no fraction of a second, or milliseconds. Then the shortest form with the same date is the one in the record,
// except for one of a thousand records of tools that write milliseconds. Our own records are known by their ids: no
// other tool is known to write UUIDs of version 8.
func originalStamp(o digest.Origin) string {
	const version = len("urn:uuid:12345678-1234-")
	own := len(o.RecordID) == idLength && o.RecordID[version] == '8'
	switch at := o.Date.UTC(); {
	case own || at.Nanosecond()%1e6 >= 1e3:
		return stamp(at)
	case at.Nanosecond() >= 1e6:
		return at.Format("2006-01-02T15:04:05.000Z")
	default:
		return at.Format("2006-01-02T15:04:05Z")
	}
}

func (c *composer) request() error {
	if len(c.v.Request) == 0 || c.plain {
		return nil
	}
	// A request cut off in its first line would stop readers, like a response without a status line.
	kind, contentType := gowarc.Request, typeRequest
	if !looksLikeRequest(c.v.Request) {
		kind, contentType = gowarc.Metadata, typeBytes
	}
	d := c.start(kind, false)
	c.connection(&d, false)
	return c.emit(d, contentType, c.v.Request)
}

// connection adds what TLS negotiated, as the community's proposals for WARC-Protocol and WARC-Cipher-Suite have it.
func (c *composer) connection(d *draft, response bool) {
	if s := c.v.Security; s != nil {
		if response || s.Protocol == "h2" {
			d.addIf("WARC-Protocol", s.Protocol)
		} else {
			d.add("WARC-Protocol", "http/1.1")
		}
		d.addIf("WARC-Protocol", s.Version)
		d.addIf("WARC-Cipher-Suite", s.CipherSuite)
	}
}

// head returns the head of a response whose body is not kept.
func (c *composer) head() []byte {
	if c.v.Revisit != nil && c.v.Revisit.Profile == NotModified && len(c.v.Head) == 0 {
		return c.v.Revisit.Head
	}
	return c.v.Head
}

// evidence adds a record with the head of a response whose body is not kept, unless the metadata record has it.
func (c *composer) evidence() error {
	head := c.head()
	if len(head) == 0 || c.joined {
		return nil
	}
	contentType := typeResponse
	if !IsResponse(head) {
		contentType = typeBytes
	}
	return c.emit(c.start(gowarc.Metadata, false), contentType, head)
}

func (c *composer) metadata() error {
	block, err := fieldBlock(c.v.Metadata)
	if err != nil {
		return err
	}
	if c.joined {
		block = appendHead(block, c.head())
	}
	if c.plain {
		block = appendConditions(block, c.with)
	}
	if len(block) == 0 {
		return nil
	}
	return c.emit(c.start(gowarc.Metadata, true), typeFields, block)
}

// warcinfo returns the first record of a file.
func warcinfo(now time.Time, name string, info []Field) (record, error) {
	block, err := fieldBlock(info)
	if err != nil {
		return record{}, err
	}
	id, err := newInfoID()
	if err != nil {
		return record{}, err
	}
	d := begin(nil, gowarc.Warcinfo, []byte(id), stamp(now))
	d.id = id
	d.add(gowarc.WarcFilename, name)
	return d.with(typeFields, block, "")
}

// EvidencePrefix begins the target URI of evidence; the URI of the visit follows.
const EvidencePrefix = "urn:evidence:"

// httpVersion begins every status line that readers of WARC files accept.
const httpVersion = "HTTP/"

// IsResponse reports whether the head of an answer can be in a response record or a revisit record. The status line
// must begin with "HTTP/" in capital letters, because several readers of WARC files stop at a record without that.
// [Writer.Write] keeps any other answer as evidence, and refuses a revisit with such a head.
func IsResponse(head []byte) bool { return bytes.HasPrefix(head, []byte(httpVersion)) }

func looksLikeRequest(b []byte) bool {
	line, _, found := bytes.Cut(b, []byte("\r\n"))
	method, rest, two := bytes.Cut(line, []byte(" "))
	_, version, three := bytes.Cut(rest, []byte(" "))
	return found && two && three && isToken(string(method)) &&
		bytes.HasPrefix(version, []byte(httpVersion)) && !bytes.Contains(version, []byte(" "))
}
