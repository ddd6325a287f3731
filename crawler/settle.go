package crawler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/arcrawl/arcrawl/aspects/feeds"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/crawler/demand"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/panics"
)

// settle is the last step. It stores what the visit says about the host's validators, dates, similar URIs and traps.
// Then it settles the visit in the frontier, with its dedup entry in the same transaction.
func (c *Crawler) settle(
	ctx context.Context, v visit, s settings, a archived, f findings, next schedule,
) error {
	err := c.learn(v, s, a, f, next)
	switch {
	case misfortune.IsOurs(err):
		return c.abandon(ctx, v.claim, s, v.capture, err)
	case err != nil && !misfortune.MayBeOfDocument(err):
		return err
	case err != nil:
		v.fault = errors.Join(v.fault, err)
	}
	settlement, err := c.settlementOf(v, s, a, f, next)
	switch {
	case misfortune.KindOf(err) == misfortune.KindPanic:
		v, next, settlement = bareSettlement(v, s, settlement, err)
	case misfortune.IsOurs(err):
		return err
	case err != nil:
		v.fault = errors.Join(v.fault, err)
	}
	c.step("indexed")
	got := v.capture
	added, err := c.parts.Frontier.Settle(v.claim, settlement)
	if err != nil && misfortune.MayBeOfDocument(err) {
		v, next, settlement = bareSettlement(v, s, settlement, err)
		added, err = c.parts.Frontier.Settle(v.claim, settlement)
	}
	if err != nil {
		return fmt.Errorf("settle %s: %w", v.uri(), err)
	}
	c.step("settled")
	if v.fault != nil {
		misfortune.Log(c.parts.Log, v.fault, v.uri().String(), got.Status)
	}
	rest := settlement.Politeness.Rest(got.Took)
	c.demand.Add(demandOf(v, next, got.Took+rest), s.Settings)
	if err := c.countDaily(v, next); err != nil { // the visit is settled: its host has one request less in its counts
		misfortune.Log(c.parts.Log, err, v.uri().String(), got.Status)
	}
	signal(c.dirty)
	next.source.Log(c.parts.Log, v.uri())
	if state := f.source.state; !state.Hub.IsZero() && next.source.Kind != feeds.None {
		c.parts.NotifyHub(v.finished, v.uri(), state.Topic, state.Hub)
	}
	c.parts.Observe(reportOf(v, a, f, next, added, rest))
	return nil
}

// settlementOf returns the settlement of a visit. After an error it has no dedup entry, and after a panic perhaps not
// the crawl delay of the host's robots.txt.
func (c *Crawler) settlementOf(
	v visit, s settings, a archived, f findings, next schedule,
) (o frontier.Settlement, err error) {
	defer panics.Recover(&err)
	got := v.capture
	o = frontier.Settlement{
		Record: next.record, Finished: v.finished, Took: got.Took, Politeness: s.Politeness.Politeness,
		RetryAfter: next.asked, Rest: next.rest, NoAnswer: got.Status <= 0, Address: got.IP,
		HostDown: misfortune.HostDown(got.Status), NoRequest: got.Status == misfortune.Status, Reason: v.errorText(),
		Found: f.candidates, Seen: f.source.seen, Robots: next.robots, Reopen: next.reopen,
	}
	c.step("settling")
	o.Politeness = c.robots.Politeness(v.uri(), s.Politeness, next.robots, v.finished)
	o.AlsoWrite, err = c.dedupChange(v, s.Dedup, a)
	return o, err
}

// bareSettlement returns the settlement of a visit whose own one failed with err: only that the URI could not be
// processed, without what its document brought.
func bareSettlement(v visit, s settings, o frontier.Settlement, err error) (visit, schedule, frontier.Settlement) {
	v = v.broken(err)
	next := quarantined(v, s, archived{})
	o.Record, o.Found, o.Seen, o.AlsoWrite = next.record, nil, nil, nil
	return v, next, o
}

// learn stores what a visit says about its host. What cannot be stored does not keep the rest from being stored.
func (c *Crawler) learn(v visit, s settings, a archived, f findings, next schedule) (err error) {
	defer panics.Recover(&err)
	jar := c.requests.Learn(v.capture, &s.Settings)
	var headers error
	if o, ok := observation(v); ok {
		if headers = c.parts.Reputation.Add(v.uri().Host(), o); headers != nil {
			headers = fmt.Errorf("store how reliable the headers of %s are: %w", v.uri(), headers)
		}
	}
	return errors.Join(jar, headers, c.learnDates(v, f.source), c.learnSimilar(v, next), c.learnTraps(v, s, a, f))
}

// observation returns what a visit says about the worth of the host's validators. It reports false if it says nothing,
// because the body was not read, or there is none to compare it with, or another request brought that one.
func observation(v visit) (o evaluators.Observation, ok bool) {
	got, r := v.capture, v.record()
	read := got.Status == http.StatusOK && got.Complete && !got.Stopped
	if v.robots || v.failed || !read || v.verdict.First || r.Status != http.StatusOK || v.askedOtherwise() {
		return o, false
	}
	denied := r.Unread > 0 && r.LastStatus == http.StatusNotModified && !v.req.Conditional()
	return evaluators.Observation{
		MIME: got.Header.Get("Content-Type"), Before: r.Validators, Now: evaluators.ValidatorsOf(got.Header),
		State: v.verdict.State, Conditional: v.req.Conditional(), Denied: denied,
		Stale: denied && evaluators.ChangedBefore(got.Header, got.Started.Sub(r.LastVisit)),
	}, true
}

// demandOf returns a visit as the estimate of demand counts it. took includes the rest after the exchange.
func demandOf(v visit, next schedule, took time.Duration) demand.Visit {
	return demand.Visit{
		Host: v.uri().Host(), URI: v.uri(), Hops: v.record().Hops, Started: v.capture.Started, Took: took,
		Overdue: v.claim.Overdue, Before: v.record().History, After: next.record.History,
		Reached: !misfortune.HostDown(v.capture.Status), First: v.verdict.First, Failed: v.failed, Robots: v.robots,
	}
}
