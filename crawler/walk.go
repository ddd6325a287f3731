package crawler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
)

// walk takes one claimed URI through all steps; [Crawler.conclude] has the second half of them. It settles, abandons or
// releases the claim in every case.
//
// An error is an [ownFault], or means that the store is broken and the crawl must stop. If a document makes a step fail
// or panic, the visit continues as a misfortune of its URI alone; see package misfortune.
func (c *Crawler) walk(ctx context.Context, claim frontier.Claim, worker int) error {
	began := c.parts.Now()
	c.step("claimed")
	v := c.visits.Get().(*aspects.Visit)
	defer c.visits.Put(v)
	begin(v, claim, c.parts.Config.Current(), began, worker)
	admitted, err := c.admit(v)
	switch {
	case misfortune.IsOurs(err), errors.Is(err, frontier.ErrFull):
		return c.release(ctx, claim, fmt.Errorf("admit %s: %w", claim.Record.URI, err))
	case err != nil && misfortune.MayBeOfDocument(err):
		return c.conclude(ctx, c.unfetched(v, err))
	case err != nil:
		return err
	case admitted.Instead != nil: // robots.txt is visited first
		begin(v, *admitted.Instead, settingsOf(v).config, began, worker)
		c.aspects.robots.Begin(v)
	case admitted != (aspects.Admission{}):
		return c.skip(ctx, v, admitted)
	}
	if spent, err := c.prepareHost(ctx, v); spent {
		return err
	} else if err != nil {
		return c.conclude(ctx, c.unfetched(v, err))
	}

	room := c.space.Begin(began, v.URI(), settingsOf(v).MaxPerDay)
	aspects.Of[own](v).room = room
	defer room.End()
	err = c.fetch(ctx, v)
	switch {
	case misfortune.IsOurs(err):
		return c.abandon(ctx, v, c.noAnswer(began), fmt.Errorf("fetch %s: %w", v.URI(), err))
	case err != nil:
		return c.conclude(ctx, c.unfetched(v, err))
	}
	defer v.Capture.Close()
	if ended, err := c.endEarly(ctx, v); ended {
		return err
	}
	c.step("fetched")

	err = c.judge(ctx, v)
	switch {
	case misfortune.IsOurs(err):
		return c.abandon(ctx, v, v.Capture, fmt.Errorf("judge %s: %w", v.URI(), err))
	case err != nil:
		again(v)
		v.Break(fmt.Errorf("judge %s: %w", v.URI(), err))
	}
	return c.conclude(ctx, v)
}

// begin makes v the visit of a claim.
func begin(v *aspects.Visit, claim frontier.Claim, conf *config.Config, began time.Time, worker int) {
	v.Reset()
	v.Claim, v.Began, v.Worker = claim, began, worker
	s := aspects.Of[settings](v)
	s.config, s.Settings = conf, conf.For(aboutOf(claim.Record, began))
	v.Settings = s
}

// again makes v what it was before it was judged.
func again(v *aspects.Visit) {
	was, s, room := *v, *settingsOf(v), aspects.Of[own](v).room
	begin(v, was.Claim, s.config, was.Began, was.Worker)
	*settingsOf(v) = s
	v.IsRobots, v.Request, v.Capture = was.IsRobots, was.Request, was.Capture
	v.Finished, v.Clock = was.Finished, was.Clock
	aspects.Of[own](v).room = room
}

// own holds what the crawler itself keeps of a visit.
type own struct {
	room         *spaceVisit
	similar      rate.Relatives // estimates of the URIs of the same kind on the host
	probes       *rate.Probes   // of the crawl; nil = the URI has none
	contradicted bool           // the headers of a 304 contradict themselves
	factors      stretchFactors // how the waits of the host are stretched; see [Crawler.factorsOf]
	finder       finder
	facts        any // what the wait followed from; nil unless the rendered text may decide again
}

