package warcout

import (
	"errors"
	"fmt"
	"time"

	"github.com/nlnwa/gowarc"

	"github.com/arcrawl/arcrawl/digest"
)

// Resource is a document about the crawl itself, which no server sent, such as its configuration. It becomes a resource
// record, as wget and wpull write their settings: indexes have it, and replay tools find it by its URI.
type Resource struct {
	URI         string // "urn:…"
	Date        time.Time
	ContentType string
	Content     []byte
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
		out, err = w.append(now, Visit{resource: &r})
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
	d := begin(buffer[:0], gowarc.Resource, id[:], stamp(r.Date))
	d.id = string(id[:])
	d.add(gowarc.WarcTargetURI, r.URI)
	d.addSum(gowarc.WarcPayloadDigest, digest.Of(r.Content))
	one, err := d.with(r.ContentType, r.Content, infoID)
	return []record{one}, err
}

func (r Resource) origin(first record) digest.Origin {
	return digest.Origin{
		RecordID: first.id, URI: r.URI, Date: r.Date.UTC().Truncate(time.Microsecond), Payload: digest.Of(r.Content),
		Size: int64(len(r.Content)),
	}
}
