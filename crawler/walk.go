package crawler

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/history"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/scope/robots"
	"github.com/arcrawl/arcrawl/uri"
)

// ownFault is an error of ours that leaves the store sound: the visit is given back and the crawl pauses.
type ownFault struct{ err error }

func (f ownFault) Error() string { return f.err.Error() }
func (f ownFault) Unwrap() error { return f.err }

// walk takes one claimed URI through the rooms. It settles, abandons or releases the claim in every case.
//
// An error is an [ownFault], or means that the store is broken and the crawl must stop.
func (c *Crawler) walk(ctx context.Context, claim frontier.Claim, worker int) error {
	began := time.Now()
	c.step("claimed")
	under := termsOf(c.rooms.Config.Current(), claim.Record, began)

	if _, held := under.config.Held(claim.Record.URI.Host()); held {
		return c.standBack(claim, began)
	}
	entry, err := c.enter(claim, under, began)
	if err != nil {
		return err
	}
	if entry.claim.Record.URI.IsZero() {
		return c.turnAway(ctx, claim, entry, began, worker)
	}
	if entry.claim.Record.URI != claim.Record.URI {
		under = termsOf(under.config, entry.claim.Record, began)
	}
	claim, settings := entry.claim, under.Settings

	question, err := c.ask(claim.Record, under, began)
	if err != nil {
		return err
	}
	capture, err := c.rooms.Fetch.Fetch(ctx, question.request)
	if err != nil {
		return c.abandon(ctx, claim, settings, &fetch.Capture{Started: began, Took: time.Since(began)}, fmt.Errorf("fetch %s: %w", claim.Record.URI, err))
	}
	defer capture.Close()
	if err := c.lookAtUplink(claim, capture, capture.Started.Add(capture.Took)); err != nil {
		return c.giveBack(ctx, claim, err)
	}
	c.step("fetched")

	visit, err := c.judge(claim, settings, question, capture)
	if err != nil {
		return c.abandon(ctx, claim, settings, capture, fmt.Errorf("judge %s: %w", claim.Record.URI, err))
	}
	kept, err := c.keep(visit, settings)
	if err != nil {
		return c.abandon(ctx, claim, settings, capture, fmt.Errorf("archive %s: %w", claim.Record.URI, err))
	}
	c.tellIndex(visit, kept)
	c.step("archived")

	found, err := c.discover(visit, under)
	if err != nil {
		return fmt.Errorf("discover in %s: %w", claim.Record.URI, err)
	}
	next := c.next(visit, settings, kept, found)
	if err := c.rooms.CrawlLog.Write(logEntry(visit, kept, found, next, worker)); err != nil {
		return c.abandon(ctx, claim, settings, capture, fmt.Errorf("log %s: %w", claim.Record.URI, err))
	}
	c.step("logged")

	return c.remember(visit, settings, kept, found, next)
}

// terms are what a visit is made under: the configuration that was in force when it began, and what that comes to for its
// URI.
type terms struct {
	config *config.Config
	config.Settings
}

func termsOf(c *config.Config, r frontier.Record, now time.Time) terms {
	return terms{config: c, Settings: c.For(config.About{URI: r.URI, Hops: r.Hops, ContentType: r.ContentType, Now: now})}
}

// entry is what robots.txt and scope have to say before a visit: one of the four.
type entry struct {
	claim      frontier.Claim // the URI to visit: the claimed one, or its host's robots.txt
	refused    *refusal
	early      bool // robots.txt is being fetched through another slot of the host
	deferUntil time.Time
}

// refusal is why a URI that was due is not visited.
type refusal struct {
	status int
	wait   time.Duration
	why    string
}

// visit is one exchange and what it meant. It is put together once by judge and only read from then on.
type visit struct {
	claim    frontier.Claim
	asked    question
	capture  *fetch.Capture
	finished time.Time
	compared digest.Comparison // of the content; zero if it was not read whole
	verdict  evaluators.Verdict
	failed   bool   // misfortune: what was learned stays as it is
	robots   bool   // the URI is a robots.txt
	block    string // what stood in for the page that was asked for, see [evaluators.Block]; empty if nothing did
	gone     bool   // the server says that there is no such page

	relatives rate.Relatives   // what is known of URIs of its kind on the host
	dates     evaluators.Dates // what dates of feeds are worth on the host; nothing unless one may count
}

func (v visit) record() frontier.Record { return v.claim.Record }
func (v visit) uri() uri.URI            { return v.claim.Record.URI }