// fetch makes the request of a visit.
func (c *Crawler) fetch(ctx context.Context, v *aspects.Visit) error {
	if err := c.ask(v); err != nil {
		return err
	}
	got, err := c.parts.Fetch.Fetch(ctx, v.Request.Exchange)
	if err != nil {
		return err
	}
	if err := c.take(v, got); err != nil {
		return errors.Join(err, got.Close())
	}
	return nil
}

// take notes the answer of a visit, and when it ended by the present clock. An error is of the store.
func (c *Crawler) take(v *aspects.Visit, got *fetch.Capture) error {
	now := c.parts.Now()
	v.Capture, v.Finished = got, got.Started.Add(got.Took)
	if now.Sub(v.Finished).Abs() >= shortest { // the clock has jumped during the exchange
		v.Finished = now
		if err := c.watchClock(now); err != nil {
			return err
		}
	}
	v.Clock = c.parts.Frontier.ReadClock()
	return nil
}

// noAnswer returns the capture of a visit that could not make its request.
func (c *Crawler) noAnswer(began time.Time) *fetch.Capture {
	return &fetch.Capture{Started: began, Took: c.parts.Now().Sub(began)}
}

// conclude takes a visit that was judged through the other steps.
func (c *Crawler) conclude(ctx context.Context, v *aspects.Visit) error {
	s := settingsOf(v)
	if misfortune.KindOf(v.Capture.Misfortune) == misfortune.KindPanic && v.Fault == nil {
		v.Fault = v.Capture.Misfortune // of a decoder; the response is whole
	}
	err := c.archive(v, s)
	if err == nil {
		err = c.archiveLookup(v.Capture, s)
	}
	if err != nil {
		return c.abandon(ctx, v, v.Capture, fmt.Errorf("archive %s: %w", v.URI(), err))
	}
	aspects.Of[own](v).room.Wrote(v.Kept.Written)
	c.notifyIndex(v)
	c.step("archived")

	err = c.discover(ctx, v)
	switch {
	case misfortune.IsOurs(err):
		return c.abandon(ctx, v, v.Capture, fmt.Errorf("discover in %s: %w", v.URI(), err))
	case err != nil:
		v.Break(fmt.Errorf("discover in %s: %w", v.URI(), err))
	}
	if err := c.schedule(ctx, v); err != nil {
		c.quarantine(v, fmt.Errorf("schedule %s: %w", v.URI(), err))
	}
	err = c.log(v)
	if misfortune.KindOf(err) == misfortune.KindPanic {
		c.quarantine(v, fmt.Errorf("log %s: %w", v.URI(), err))
		err = c.parts.CrawlLog.Write(bareEntry(v, c.parts.Now()))
	}
	if err != nil {
		return c.abandon(ctx, v, v.Capture, fmt.Errorf("log %s: %w", v.URI(), err))
	}
	c.step("logged")

	return c.settle(ctx, v)
}

// aboutOf returns what the settings of a visit to a URI depend on.
func aboutOf(r frontier.Record, now time.Time) config.About {
	return config.About{URI: r.URI, Hops: r.Hops, ContentType: r.ContentType, Now: now}
}

// unfetched makes a visit one of a URI for which no exchange could be made, because of a fault that concerns only it.
func (c *Crawler) unfetched(v *aspects.Visit, err error) *aspects.Visit {
	nothing := c.noAnswer(v.Began)
	nothing.URI, nothing.Status = v.URI(), misfortune.Status
	v.Break(fmt.Errorf("fetch %s: %w", v.URI(), errors.Join(err, c.take(v, nothing))))
	return v
}

// quarantine makes a visit a misfortune of its URI alone, because the document could not be processed, and schedules
// it as such.
func (c *Crawler) quarantine(v *aspects.Visit, err error) {
	v.Break(err)
	v.Next = aspects.Next{Record: Remember(*v.Record(), pastVisit(v))}
	n := &v.Next
	n.Wait = misfortune.Wait(v.Fault, n.Record.Failures, settingsOf(v).Retry)
	n.Record.Why = n.Wait.Why()
	n.Record.Due = v.Finished.Add(n.Wait.Interval)
	n.Record.Chain = ""
	c.aspects.robots.Quarantine(v)
}
