// Package once captures URIs at once, when somebody asks for it, and says how far the captures are. It orders visits of
// the crawl, so scope, robots.txt and politeness apply as always.
package once

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/compare"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// MaxURIs is the maximum number of URIs in an order or a question, and of embeds in an answer.
const MaxURIs = 200

// ErrTooMany says that an order or a question has too many URIs, or none.
var ErrTooMany = fmt.Errorf("write 1 to %d URIs", MaxURIs)

// Work answers requests about captures.
type Work struct {
	Frontier *frontier.Frontier
	Archive  *index.LiveReader                  // nil: there is no live index
	Add      func(api.Seeds) (api.Added, error) // adds URIs on hosts of the configuration, due now
	Now      time.Time
}

// Start orders visits.
func (w Work) Start(o api.CaptureOrder) (out api.CaptureStarted, err error) {
	if len(o.URIs) == 0 || len(o.URIs) > MaxURIs {
		return out, ErrTooMany
	}
	out = api.CaptureStarted{Since: w.Now.UTC(), URIs: []string{}}
	if !o.Embeds {
		added, err := w.Add(api.Seeds{URIs: o.URIs})
		if err != nil {
			return out, err
		}
		out.Outside, out.Faults = added.Outside, added.Faults
	}
	var force frontier.Selection
	for _, text := range o.URIs {
		u, err := uri.Parse(text)
		if err != nil || slices.Contains(out.Outside, u.String()) || slices.Contains(force.URIs, u) {
			continue
		}
		_, known, err := w.Frontier.Get(u)
		switch {
		case err != nil:
			return out, err
		case known:
			force.URIs, out.URIs = append(force.URIs, u), append(out.URIs, u.String())
		default:
			out.Outside = append(out.Outside, u.String())
		}
	}
	if len(force.URIs) == 0 {
		return out, nil
	}
	for from := frontier.Cursor(""); ; {
		_, next, err := w.Frontier.Steer(w.Now, force, frontier.Action{Verb: frontier.Force}, from)
		if err != nil || next == "" {
			return out, err
		}
		from = next
	}
}

// Progress says how far the captures are.
func (w Work) Progress(ctx context.Context, q api.CaptureQuestion) (rows []api.CaptureRow, err error) {
	if len(q.URIs) == 0 || len(q.URIs) > MaxURIs {
		return nil, ErrTooMany
	}
	for _, text := range q.URIs {
		u, err := uri.Parse(text)
		if err != nil {
			continue // Start has reported it
		}
		row := api.CaptureRow{URI: u.String(), State: "waiting"}
		r, known, err := w.Frontier.Get(u)
		if err != nil {
			return nil, err
		}
		if known {
			row.Due = api.Moment(r.Due)
		}
		if known && !r.LastVisit.Before(q.Since) {
			row.State, row.Status, row.Why = "failed", r.LastStatus, r.LastError
			if err := w.find(ctx, u, q.Since, len(q.URIs) == 1, &row); err != nil {
				return nil, err
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// find fills a row from the newest capture of a URI, if it is not older than since.
func (w Work) find(ctx context.Context, u uri.URI, since time.Time, embeds bool, row *api.CaptureRow) error {
	if w.Archive == nil {
		row.Why = index.NoIndex
		return nil
	}
	return w.Archive.Lookup(u, w.Now, func(l *index.Library, all []index.Entry) error {
		if len(all) == 0 {
			return nil
		}
		e := all[len(all)-1]
		if e.Date().Before(since.Truncate(time.Second)) {
			if row.Status < http.StatusOK || row.Status >= http.StatusBadRequest {
				return nil
			}
			row.Why = "the page is the same as its last version"
		} else {
			row.Why = ""
		}
		row.State = "archived"
		row.View = "/#/view?u=" + url.QueryEscape(e.URL) + "&at=" + e.Timestamp
		if !embeds {
			return nil
		}
		content, mime, err := compare.ReadContent(ctx, l, e)
		if err != nil {
			return errors.Join(ctx.Err()) // the page of the version says what is wrong with it
		}
		doc := discover.Document{URI: u, Status: http.StatusOK, Header: http.Header{"Content-Type": {mime}}}
		page, err := discover.Links(doc, bytes.NewReader(content), discover.Bounds{})
		for _, link := range page.Links {
			if link.Hop == uri.Embed && len(row.Embeds) < MaxURIs {
				row.Embeds = append(row.Embeds, link.URI.String())
			}
		}
		return err
	})
}
