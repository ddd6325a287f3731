package warcout

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"github.com/nlnwa/gowarc/v3"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

// Field is one line of a warcinfo or metadata record. The name is a token of RFC 9110. The value is stored in the form
// of [Escape].
type Field struct{ Name, Value string }

// Visit is one exchange and the parts of it to store. At most one of Response and Revisit is set. Head is used with a
// Revisit or alone. There must be content for at least one record.
type Visit struct {
	Series   string // of the file; "" = the files of no series
	URI      uri.URI
	Date     time.Time  // when the exchange began; stored to the microsecond
	IP       netip.Addr // of the server; the zero Addr if it is not known
	Request  []byte     // the exact bytes sent; nil if nothing was sent
	Response *Response
	Revisit  *Revisit
	Head     []byte    // the exact head of a response whose body is not stored
	Security *Security // of the connection; nil without TLS
	Metadata []Field   // via, hopsFromSeed, seed, fetchTimeMs, …

	resource *Resource // see [Writer.WriteResource]; then nothing else is set
}

// Security holds what TLS negotiated for the connection of a visit.
type Security struct {
	Protocol    string // of the response, as in WARC-Protocol: "http/1.1", or "h2" for all records
	Version     string // as in WARC-Protocol: "tls/1.3"
	CipherSuite string // IANA name
}

// Response is a response to store with its body.
type Response struct {
	Block          io.Reader     // exact bytes of head and body; read once
	Size           int64         // size of Block in bytes; a different size is an error
	BlockDigest    digest.Digest // of Block; a different digest is an error
	InMemory       bool          // Block has been in memory since BlockDigest was made, so it need not be made again
	PayloadDigest  digest.Digest // of the transfer-decoded body as far as it is stored; zero if it is not known
	PayloadSHA256  digest.SHA256 // of the same, for the Origin; zero if it is not known
	PayloadSize    int64         // bytes of the transfer-decoded body, for the Origin
	Truncated      string        // reason for WARC-Truncated: length, time, disconnect; empty if complete
	IdentifiedType string        // media type recognised from the payload; empty if it was not examined
}

// Profile says why a revisit needs no body.
type Profile uint8

// The profiles. The zero Profile is not valid.
const (
	IdenticalPayload Profile = 1 + iota // the body was received and equals the original
	NotModified                         // the server answered 304
)

// String returns the URI of the profile in WARC/1.1.
func (p Profile) String() string {
	switch p {
	case IdenticalPayload:
		return "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
	case NotModified:
		return "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
	default:
		return fmt.Sprintf("warcout.Profile(%d)", uint8(p))
	}
}

// Revisit is a visit that found content that the archive already has.
type Revisit struct {
	Profile   Profile
	Head      []byte        // exact response head; for NotModified it is stored like Visit.Head
	Origin    digest.Origin // the response record that holds the payload; URI, Date and Payload are needed
	Container string        // name of the package that holds the original; empty if it is not in one
}

// Written says where a visit was stored.
type Written struct {
	// Origin is the visit's first record. If that is a response, a later Revisit can point at it. Otherwise Payload and
	// Size describe the original, or are zero.
	Origin digest.Origin
	// IsResponse says that the first record is a response record. Only then may a later Revisit point at it.
	IsResponse bool
	Bytes      int64 // of all records of the visit, compressed
}

// check finds contradictions, which are errors of the program.
func (v Visit) check() error {
	switch {
	case v.URI.IsZero():
		return errors.New("no URI")
	case v.Date.IsZero():
		return errors.New("no date")
	case v.Response != nil && v.Revisit != nil:
		return errors.New("both a response and a revisit")
	case v.Response != nil && len(v.Head) > 0:
		return errors.New("both a head and a response, which has the head")
	case v.Response == nil && v.Revisit == nil && len(v.Head)+len(v.Request)+len(v.Metadata) == 0:
		return errors.New("nothing to store")
	case v.Response != nil:
		return v.Response.check()
	case v.Revisit != nil:
		return v.Revisit.check(v.Head)
	}
	return nil
}

func (r Response) check() error {
	if r.Block == nil || r.Size < 0 || r.BlockDigest.IsZero() {
		return errors.New("response without block, size or block digest")
	}
	return nil
}

func (r Revisit) check(head []byte) error {
	switch {
	case r.Profile != IdenticalPayload && r.Profile != NotModified:
		return fmt.Errorf("revisit of unknown profile %d", r.Profile)
	case r.Origin.URI == "" || r.Origin.Date.IsZero() || r.Origin.Payload.IsZero():
		return errors.New("revisit without its original: URI, date and payload digest are needed")
	case r.Profile == IdenticalPayload && !IsResponse(r.Head):
		return errors.New("revisit by payload without a response head")
	case r.Profile == NotModified && len(r.Head) > 0 && len(head) > 0:
		return errors.New("revisit with two heads")
	}
	return nil
}

