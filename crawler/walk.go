package crawler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/aspects/login"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/history"
	"github.com/arcrawl/arcrawl/crawler/policy"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// walk takes one claimed URI through all steps; [Crawler.conclude] has the second half of them. It settles, abandons or
// releases the claim in every case.
//
// An error is an [ownFault], or means that the store is broken and the crawl must stop. If a document makes a step fail
// or panic, the visit continues as a misfortune of its URI alone; see package faults.
func (c *Crawler) walk(ctx context.Context, claim frontier.Claim, worker int) error {
	began := c.parts.Now()
	c.step("claimed")
	s := settingsOf(c.parts.Config.Current(), claim.Record, began)
	if _, held := s.config.Held(claim.Record.URI.Host()); held {
		return c.restHost(claim, began.Add(heldRest), began)
	}

	admitted, err := c.admit(claim, s, began)
	switch {
	case misfortune.IsOurs(err), errors.Is(err, frontier.ErrFull):
		return c.release(ctx, claim, fmt.Errorf("admit %s: %w", claim.Record.URI, err))
	case err != nil && misfortune.MayBeOfDocument(err):
		return c.conclude(ctx, c.unfetched(claim, login.Request{}, began, err), s, worker)
	case err != nil:
		return err
	case admitted.claim.Record.URI.IsZero():
		return c.skip(ctx, claim, s, admitted, began, worker)
	case admitted.claim.Record.URI != claim.Record.URI: // robots.txt is visited first
		s = settingsOf(s.config, admitted.claim.Record, began)
	}
	claim = admitted.claim
	if spent, err := c.prepareHost(ctx, claim, s, began); spent {
		return err
	} else if err != nil {
		return c.conclude(ctx, c.unfetched(claim, login.Request{}, began, err), s, worker)
	}

	req, got, err := c.fetch(ctx, claim, s, admitted.permission, began)
	defer req.Room.End()
	switch {
	case misfortune.IsOurs(err):
		return c.abandon(ctx, claim, s, c.noAnswer(began), fmt.Errorf("fetch %s: %w", claim.Record.URI, err))
	case err != nil:
		return c.conclude(ctx, c.unfetched(claim, req, began, err), s, worker)
	}
	defer got.Close()
	if ended, err := c.endEarly(ctx, claim, s, &req, got); ended {
		return err
	}
	c.step("fetched")

	v, err := c.judge(ctx, claim, s, req, got)
	switch {
	case misfortune.IsOurs(err):
		return c.abandon(ctx, claim, s, got, fmt.Errorf("judge %s: %w", claim.Record.URI, err))
	case err != nil:
		v = unjudged(claim, req, got).broken(fmt.Errorf("judge %s: %w", claim.Record.URI, err))
	}
	return c.conclude(ctx, v, s, worker)
}

// fetch decides which request a visit makes, and makes it. The caller ends the room of the request.
func (c *Crawler) fetch(
	ctx context.Context, claim frontier.Claim, s settings, permission string, began time.Time,
) (login.Request, *fetch.Capture, error) {
	s.Fetch.Connect = policy.ConnectTimeout(claim, s.Fetch.Connect)
	room := c.space.Begin(began, claim.Record.URI, s.MaxPerDay)
	whole := isRobots(claim.Record) || noise.IsSecondLook(claim.Record)
	req, err := c.requests.Make(claim.Record, s.config, &s.Settings, whole, room, began)
	req.Permission, req.Room = permission, room
	if err != nil {
		return req, nil, err
	}
	got, err := c.parts.Fetch.Fetch(ctx, req.Exchange)
	return req, got, err
}

// noAnswer returns the capture of a visit that could not make its request.
func (c *Crawler) noAnswer(began time.Time) *fetch.Capture {
	return &fetch.Capture{Started: began, Took: c.parts.Now().Sub(began)}
}

