package crawler

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/uri"
)

// kindOf returns the kind of URI that was visited; zero for robots.txt and for what was not answered with a page.
func kindOf(v visit) rate.Kind {
	if v.robots || v.failed || v.capture.Status != http.StatusOK {
		return 0
	}
	r, got := v.record(), v.capture
	return evaluators.Traits{
		MIME: got.Header.Get("Content-Type"), Depth: strings.Count(string(r.Hops), string(uri.Link)),
		Article: !r.Born.IsZero(), Size: got.PayloadSize, Dated: got.Header.Get("Last-Modified") != "",
	}.Kind()
}

// similarURIs returns the estimates of the URIs of the same kind on the host. The kind is the one that the first
// capture of the URI found.
func (c *Crawler) similarURIs(v visit) (rate.Relatives, error) {
	kind := rate.Memory(v.record().Memory).Kind()
	if v.verdict.First {
		kind = kindOf(v)
	}
	if kind == 0 || v.failed {
		return rate.Relatives{}, nil
	}
	return c.parts.Similar.Get(v.uri().Host(), kind)
}

// learnSimilar adds what a visit says about URIs of its kind.
func (c *Crawler) learnSimilar(v visit, next schedule) error {
	w := next.wait
	if w.Kind == 0 || next.late != nil { // the source may say little about how the page changes
		return nil
	}
	if err := c.parts.Similar.Add(v.uri().Host(), w.Kind, w.Lesson); err != nil {
		return fmt.Errorf("store how %s changes: %w", v.uri(), err)
	}
	return nil
}

// newVersions returns how many versions probably came into being since the last judged visit: as the wait rule
// estimates it, or else by the share of visits that found one.
func newVersions(v visit, s schedule) float64 {
	switch {
	case s.wait.Versions > 0 || v.look.State != evaluators.Changed:
		return s.wait.Versions
	case v.verdict.First:
		return 1
	case s.timing.Changes > 0:
		return float64(s.timing.Changes)
	}
	return rate.VersionsFound(s.record.Visits-1, s.record.Versions-1)
}

// countDaily adds a visit to the counts of its host and day. A robots.txt is a request, but not a version. Neither is
// a first capture: no capture target applies to what a page was before it was known.
func (c *Crawler) countDaily(v visit, s schedule) error {
	if misfortune.HostDown(v.capture.Status) {
		return nil
	}
	d := evaluators.Day{Requests: 1}
	if !v.robots && !v.failed && !v.verdict.First && v.look.Counts() {
		changed := v.look.State == evaluators.Changed
		d.Odds = evaluators.OddsOf(s.wait.Odds, changed, s.wait.Again && s.record.Versions > 2)
		d.Versions = s.wait.Versions
		if v.look.State == evaluators.Changed {
			d.Seen, d.Versions = 1, max(d.Versions, 1)
		}
	}
	return c.parts.Daily.Add(v.uri().Host(), v.capture.Started, d)
}
