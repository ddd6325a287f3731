package warcout

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/nlnwa/gowarc"

	"github.com/arcrawl/arcrawl/digest"
)

// Resource is a document about the crawl itself, which no server sent, such as its configuration. It becomes a resource
// record, as wget and wpull write their settings: indexes have it, and replay tools find it by its URI.
type Resource struct {
	Series      string // as of a [Visit]
	URI         string // "urn:…"
	Date        time.Time
	ContentType string
	Content     []byte

	lookup bool // see [Writer.WriteLookup]
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
	if r.lookup {
		kind = gowarc.Response
	}
	d := begin(buffer[:0], kind, id[:], stamp(r.Date))
	d.id = string(id[:])
	d.add(gowarc.WarcTargetURI, r.URI)
	d.addSum(gowarc.WarcPayloadDigest, digest.Of(r.Content))
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
