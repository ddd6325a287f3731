package noise

import (
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	aspect "github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Bounds of one answer.
const (
	maxPages = 100
	maxList  = 120 * time.Millisecond // so that an answer takes less than 200 ms
	atOnce   = 500                    // URIs that are read together
)

// listPages returns pages of a host, or of all hosts if it is empty, from a cursor on. chosen chooses their hosts; nil
// chooses all. It reads for a bounded time; the walk is complete when Next is empty.
func listPages(
	f *frontier.Frontier, host string, chosen func(uri.Host) bool, from frontier.Cursor, clock func() time.Time,
) (Noise, error) {
	out := Noise{Pages: []NoisyPage{}}
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
		if next == "" || len(out.Pages) >= maxPages || clock().Sub(began) >= maxList {
			return out, nil
		}
	}
}

// pageOf returns why a page differs, and how it is visited. It reports false if it does not differ at each fetch.
func pageOf(r frontier.Record) (p NoisyPage, ok bool) {
	why, silencer := aspect.Why(r)
	return NoisyPage{
		URI: r.URI.String(), Why: why, Rules: rulesOf(silencer.Regexes, silencer.Selectors),
		Visits: r.Visits, Versions: r.Versions,
		LastVisit: api.Moment(r.LastVisit),
		Wait:      api.Seconds(max(r.Due.Sub(r.LastVisit), 0)),
	}, why != ""
}
