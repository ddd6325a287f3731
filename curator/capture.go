package curator

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// maxURIs is the maximum number of URIs in an order or a question, and of embeds in an answer.
const maxURIs = 200

// errTooMany says that an order or a question has too many URIs, or none.
var errTooMany = fmt.Errorf("write 1 to %d URIs", maxURIs)

// startCaptures orders visits of the crawl now, so scope, robots.txt and politeness apply as always. URIs on hosts of
// the configuration that are not known are added.
func (c *curation) startCaptures(o CaptureOrder) (out api.CaptureStarted, err error) {
	now := c.o.Now()
	if len(o.URIs) == 0 || len(o.URIs) > maxURIs {
		return out, errTooMany
	}
	out = api.CaptureStarted{Since: now.UTC(), URIs: []string{}}
	wanted := readAddresses(o.URIs, &out)
	if !o.Embeds {
		list := api.Seeds{}
		for _, u := range wanted {
			list.URIs = append(list.URIs, u.String())
		}
		added, err := c.window.AddSeeds(list)
		if err != nil {
			return out, err
		}
		out.Outside = added.Outside
	}
	var force frontier.Selection
	for _, u := range wanted {
		if slices.Contains(out.Outside, u.String()) {
			continue
		}
		_, known, err := c.o.Frontier.Get(u)
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
		_, next, err := c.o.Frontier.Steer(now, force, frontier.Action{Verb: frontier.Force}, from)
		if err != nil || next == "" {
			return out, err
		}
		from = next
	}
}

// readAddresses returns each address once. It adds to out in words which texts are not addresses.
func readAddresses(texts []string, out *api.CaptureStarted) (all []uri.URI) {
	for _, text := range texts {
		var e seedEntry
		if problem, remedy := e.setURI(text); problem != "" {
			out.Faults = append(out.Faults, fmt.Sprintf("%.100q %s; %s", text, problem, remedy))
		} else if !slices.Contains(all, e.uri) {
			all = append(all, e.uri)
		}
	}
	return all
}

// captureProgress says how far captures are.
func (c *curation) captureProgress(ctx context.Context, q api.CaptureQuestion) (rows []api.CaptureRow, err error) {
	if len(q.URIs) == 0 || len(q.URIs) > maxURIs {
		return nil, errTooMany
	}
	for _, text := range q.URIs {
		u, err := uri.Parse(text)
		if err != nil {
			continue // Start has reported it
		}
		row := api.CaptureRow{URI: u.String(), State: "waiting"}
		r, known, err := c.o.Frontier.Get(u)
		if err != nil {
			return nil, err
		}
		if known {
			row.Due = api.Moment(r.Due)
		}
		if out := crawler.KeptOut(r); known && out != "" && r.Due.After(c.o.Now()) { // since the order, or it would be due
			row.State, row.Status, row.Why = "failed", r.LastStatus, "not visited, because "+out
			rows = append(rows, row)
			continue
		}
		if known && !r.LastVisit.Before(q.Since) {
			row.State, row.Status, row.Why = "failed", r.LastStatus, whyFailed(r)
			if err := c.findCapture(ctx, u, q.Since, len(q.URIs) == 1, &row); err != nil {
				return nil, err
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// whyFailed says in words why the last visit of a URI failed; "" if it did not.
func whyFailed(r frontier.Record) string {
	if text := http.StatusText(r.LastStatus); r.LastStatus >= http.StatusBadRequest && r.LastError == "" && text != "" {
		return fmt.Sprintf("the site answered %d %s", r.LastStatus, text)
	}
	return r.LastError
}

// findCapture fills a row from the newest capture of a URI, if it is not older than since.
func (c *curation) findCapture(
	ctx context.Context, u uri.URI, since time.Time, embeds bool, row *api.CaptureRow,
) (err error) {
	if c.catalog.Archive == nil {
		row.Why = cmp.Or(row.Why, captures.NoIndex)
		return nil
	}
	return c.catalog.With(access.CallerOf(ctx).Role, c.o.Now(), func(l *captures.Library) error {
		all, _, err := l.Newest(u.String(), 1)
		if err != nil || len(all) == 0 {
			return err
		}
		e := all[0]
		if e.Date().Before(since.Truncate(time.Second)) {
			if row.Status < http.StatusOK || row.Status >= http.StatusBadRequest {
				return nil
			}
			row.Why = "the page is the same as its last version"
		}
		row.State = "archived"
		row.View = versionOf(e, false).Links.View
		if !embeds {
			return nil
		}
		found, err := embedsOf(ctx, l, e, u)
		for _, embed := range found[:min(len(found), maxURIs)] {
			row.Embeds = append(row.Embeds, embed.String())
		}
		return err
	})
}
