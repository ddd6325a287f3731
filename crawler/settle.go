package crawler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/panics"
	"github.com/arcrawl/arcrawl/uri"
)

// settle is the last step. It stores what the visit says about the host. Then it settles the visit in the frontier,
// with its dedup entry in the same transaction.
func (c *Crawler) settle(ctx context.Context, v *aspects.Visit) error {
	err := c.learn(v)
	switch {
	case misfortune.IsOurs(err):
		return c.abandon(ctx, v, v.Capture, err)
	case err != nil && !misfortune.MayBeOfDocument(err):
		return err
	case err != nil:
		v.Fault = errors.Join(v.Fault, err)
	}
	settlement, err := c.settlementOf(v)
	switch {
	case misfortune.KindOf(err) == misfortune.KindPanic:
		c.bareSettlement(v, &settlement, err)
	case misfortune.IsOurs(err):
		return err
	case err != nil:
		v.Fault = errors.Join(v.Fault, err)
	}
	c.step("indexed")
	got := v.Capture
	added, err := c.parts.Frontier.Settle(v.Claim, settlement)
	if err != nil && misfortune.MayBeOfDocument(err) {
		c.bareSettlement(v, &settlement, err)
		added, err = c.parts.Frontier.Settle(v.Claim, settlement)
	}
	if err != nil {
		return fmt.Errorf("settle %s: %w", v.URI(), err)
	}
	c.step("settled")
	if v.Fault != nil {
		misfortune.Log(c.parts.Log, v.Fault, v.URI().String(), got.Status)
	}
	rest := settlement.Politeness.Rest(got.Took)
	c.demand.add(demandOf(v, got.Took+rest), settingsOf(v).Settings)
	if err := c.countDaily(v); err != nil { // the visit is settled: its host has one request less in its counts
		misfortune.Log(c.parts.Log, err, v.URI().String(), got.Status)
	}
	signal(c.dirty)
	c.aspects.feeds.Settled(v)
	c.parts.Observe(reportOf(v, added, rest))
	return nil
}

// settlementOf returns the settlement of a visit. After an error it has no dedup entry, and after a panic perhaps not
// the crawl delay of the host's robots.txt.
func (c *Crawler) settlementOf(v *aspects.Visit) (o frontier.Settlement, err error) {
	defer panics.Recover(&err)
	got, s, n := v.Capture, settingsOf(v), &v.Next
	o = frontier.Settlement{
		Record: n.Record, Finished: v.Finished, Clock: v.Clock, Took: got.Took, Politeness: s.Politeness.Politeness,
		RetryAfter: n.Asked, Rest: n.Rest, NoAnswer: got.Status <= 0, Address: got.IP,
		HostDown: misfortune.HostDown(got.Status), NoRequest: got.Status == misfortune.Status, Reason: v.ErrorText(),
		Found: v.Found.Candidates, Seen: v.Found.Seen, Robots: n.Robots, Reopen: n.Reopen,
	}
	c.step("settling")
	o.Politeness = c.politeness(v)
	o.AlsoWrite, err = c.dedupChange(v, s.Dedup)
	return o, err
}

// bareSettlement makes a settlement that failed one that says only that the URI could not be processed, without what
// its document brought.
func (c *Crawler) bareSettlement(v *aspects.Visit, o *frontier.Settlement, err error) {
	kept := v.Kept
	v.Kept = aspects.Kept{} // the history of the URI does not refer to the record
	c.quarantine(v, err)
	v.Kept = kept
	o.Record, o.Found, o.Seen, o.AlsoWrite = v.Next.Record, nil, nil, nil
}

// learnHeaders stores how reliable the headers of the host are.
func (c *Crawler) learnHeaders(v *aspects.Visit) error {
	o, ok := observation(v)
	if !ok {
		return nil
	}
	if err := c.parts.Reputation.Add(v.URI().Host(), o); err != nil {
		return fmt.Errorf("store how reliable the headers of %s are: %w", v.URI(), err)
	}
	return nil
}

// observation returns what a visit says about the worth of the host's validators. It reports false if it says nothing,
// because the body was not read, or there is none to compare it with, or another request brought that one.
func observation(v *aspects.Visit) (o evaluators.Observation, ok bool) {
	got, r := v.Capture, v.Record()
	read := got.Status == http.StatusOK && got.Complete && !got.Stopped
	if v.IsRobots || v.Failed || !read || v.Verdict.First || r.Status != http.StatusOK || v.AskedOtherwise() {
		return o, false
	}
	denied := r.Unread > 0 && r.LastStatus == http.StatusNotModified && !v.Request.Conditional()
	return evaluators.Observation{
		MIME: got.Header.Get("Content-Type"), Before: r.Validators, Now: evaluators.ValidatorsOf(got.Header),
		State: v.Verdict.State, Conditional: v.Request.Conditional(), Denied: denied,
		Stale: denied && evaluators.ChangedBefore(got.Header, got.Started.Sub(r.LastVisit)),
	}, true
}

// demandOf returns a visit as the estimate of demand counts it. took includes the rest after the exchange.
func demandOf(v *aspects.Visit, took time.Duration) demandVisit {
	return demandVisit{
		Host: v.URI().Host(), URI: v.URI(), Hops: v.Record().Hops, Started: v.Capture.Started, Took: took,
		Overdue: v.Claim.Overdue, Before: v.Record().History, After: v.Next.Record.History,
		Reached: !misfortune.HostDown(v.Capture.Status), First: v.Verdict.First, Failed: v.Failed, Robots: v.IsRobots,
	}
}

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

// learnSimilar adds what a visit says about URIs of its kind, and about the share that the crawl captures.
func (c *Crawler) learnSimilar(v *aspects.Visit) error {
	w := v.Next.Wait
	if err := c.parts.Similar.AddProbes(w.Probes); err != nil {
		return fmt.Errorf("store what a probe of %s found: %w", v.URI(), err)
	}
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
	return evaluators.VersionsFound(v.Next.Record.Visits, v.Next.Record.Versions)
}

// countDaily adds a visit to the counts of its host and day. A robots.txt is a request, but not a version. Neither is
// a first capture, because no capture target applies to what a page was before it was known, nor a feed or sitemap,
// because its next reading has the entries too.
func (c *Crawler) countDaily(v *aspects.Visit) error {
	if misfortune.HostDown(v.Capture.Status) {
		return nil
	}
	d := evaluators.Day{Requests: 1}
	r := &v.Next.Record
	isPage := !v.IsRobots && r.Source == ""
	if isPage && !v.Failed && !v.Verdict.First && noise.Counts(v) && v.WaitState == evaluators.Changed {
		blind := evaluators.BlindIf(r.Visits, r.Versions)
		if noise.IsCalm(v) {
			blind = 0
		}
		d = evaluators.Found(v.Next.Wait.Versions-1, r.Versions-1, blind)
	}
	return c.parts.Daily.Add(v.URI().Host(), v.Capture.Started, d)
}
