package curator

import (
	"context"
	"fmt"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/uri"
)

// shotAsked names a picture: of a page as a browser has shown it, or the payload of a URI that is a picture itself.
type shotAsked struct {
	page     uri.URI
	at       string // timestamp of the picture, or of the version if it was made later; "" is the newest
	rendered bool
	late     bool // it was made later
}

// address returns the address of the record that says which series the picture is in.
func (q shotAsked) address() string {
	if q.rendered && !q.late {
		return fullPage + q.page.String()
	}
	return q.page.String()
}

// find returns the capture that is nearest to the time of a picture. The error wraps [warc.ErrNotFound] if there is
// none.
func find(l *captures.Library, q shotAsked) (index.Entry, error) {
	e, err := exactly(l, q.address(), q.at)
	if err == nil && e.URL == "" {
		e, err = l.NearestTo(q.address(), q.at)
	}
	if err == nil && q.late && e.Timestamp != q.at {
		err = fmt.Errorf("%w: %s", warc.ErrNotFound, q.page)
	}
	return e, err
}

// exactly returns the last capture of an address with a timestamp. It reads no other captures of it.
func exactly(l *captures.Library, address, at string) (found index.Entry, err error) {
	if len(at) != len(index.DateLayout) {
		return found, nil
	}
	err = l.During(address, at, func(e index.Entry) {
		if e.URL == address && index.Compare(e, found) > 0 {
			found = e
		}
	})
	return found, err
}

// large returns a picture as it is, and its media type.
func (c *curation) large(
	ctx context.Context, q shotAsked, role access.Role,
) (content []byte, mime string, err error) {
	if c.catalog.Archive == nil {
		return nil, "", captures.ErrNoPicture
	}
	err = c.catalog.With(role, c.o.Now(), func(l *captures.Library) error {
		e, err := find(l, q)
		if err != nil {
			return err
		}
		content, mime, err = c.read(ctx, l, q, e)
		return err
	})
	return content, mime, err
}

// read returns the picture that an entry of the archive is about.
func (c *curation) read(
	ctx context.Context, l *captures.Library, q shotAsked, e index.Entry,
) (content []byte, mime string, err error) {
	if !q.late {
		return captures.ReadPicture(ctx, l, e)
	}
	content, ok := c.shots.late.Get(lateName(q.page, q.at))
	if !ok {
		return nil, "", fmt.Errorf("%w: no picture was made of this version", warc.ErrNotFound)
	}
	return content, captures.PictureType(content), nil
}

// small returns a small picture as JPEG. Once it was made, it costs a look into the index and a file.
func (c *curation) small(ctx context.Context, z size, q shotAsked, role access.Role) (content []byte, err error) {
	if c.catalog.Archive == nil {
		return nil, captures.ErrNoPicture
	}
	err = c.catalog.With(role, c.o.Now(), func(l *captures.Library) error {
		e, err := find(l, q)
		if err != nil {
			return err
		}
		name := shotName(fmt.Sprint("late ", q.late), q.address(), e.Timestamp) + ".jpg"
		content, err = c.shots.Small(ctx, z, name, func() ([]byte, error) {
			large, _, err := c.read(ctx, l, q, e)
			return large, err
		})
		return err
	})
	return content, err
}
