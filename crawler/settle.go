package crawler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/crawler/demand"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/panics"
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
	c.demand.Add(demandOf(v, got.Took+rest), settingsOf(v).Settings)
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
		Record: n.Record, Finished: v.Finished, Took: got.Took, Politeness: s.Politeness.Politeness,
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

// learnCookies stores the cookies of an answer.
func (c *Crawler) learnCookies(v *aspects.Visit) error {
	return c.requests.Learn(v.Capture, &settingsOf(v).Settings)
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
func demandOf(v *aspects.Visit, took time.Duration) demand.Visit {
	return demand.Visit{
		Host: v.URI().Host(), URI: v.URI(), Hops: v.Record().Hops, Started: v.Capture.Started, Took: took,
		Overdue: v.Claim.Overdue, Before: v.Record().History, After: v.Next.Record.History,
		Reached: !misfortune.HostDown(v.Capture.Status), First: v.Verdict.First, Failed: v.Failed, Robots: v.IsRobots,
	}
}
