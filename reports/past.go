package reports

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/uri"
)

// Bounds of one reading of the log.
const (
	pastVisits = 1_000
	pastBytes  = 256 << 20
	dedupBytes = 8 << 20 // about 50,000 visits
)

// dedup summarizes the end of the log, or all of it.
func (r *reporter) dedup(ctx context.Context, f config.Filter, all bool, rows int) (api.DedupReport, error) {
	r.reading.Lock()
	defer r.reading.Unlock()
	by := Options{By: []Dimension{ByHost, ByMIME}, Last: dedupBytes}
	if all {
		by.Last = 0
	}
	if chosen := r.window.Chooses(f); chosen != nil {
		by.Host = func(h string) bool { return chosen(uri.Host(h)) }
	}
	read, err := Read(ctx, []string{r.window.Options().Config().Config.Storage.Log}, by)
	if err != nil {
		return api.DedupReport{}, err
	}
	sum := read.Summaries[0]
	return api.DedupReport{
		From: sum.First, Complete: read.Left == 0, All: dedupRow("", sum.All), Hosts: dedupRows(sum.Rows(ByHost), rows),
		Types: dedupRows(sum.Rows(ByMIME), rows),
	}, nil
}

func dedupRows(rows []Row, limit int) []api.DedupRow {
	out := []api.DedupRow{}
	for _, r := range rows {
		if len(out) < limit && r.Dedup.Handled > 0 {
			out = append(out, dedupRow(r.Key, r.Tally))
		}
	}
	return out
}

func dedupRow(key string, t Tally) api.DedupRow {
	d := t.Dedup
	return api.DedupRow{
		Key: key, Handled: d.Handled, Bytes: d.Bytes, New: d.New, Duplicates: d.Duplicates, Exact: d.Exact,
		Equivalent: d.Equivalent, Other: d.Other, DiscardedBytes: d.DiscardedBytes,
	}
}

// past searches the log for the visits to a URI, for a bounded time, and leaves out those under an embargo. Only one
// request reads the log at a time.
func (r *reporter) past(ctx context.Context, text string, within time.Duration, e config.Embargo) (Past, error) {
	u, err := admin.ParseURI(text)
	if err != nil {
		return Past{}, err
	}
	r.reading.Lock()
	defer r.reading.Unlock()
	o := r.window.Options()
	end := o.Now().Add(within)
	found, err := Find(ctx, o.Config().Config.Storage.Log, u.String(), Bounds{
		Visits: pastVisits, Bytes: pastBytes, Stop: func() bool { return o.Now().After(end) },
	})
	if err != nil {
		return Past{}, fmt.Errorf("search the log for %s: %w", u, err)
	}
	p := Past{Visits: []PastVisit{}, Complete: found.Complete, Since: api.Moment(found.Since)}
	for _, v := range found.Visits {
		if e.Keeps(u.String(), v.MIME) {
			continue
		}
		of := PastVisit{
			At: v.At, Status: v.Status, State: v.State, Size: v.Size, Wait: api.Seconds(v.Wait),
			Overdue: api.Seconds(v.Overdue), Notes: strings.Join(v.Notes, ", "),
		}
		for _, note := range v.Notes {
			if text := crawler.Words(note); text != "" {
				of.Words = append(of.Words, text)
			}
		}
		p.Visits = append(p.Visits, of)
	}
	return p, nil
}
