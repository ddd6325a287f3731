// Package noise lists pages that differ at each fetch without being new.
package noise

import (
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Bounds of one answer.
const (
	maxPages = 100
	maxTime  = 120 * time.Millisecond // so that an answer takes less than 200 ms
	atOnce   = 500                    // URIs that are read together
)

// List returns pages of a host, or of all hosts if it is empty, from a cursor on, as far as chosen chooses their hosts;
// nil chooses all. It reads for a bounded time; the walk is complete when Next is empty.
func List(
	f *frontier.Frontier, host string, chosen func(uri.Host) bool, from frontier.Cursor, clock func() time.Time,
) (api.Noise, error) {
	out := api.Noise{Pages: []api.NoisyPage{}}
	for began := clock(); ; {
		list, next, err := f.List(clock(), frontier.Selection{Host: host}, from, atOnce)
		if err != nil {
			return out, err
		}
		for _, e := range list {
			if chosen != nil && !chosen(e.URI.Host()) {
				continue
			}
			if p, ok := pageOf(e.Record); ok {
				out.Pages = append(out.Pages, p)
			}
		}
		from = next
		out.Next = string(next)
		if next == "" || len(out.Pages) >= maxPages || clock().Sub(began) >= maxTime {
			return out, nil
		}
	}
}

// pageOf returns why a page differs, and how it is visited. It reports false if it does not differ at each fetch.
func pageOf(r frontier.Record) (p api.NoisyPage, ok bool) {
	look, err := evaluators.LookOf(r.Look)
	if err != nil {
		look = evaluators.Look{}
	}
	why := look.Noise(r.Recent)
	return api.NoisyPage{
		URI: r.URI.String(), Why: why, Rules: rulesOf(look), Visits: r.Visits, Versions: r.Versions,
		LastVisit: api.Moment(r.LastVisit),
		Wait:      api.Seconds(max(r.Due.Sub(r.LastVisit), 0)),
	}, why != ""
}

// rulesOf returns the proposed rules by which a page is scheduled.
func rulesOf(l evaluators.Look) (rules []api.ScrubRule) {
	if l.Silencer == "" {
		return nil
	}
	s := digest.ParseSilencer(l.Silencer)
	for _, r := range s.Regexes {
		rules = append(rules, api.ScrubRule{Kind: "scrub", Rule: r})
	}
	for _, r := range s.Selectors {
		rules = append(rules, api.ScrubRule{Kind: "scrub_css", Rule: r})
	}
	return rules
}

// Of returns why a URI differs at each fetch without being new, as second looks found; empty if they did not.
func Of(r frontier.Record) string {
	r.Recent = evaluators.Ring{}
	p, _ := pageOf(r)
	return p.Why
}
