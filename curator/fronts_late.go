// This file makes pictures of versions that were never rendered, from the archive. The browser has no network: it gets
// what was archived nearest in time to the version, as far as a replay of it would show that.

package curator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/uri"
)

// OpenBrowser starts a browser without a network. The caller calls end when it is done.
type OpenBrowser func(c *config.Config) (b whatif.Browser, end func(), err error)

// The bounds of pictures that are made later.
const (
	maxOrdered   = 100 // that wait
	maxStates    = 1000
	maxAnswer    = 32 << 20 // bytes of an answer to the page; the request for a longer one fails
	maxAnswering = 4        // answers that are read at the same time
)

// openPainter returns what makes pictures later.
func (c *curation) openPainter() *painter {
	return &painter{paint: c.paint, open: func() (whatif.Browser, func(), error) {
		if c.browser == nil {
			return nil, nil, errors.New("this program was built without the part that renders pages")
		}
		return c.browser(c.o.Config().Config)
	}}
}

// orderPicture orders the picture of a version.
func (c *curation) orderPicture(o PictureOrder, role access.Role) (state PictureState, err error) {
	u, err := admin.ParseURI(o.URI)
	if err != nil {
		return state, err
	}
	if c.catalog.Archive == nil {
		return state, admin.Fault("%s", captures.NoIndex)
	}
	err = c.catalog.With(role, c.o.Now(), func(l *captures.Library) error {
		_, err := find(l, shotAsked{page: u, at: o.At, late: true})
		return err
	})
	if isMissing(err) {
		return state, admin.Unknown("the version of " + u.String() + " at " + o.At)
	}
	if err != nil {
		return state, err
	}
	return c.painter.Order(lateOrder{u, o.At})
}

// pictureState returns how far a picture is.
func (c *curation) pictureState(u uri.URI, at string) PictureState {
	name := lateName(u, at)
	if c.shots.late.Has(name) {
		return PictureState{State: done}
	}
	return c.painter.State(name)
}

// paint makes the picture of a version, and keeps it.
func (c *curation) paint(ctx context.Context, b whatif.Browser, o lateOrder) error {
	inForce := c.o.Config().Config
	set := inForce.For(config.About{URI: o.page, ContentType: "text/html", Now: c.o.Now()}).Render
	l, release, err := c.catalog.Archive.Open(c.o.Now())
	if err != nil {
		return err
	}
	defer release()
	page, err := exactly(l, o.page.String(), o.at)
	if err == nil && page.URL == "" {
		err = warc.ErrNotFound
	}
	if err != nil {
		return errors.New(captures.Sentence(err))
	}
	reading := make(chan struct{}, maxAnswering)
	shown, err := b.Load(ctx, whatif.Page{
		URI: o.page.String(), Limit: set.Limit, MaxRequests: set.MaxRequests, Picture: true,
		Answer: func(ctx context.Context, address string, main bool) whatif.Answer {
			reading <- struct{}{}
			defer func() { <-reading }()
			return c.archived(ctx, l, page, address, main)
		},
	})
	switch {
	case err != nil:
		return fmt.Errorf("the page could not be rendered: %w", err)
	case len(shown.Picture) == 0 || len(shown.Picture) > captures.MaxPicture:
		return errors.New("the browser made no picture, or one of more than 32 MB")
	}
	return c.shots.late.Put(o.name(), shown.Picture)
}

// archived answers a request of a page with the capture that is nearest in time. What the page may not show, by the
// rules of a replay, is not there.
func (c *curation) archived(
	ctx context.Context, l *captures.Library, page index.Entry, address string, main bool,
) (a whatif.Answer) {
	e := page
	if !main {
		var err error
		if e, err = l.NearestTo(address, page.Timestamp); err != nil || !permits(c.o.Config().Config, page, e, c.o.Now()) {
			return a
		}
	}
	_, head, body, err := openCapture(ctx, l, e)
	if err != nil {
		return a // the page is rendered without it, as in a replay
	}
	content, err := io.ReadAll(io.LimitReader(body, maxAnswer+1))
	if errors.Join(err, body.Close()) != nil || len(content) > maxAnswer {
		return a
	}
	fields := head.fields.Clone()
	fields.Del("Content-Encoding")
	if head.access == "" {
		fields.Del("Access-Control-Allow-Origin") // of another record, if at all
	}
	if head.status == http.StatusNotModified {
		head.status = http.StatusOK // what it confirmed
	}
	return whatif.Answer{Status: head.status, Header: fields, Body: content}
}
