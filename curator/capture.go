package curator

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/curator/replay"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// maxURIs is the maximum number of URIs in an order or a question, and of embeds in an answer.
const maxURIs = 200

// errTooMany says that an order or a question has too many URIs, or none.
var errTooMany = fmt.Errorf("write 1 to %d URIs", maxURIs)

// onceWork captures URIs at once, when somebody asks for it, and reports how far the captures are. It orders visits of
// the crawl, so scope, robots.txt and politeness apply as always.
type onceWork struct {
	Frontier *frontier.Frontier
	Archive  *index.LiveReader                  // nil: there is no live index
	Add      func(api.Seeds) (api.Added, error) // adds URIs on hosts of the configuration, due now
	Now      time.Time
}

// Start orders visits.
func (w onceWork) Start(o api.CaptureOrder) (out api.CaptureStarted, err error) {
	if len(o.URIs) == 0 || len(o.URIs) > maxURIs {
		return out, errTooMany
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
func (w onceWork) Progress(ctx context.Context, q api.CaptureQuestion) (rows []api.CaptureRow, err error) {
	if len(q.URIs) == 0 || len(q.URIs) > maxURIs {
		return nil, errTooMany
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
func (w onceWork) find(
	ctx context.Context, u uri.URI, since time.Time, embeds bool, row *api.CaptureRow,
) (err error) {
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
		row.Embeds, err = replay.Embeds(ctx, l, e, u, maxURIs)
		return err
	})
}
