package warcout

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

// Field is one line of a warcinfo or metadata record. The name is a token of RFC 9110; the value is stored as [Escape]
// leaves it.
type Field struct{ Name, Value string }

// Visit is one exchange and what is to be kept of it. At most one of Response and Revisit is set; Head goes with a
// Revisit or stands alone. At least one record must come of it.
type Visit struct {
	URI      uri.URI
	Date     time.Time  // when the exchange began; stored to the microsecond
	IP       netip.Addr // of the server; the zero Addr when it is not known
	Request  []byte     // the exact bytes sent; nil when nothing was
	Response *Response
	Revisit  *Revisit
	Head     []byte  // the exact head of a response whose body is not kept
	Metadata []Field // via, hopsFromSeed, seed, fetchTimeMs, …
}

// Response is a response to be stored whole.
type Response struct {
	Block          io.Reader     // exact bytes of head and body; read once
	Size           int64         // of Block, in bytes; a Block that is shorter or longer is an error
	BlockDigest    digest.Digest // of Block; one that does not fit is an error
	PayloadDigest  digest.Digest // of the transfer-decoded body; zero when it is not complete
	PayloadSize    int64         // bytes of the transfer-decoded body, for the Origin
	Truncated      string        // reason for WARC-Truncated: length, time, disconnect; empty when complete
	IdentifiedType string        // media type found by looking at the payload; empty when nobody looked
}

// Profile says why a revisit needs no body.
type Profile uint8

// The profiles. The zero Profile is none.
const (
	IdenticalPayload Profile = 1 + iota // the body came, and is the original's
	NotModified                         // the server answered 304
)

// String is the profile's URI, as WARC/1.1 has it.
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

// Revisit is a visit that found what is in the archive already.
type Revisit struct {
	Profile            Profile
	Head               []byte        // exact response head; for NotModified it becomes evidence, as Visit.Head does
	Origin             digest.Origin // the response record that holds the payload; URI, Date and Payload are needed
	ETag, LastModified string        // for NotModified: the validators that were sent, as the server once gave them
}

// Written says where a visit was put.
type Written struct {
	// Origin is the visit's first record. Of a response it is what a later Revisit points at; for others Payload and Size
	// are those of the original, or nothing.
	Origin digest.Origin
	Bytes  int64 // of all records of the visit, compressed
}

// check finds what no visit of ours may be.
func (v Visit) check() error {
	switch {
	case v.URI.IsZero():
		return errors.New("no URI")
	case v.Date.IsZero():
		return errors.New("no date")
	case v.Response != nil && v.Revisit != nil:
		return errors.New("both a response and a revisit")
	case v.Response != nil && len(v.Head) > 0:
		return errors.New("a head beside the response that has it")
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
		return errors.New("revisit that does not say of what: URI, date and payload digest are needed")
	case r.Profile == IdenticalPayload && !looksLikeResponse(r.Head):
		return errors.New("revisit by payload without a response head")
	case r.Profile == NotModified && len(r.Head) > 0 && len(head) > 0:
		return errors.New("revisit with two heads")
	}
	return nil
}
