package crawler

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/uri"
)

// kindOf returns the kind of URI that was visited; zero for robots.txt and for what was not answered with a page.
func kindOf(v *aspects.Visit) rate.Kind {
	if v.IsRobots || v.Failed || v.Capture.Status != http.StatusOK {
		return 0
	}
	r, got := v.Record(), v.Capture
	return evaluators.Traits{
		MIME: got.Header.Get("Content-Type"), Depth: strings.Count(string(r.Hops), string(uri.Link)),
		Article: !r.Born.IsZero(), Size: got.PayloadSize, Dated: got.Header.Get("Last-Modified") != "",
	}.Kind()
}

// similarURIs returns the estimates of the URIs of the same kind on the host. The kind is the one that the first
// capture of the URI found.
func (c *Crawler) similarURIs(v *aspects.Visit) (rate.Relatives, error) {
	kind := rate.Memory(v.Record().Memory).Kind()
	if v.Verdict.First {
		kind = kindOf(v)
	}
	if kind == 0 || v.Failed {
		return rate.Relatives{}, nil
	}
	return c.parts.Similar.Get(v.URI().Host(), kind)
}

// learnSimilar adds what a visit says about URIs of its kind.
func (c *Crawler) learnSimilar(v *aspects.Visit) error {
	w := v.Next.Wait
	if w.Kind == 0 || decidedByText(v) { // the source may say little about how the page changes
		return nil
	}
	if err := c.parts.Similar.Add(v.URI().Host(), w.Kind, w.Lesson); err != nil {
		return fmt.Errorf("store how %s changes: %w", v.URI(), err)
	}
	return nil
}

// newVersions returns how many versions probably came into being since the last judged visit: as the wait rule
// estimates it, or else by the share of visits that found one.
func newVersions(v *aspects.Visit) float64 {
	switch {
	case v.Next.Wait.Versions > 0 || v.WaitState != evaluators.Changed:
		return v.Next.Wait.Versions
	case v.Verdict.First:
		return 1
	case v.Next.Input.Changes > 0:
		return float64(v.Next.Input.Changes)
	}
	return rate.VersionsFound(v.Next.Record.Visits-1, v.Next.Record.Versions-1)
}

// countDaily adds a visit to the counts of its host and day. A robots.txt is a request, but not a version. Neither is
// a first capture: no capture target applies to what a page was before it was known.
func (c *Crawler) countDaily(v *aspects.Visit) error {
	if misfortune.HostDown(v.Capture.Status) {
		return nil
	}
	d := evaluators.Day{Requests: 1}
	if !v.IsRobots && !v.Failed && !v.Verdict.First && noise.Counts(v) {
		changed := v.WaitState == evaluators.Changed
		d.Odds = evaluators.OddsOf(v.Next.Wait.Odds, changed, v.Next.Wait.Again && v.Next.Record.Versions > 2)
		d.Versions = v.Next.Wait.Versions
		if v.WaitState == evaluators.Changed {
			d.Seen, d.Versions = 1, max(d.Versions, 1)
		}
	}
	return c.parts.Daily.Add(v.URI().Host(), v.Capture.Started, d)
}