// conclude takes a visit that was judged through the other steps.
func (c *Crawler) conclude(ctx context.Context, v visit, s settings, worker int) error {
	if misfortune.KindOf(v.capture.Misfortune) == misfortune.KindPanic && v.fault == nil {
		v.fault = v.capture.Misfortune // of a decoder; the response is whole
	}
	v, kept, err := c.archive(v, s)
	if err == nil {
		err = c.archiveLookup(v.capture, s)
	}
	if err != nil {
		return c.abandon(ctx, v.claim, s, v.capture, fmt.Errorf("archive %s: %w", v.uri(), err))
	}
	v.req.Room.Wrote(kept.written)
	c.notifyIndex(v, kept)
	c.step("archived")

	found, err := c.discover(v, s)
	switch {
	case misfortune.IsOurs(err):
		return c.abandon(ctx, v.claim, s, v.capture, fmt.Errorf("discover in %s: %w", v.uri(), err))
	case err != nil:
		v, found = v.broken(fmt.Errorf("discover in %s: %w", v.uri(), err)), findings{}
	}
	next, err := c.schedule(ctx, v, s, kept, found)
	if err != nil {
		v, found = v.broken(fmt.Errorf("schedule %s: %w", v.uri(), err)), findings{}
		next = quarantined(v, s, kept)
	}
	err = c.log(v, kept, found, next, worker)
	if misfortune.KindOf(err) == misfortune.KindPanic {
		v, found = v.broken(fmt.Errorf("log %s: %w", v.uri(), err)), findings{}
		next = quarantined(v, s, kept)
		err = c.parts.CrawlLog.Write(bareEntry(v, next, worker, c.parts.Now()))
	}
	if err != nil {
		return c.abandon(ctx, v.claim, s, v.capture, fmt.Errorf("log %s: %w", v.uri(), err))
	}
	c.step("logged")

	return c.settle(ctx, v, s, kept, found, next)
}

// settings are the settings of one visit, and the configuration that they were resolved from.
type settings struct {
	config *config.Config
	config.Settings
}

// settingsOf resolves the settings of a visit to a URI.
func settingsOf(c *config.Config, r frontier.Record, now time.Time) settings {
	return settings{config: c, Settings: c.For(aboutOf(r, now))}
}

// aboutOf returns what the settings of a visit to a URI depend on.
func aboutOf(r frontier.Record, now time.Time) config.About {
	return config.About{URI: r.URI, Hops: r.Hops, ContentType: r.ContentType, Now: now}
}

// visit is one exchange and its meaning. [Crawler.judge] creates it; the later steps only read it.
type visit struct {
	claim    frontier.Claim
	req      login.Request
	capture  *fetch.Capture
	finished time.Time
	compared digest.Comparison // of the content; zero if it was not read whole
	verdict  evaluators.Verdict
	failed   bool   // a misfortune: it changes nothing that was learned
	robots   bool   // the URI is a robots.txt
	block    string // the kind of answer that came instead of the page, see [evaluators.Block]; empty = the page came
	gone     bool   // the server says that there is no such page
	fault    error  // why this document could not be processed, which is no misfortune of the server; nil = it could

	look    noise.Visit      // how the URI differs from fetch to fetch
	similar rate.Relatives   // estimates of the URIs of the same kind on the host
	dates   evaluators.Dates // how reliable the dates of feeds are on the host; zero unless one may count
}

func (v visit) record() frontier.Record { return v.claim.Record }
func (v visit) uri() uri.URI            { return v.claim.Record.URI }

// fail returns the visit as a misfortune.
func (v visit) fail(why string) visit {
	v.failed = true
	v.verdict = evaluators.Verdict{State: evaluators.Unknown, Reason: why}
	return v
}

// errorText returns why a visit failed; "" if its status says enough.
func (v visit) errorText() string {
	misfortune := ""
	if v.capture.Misfortune != nil {
		misfortune = v.capture.Misfortune.Error()
	}
	return history.ErrorText(misfortune, v.block)
}