// Resource is a document about the crawl itself, which no server sent, such as its configuration. It becomes a resource
// record, as wget and wpull write their settings: indexes have it, and replay tools find it by its URI.
type Resource struct {
	Series      string // as of a [Visit]
	URI         string // "urn:…"
	Date        time.Time
	ContentType string
	Content     []byte

	lookup bool   // see [Writer.WriteLookup]
	note   bool   // see [Writer.WriteNote]
	about  string // id of the record that a note is about; empty if there is none
}

// Lookup is a look-up of a host name.
type Lookup struct {
	Series    string // as of a [Visit]
	Host      string
	Date      time.Time
	Addresses []netip.Addr
	TTLs      map[netip.Addr]uint32 // in seconds, of the addresses for which it is known
}

// WriteLookup stores a look-up as Heritrix stores one, and returns when it is synced to disk: as a response record of
// the URI "dns:HOST" with the type text/dns. Its block holds the time, and a line in the form of a master file (RFC
// 1035, 5.1) for each address. A line has no TTL if no DNS server said it, as of a name in /etc/hosts.
func (w *Writer) WriteLookup(now time.Time, l Lookup) (Written, error) {
	host := strings.TrimSuffix(l.Host, ".")
	b := append(l.Date.UTC().AppendFormat(nil, "20060102150405"), '\n')
	for _, a := range l.Addresses {
		kind := "AAAA"
		if a = a.Unmap().WithZone(""); a.Is4() {
			kind = "A"
		}
		b = append(append(b, host...), '.')
		if ttl, known := l.TTLs[a]; known {
			b = fmt.Appendf(b, "\t%d", ttl)
		}
		b = fmt.Appendf(b, "\tIN\t%s\t%s\n", kind, a)
	}
	return w.WriteResource(now, Resource{
		Series: l.Series, URI: "dns:" + host, Date: l.Date, ContentType: "text/dns", Content: b, lookup: true,
	})
}

// WriteNote stores what somebody found out about a record as a metadata record, and returns when it is synced to disk.
// The URI is a name such as "urn:change:URI", so that no reader takes the note for a capture. about is the id of the
// record, in any file; empty if there is none.
func (w *Writer) WriteNote(now time.Time, series, uri, about, contentType string, content []byte) (Written, error) {
	return w.WriteResource(now, Resource{
		Series: series, URI: uri, Date: now, ContentType: contentType, Content: content, note: true, about: about,
	})
}

// WriteResource stores a resource and returns when it is synced to disk, as [Writer.Write] does with a visit.
func (w *Writer) WriteResource(now time.Time, r Resource) (Written, error) {
	var err error
	switch {
	case r.URI == "" || r.Date.IsZero() || r.ContentType == "":
		err = fmt.Errorf("%w: no URI, date or type", ErrRefused)
	case len(r.Content) == 0:
		err = fmt.Errorf("%w: %w", ErrRefused, errors.New("it is empty"))
	}
	var out Written
	if err == nil {
		out, err = w.append(now, Visit{Series: r.Series, resource: &r})
	}
	if err != nil {
		return Written{}, fmt.Errorf("archive %s: %w", r.URI, err)
	}
	return out, nil
}

func (r Resource) compose(buffer []byte, infoID string, number uint32) ([]record, error) {
	id := [idLength]byte{}
	copy(id[:], infoID)
	setNumber(id[:], number, 0)
	kind := gowarc.Resource
	switch {
	case r.lookup:
		kind = gowarc.Response
	case r.note:
		kind = gowarc.Metadata
	}
	d := begin(buffer[:0], kind, id[:], stamp(r.Date))
	d.id = string(id[:])
	d.add(gowarc.WarcTargetURI, r.URI)
	if r.about != "" {
		d.add(gowarc.WarcRefersTo, "<"+r.about+">")
	}
	if !r.note {
		d.addSum(gowarc.WarcPayloadDigest, digest.Of(r.Content))
	}
	if r.lookup {
		d.add("WARC-Protocol", "dns")
	}
	one, err := d.with(r.ContentType, r.Content, infoID)
	return []record{one}, err
}

func (r Resource) origin(first record) digest.Origin {
	return digest.Origin{
		RecordID: first.id, URI: r.URI, Date: r.Date.UTC().Truncate(time.Microsecond), Payload: digest.Of(r.Content),
		Size: int64(len(r.Content)),
	}
}
