package crawler

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/arcrawl/arcrawl/aspects/feeds"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/crawler/history"
	"github.com/arcrawl/arcrawl/crawler/policy"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/panics"
	"github.com/arcrawl/arcrawl/render/rendered"
)

// schedule holds the record of a URI after a visit, with its next due time.
type schedule struct {
	record frontier.Record
	wait   evaluators.Wait
	robots *frontier.RobotsCopy // the copy of robots.txt in force from now on; nil = as before
	reopen bool                 // the rules of robots.txt have changed
	asked  time.Time            // the server wants no request before
	rest   time.Time            // the whole host rests until then
	source feeds.Result         // what a feed or sitemap brought
	timing feeds.Timing
	late   *rendered.Visit // nil unless the rendered text may decide again
}

// schedule adds a visit to the history of its URI and decides when the URI is due again.
func (c *Crawler) schedule(
	ctx context.Context, v visit, s settings, a archived, f findings,
) (next schedule, err error) {
	defer panics.Recover(&err)
	c.step("scheduling")
	next = schedule{record: history.Add(v.record(), historyVisit(v, a)), asked: askedOf(v, s)}
	r := &next.record
	r.DueInScope = time.Time{}
	rendered.Settle(r)
	if r.Urgent = v.failed && r.Urgent; !f.born.IsZero() {
		r.Born = f.born
	}
	switch {
	case v.gone:
		next.wait = history.GoneWait(r.Gone, s.Trouble)
		if kind := f.source.state.Kind; kind != feeds.None {
			next.source = feeds.Result{Kind: kind, Slow: r.Gone >= s.Trouble.GoneAfter}
		}
	case v.failed && v.fault != nil:
		next.wait = misfortune.Wait(v.fault, r.Failures, s.Retry)
	case v.failed:
		next.wait = evaluators.Wait{
			Interval: s.Retry.Wait(r.Failures), Evaluator: history.WaitRetry,
			Reason: fmt.Sprintf("failure %d in a row", r.Failures),
		}
	default:
		if err := c.scheduleJudged(ctx, &next, v, s, f); err != nil {
			return next, err
		}
	}
	if v.failed || v.gone {
		noise.Abandon(r, v.finished)
	}
	dropRefused(r, v.fault)
	if !v.failed {
		r.ReportedChange, r.ReportedUnchanged = time.Time{}, time.Time{}
	}
	r.Why = history.Why(next.wait)
	if v.robots {
		return c.scheduleRobots(v, s, next), nil
	}
	r.Due = v.waitBegins(next.wait).Add(next.wait.Interval)
	if r.Prompt && !v.failed {
		r.Due = c.promptDue(v, s, next)
	}
	if next.asked.After(r.Due) {
		r.Due, r.Why = next.asked, frontier.WhyRetryAfter
	}
	if v.isSubstitute() {
		return c.scheduleSubstitute(v, s, next), nil
	}
	return next, nil
}

// scheduleJudged decides the wait after a visit whose content was judged.
func (c *Crawler) scheduleJudged(ctx context.Context, next *schedule, v visit, s settings, f findings) (err error) {
	r := &next.record
	var ok bool
	history.Entitle(r, f.title)
	host := c.demand.Of(*r, s.Politeness)
	if next.wait, ok = v.look.Decide(r, v.capture, &s.Settings, host.Stretch, v.finished); ok {
		return nil
	}
	next.timing = v.dating().Timing(f.source.activity)
	in := evaluators.WaitInput{
		MIME: r.ContentType, State: v.look.State, First: v.verdict.First, Previous: r.Wait,
		Overdue: v.claim.Overdue, Evidence: c.evidence(v, *next, f, host.Stretch),
	}
	next.wait = s.Wait.Next(in)
	next.late = rendered.After(v.record(), &s.Settings, v.verdict.State, in, next.wait, v.waitBegins(next.wait))
	next.wait.Versions = newVersions(v, *next)
	r.Wait, r.Rate, r.Memory = next.wait.Asked(), next.wait.PerDay, string(next.wait.Memory)
	next.scheduleSource(v, s.Feeds, f.source)
	r.Prompt = r.Prompt || host.First
	if r.Source == "" {
		next.followUp(v, s.Articles)
	}
	next.wait, err = v.look.Then(ctx, r, next.wait, v.capture, &s.Settings, v.finished)
	return err
}

// evidence returns the facts of a visit that the learned rule reads.
func (c *Crawler) evidence(v visit, next schedule, f findings, stretch float64) evaluators.Evidence {
	return evaluators.Evidence{
		At: v.capture.Started, Born: next.record.Born, Idle: f.source.idle,
		Jumped:    c.clock.Jumped(v.record().LastVisit, v.capture.Started),
		ChangedAt: next.timing.At, ChangedBy: next.timing.By, Silent: next.timing.Silent, Moments: next.timing.Moments,
		Changes: next.timing.Changes, Kind: kindOf(v), Relatives: v.similar, Memory: rate.Memory(next.record.Memory),
		Stretch: stretch,
	}
}

// waitBegins returns the time from which a wait counts. That is the end of the visit, as in Heritrix's adaptive
// frontier. For a rule that keeps a phase it is the time when the visit was claimed.
func (v visit) waitBegins(w evaluators.Wait) time.Time {
	if due := v.record().Due; w.Phased && !due.IsZero() {
		return due.Add(v.claim.Overdue)
	}
	return v.finished
}

// historyVisit returns the facts of a visit that enter the history of its URI.
func historyVisit(v visit, a archived) history.Visit {
	got := v.capture
	h := history.Visit{
		Started: got.Started, Status: got.Status, State: v.verdict.State, Failed: v.failed, Gone: v.gone,
		Unread: got.Stopped || got.Status == http.StatusNotModified, Asked: v.req.Mark,
	}
	if v.failed {
		h.Error = v.errorText()
	}
	if h.Unread {
		return h
	}
	h.Body = history.Body{
		Complete: got.Complete, ContentType: got.Header.Get("Content-Type"), Location: got.Header.Get("Location"),
		Comparison: v.compared, Near: v.verdict.Near, Payload: got.PayloadDigest, Size: got.PayloadSize, Origin: a.origin,
		NoOrigin: a.keeping == KeptEvidence,
	}
	if h.Body.NoOrigin {
		return h // its validators would bring a 304, which needs an origin
	}
	now := evaluators.Lasting(got.Header)
	// If the body is not kept, its validators may be remembered only if the archived body has the same ones.
	if got.Status == http.StatusOK && (a.keeping != KeptNothing || now == v.record().Validators) {
		h.Body.Validators = now
	}
	return h
}

// askedOf returns the time before which the server wants no request. It is at most as far ahead as a failure of the
// page or of robots.txt may put a visit off.
func askedOf(v visit, s settings) time.Time {
	limit := s.Retry.Max
	if v.robots {
		limit = s.Robots.UnreachableWait
	}
	return policy.RetryAfter(v.capture.Status, v.capture.Header, v.finished, limit)
}