// judge says what an exchange meant, going by what is remembered.
//
// The error is of our own: the content could not be read back from where it was spooled.
func (c *Crawler) judge(claim frontier.Claim, s config.Settings, asked question, capture *fetch.Capture) (visit, error) {
	r := claim.Record
	v := visit{claim: claim, asked: asked, capture: capture, finished: capture.Started.Add(capture.Took), robots: robots.IsFile(r.URI)}
	unread := capture.Stopped || capture.Status == statusNotModified && asked.conditional()
	v.gone = !v.robots && isGone(capture)
	switch {
	case !unread && misfortune(capture):
		err := v.recognise(s.Trouble)
		return v.fail("failed"), err
	case v.gone && r.Gone+1 < s.Trouble.GoneAfter:
		return v.fail(history.Unconfirmed), nil
	}
	if unread && asked.filter.Contradicts(asked.sent, r.Validators, evaluators.ValidatorsOf(capture.Header)) {
		v.verdict = evaluators.Verdict{State: evaluators.Unknown, Reason: "304 with another ETag"}
		return v, nil
	}
	var err error
	rules := s.Change.Rules
	if v.robots {
		rules = new(digest.Rules) // every byte of it counts
	}
	if v.compared, err = comparison(capture, rules); err != nil {
		return v, err
	}
	v.verdict = evaluators.ChangeEvaluator{Tolerance: s.Change.Tolerance}.Judge(
		evaluators.Before{Known: !r.LastCapture.IsZero(), Status: r.Status, Location: r.Location, Comparison: r.Comparison},
		evaluators.Seen{
			Status: capture.Status, Location: capture.Header.Get("Location"), Comparison: v.compared,
			Unread: unread, Complete: capture.Complete,
		})
	if v.verdict.State == evaluators.Changed && !v.robots {
		if err = v.recognise(s.Trouble); err == nil {
			err = c.recogniseShared(&v, s)
		}
	}
	if v.block != "" {
		v = v.fail(v.block)
		v.gone = strings.HasPrefix(v.block, evaluators.NotFound)
	}
	if err == nil {
		v.relatives, err = c.relatives(v)
	}
	if err == nil && (r.Source != "" || !r.ReportedChange.IsZero()) {
		v.dates, err = c.rooms.Trust.Dates(r.URI.Host())
	}
	return v, err
}

// fail is v as a misfortune.
func (v visit) fail(why string) visit {
	v.failed = true
	v.verdict = evaluators.Verdict{State: evaluators.Unknown, Reason: why}
	return v
}

// turnAway ends a claim on which no visit is made now.
func (c *Crawler) turnAway(ctx context.Context, claim frontier.Claim, e entry, began time.Time, worker int) error {
	switch {
	case e.refused != nil:
		return c.refuse(ctx, claim, *e.refused, began, worker)
	case e.early:
		if err := c.rooms.Frontier.Abandon(claim, began, robotsTurn); err != nil {
			return fmt.Errorf("put off %s: %w", claim.Record.URI, err)
		}
		return nil
	}
	return c.postpone(claim, e.deferUntil, began)
}

// refuse logs and settles a URI that is not visited. No request was made, so the host need not rest.
func (c *Crawler) refuse(ctx context.Context, claim frontier.Claim, why refusal, now time.Time, worker int) error {
	r := claim.Record
	r.LastStatus, r.Urgent = why.status, false
	r.Due, r.Why = now.Add(why.wait), why.why
	err := c.rooms.CrawlLog.Write(crawllog.Entry{
		Logged: now, Status: why.status, Size: -1, URI: r.URI.String(), Hops: r.Hops, Via: r.Via, Worker: worker, Seed: r.Seed,
		Annotations: []string{why.why},
		Schedule:    &crawllog.Schedule{Wait: why.wait, Visits: r.Visits, Versions: r.Versions, Overdue: claim.Overdue},
	})
	if err != nil {
		return c.giveBack(ctx, claim, fmt.Errorf("log %s: %w", r.URI, err))
	}
	_, err = c.rooms.Frontier.Settle(claim, frontier.Settlement{
		Record: r, Finished: now, NoRequest: true, Forbidden: why.status == history.StatusForbidden,
	})
	if err != nil {
		return fmt.Errorf("settle %s: %w", r.URI, err)
	}
	c.settled()
	c.report(Report{
		URI: r.URI, Hops: r.Hops, Finished: now, Status: why.status, Due: r.Due, Visits: r.Visits, Versions: r.Versions,
		Wait: evaluators.Wait{Interval: why.wait, Reason: why.why},
	})
	return nil
}

// postpone puts a URI off without a visit: the robots.txt that its host's points to is still on its way.
func (c *Crawler) postpone(claim frontier.Claim, until, now time.Time) error {
	r := claim.Record
	r.Due = until
	if _, err := c.rooms.Frontier.Settle(claim, frontier.Settlement{Record: r, Finished: now, NoRequest: true}); err != nil {
		return fmt.Errorf("postpone %s: %w", r.URI, err)
	}
	c.settled()
	return nil
}

// giveBack releases a claim because of cause, without any request. When the daemon is stopping that is no fault.
func (c *Crawler) giveBack(ctx context.Context, claim frontier.Claim, cause error) error {
	return givenBack(ctx, claim, cause, c.rooms.Frontier.Release(claim, time.Now()))
}

// abandon is giveBack after the host was asked: it rests as after any other visit.
func (c *Crawler) abandon(ctx context.Context, claim frontier.Claim, s config.Settings, asked *fetch.Capture, cause error) error {
	finished := asked.Started.Add(asked.Took)
	rest := c.robots.Politeness(claim.Record.URI, s.Politeness, nil).Rest(asked.Took)
	rest = max(rest, retryAfter(asked, finished).Sub(finished))
	return givenBack(ctx, claim, cause, c.rooms.Frontier.Abandon(claim, finished, rest))
}

// givenBack is what a visit ends with that was given back because of cause, with err if that went wrong.
func givenBack(ctx context.Context, claim frontier.Claim, cause, err error) error {
	if err != nil {
		return fmt.Errorf("give back %s: %w (after: %w)", claim.Record.URI, err, cause)
	}
	if ctx.Err() != nil {
		return nil
	}
	return ownFault{cause}
}

// settled notes that there is something to sync.
func (c *Crawler) settled() { leave(c.dirty) }

// leave puts a token where there is none.
func leave(token chan struct{}) {
	select {
	case token <- struct{}{}:
	default:
	}
}

func (c *Crawler) report(r Report) {
	if c.rooms.Observe != nil {
		c.rooms.Observe(r)
	}
}
