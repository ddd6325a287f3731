package crawler

import (
	"fmt"
	"net/http"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/history"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/discover/feeds"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
)

// found is what a visit discovered.
type found struct {
	candidates []frontier.Candidate
	dropped    int   // links beyond the page's limit
	err        error // the content could not be read to its end
	reading    reading
	trapped    trapped
	born       time.Time // when the page came into being, if it turns out to be a new article
}

// discover lists what a page names that is new to it: only a first, changed or cut answer is read again. Of a feed or sitemap
// it says besides what is new in it. The error is of the store.
func (c *Crawler) discover(v visit, s terms) (found, error) {
	if fresh := v.verdict.First || v.verdict.State == evaluators.Changed || v.capture.Truncated == fetch.TruncatedLength; !fresh {
		return found{reading: unread(v)}, nil
	}
	return c.read(v, s)
}

// read is discover for an answer that is read again.
func (c *Crawler) read(v visit, s terms) (found, error) {
	var found found
	got := v.capture
	f := finder{c: c, v: v, s: s, found: &found}
	if err := f.source(); err != nil {
		return found, err
	}
	if v.failed || got.Status >= http.StatusBadRequest {
		return found, nil
	}
	if v.robots {
		f.sitemaps()
	}
	content, err := got.Content()
	if err != nil {
		found.err = err
		return found, nil
	}
	defer content.Close()
	doc := discover.Document{URI: v.uri(), Status: got.Status, Header: got.Header}
	named, err := discover.Links(doc, content, s.Links)
	found.dropped += named.Dropped
	found.err = err
	if err := f.links(named); err != nil {
		return found, err
	}
	f.recognise(named)
	if err := found.look(v, named, v.finished); err != nil {
		return found, err
	}
	return found, c.sift(&found, s.Settings, v.finished)
}

// next is the URI's history after the visit, and why it is due when it is due.
type next struct {
	record frontier.Record
	wait   evaluators.Wait
	robots *frontier.RobotsCopy // the copy of robots.txt that is in force from now on
	reopen bool                 // its rules are not the ones before
	rest   time.Time            // the whole host rests until then
	told   Reading              // of a feed or sitemap
	timing timing
}

// next says what is remembered of a visit and when the URI is due again.
func (c *Crawler) next(v visit, s config.Settings, k kept, f found) next {
	n := next{record: v.record(), rest: retryAfter(v.capture, v.finished)}
	n.record = history.Add(n.record, historyOf(v, k))
	r := &n.record
	if r.Urgent = v.failed && r.Urgent; !f.born.IsZero() {
		r.Born = f.born
	}
	switch {
	case v.gone:
		n.wait = goneWait(r.Gone, s.Trouble)
		if kind := f.reading.state.Kind; kind != feeds.None {
			n.told = Reading{Kind: kind, Slow: r.Gone >= s.Trouble.GoneAfter}
		}
	case v.failed:
		n.wait = evaluators.Wait{Interval: s.Retry.Wait(r.Failures), Evaluator: history.WaitRetry, Reason: fmt.Sprintf("failure %d in a row", r.Failures)}
	default:
		n.timing = timingOf(v, f.reading.dated)
		n.wait = s.Wait.Next(evaluators.WaitInput{
			MIME: r.ContentType, State: v.verdict.State, First: v.verdict.First, Previous: v.record().Wait, Overdue: v.claim.Overdue,
			Evidence: c.evidence(v, s, n, f),
		})
		n.wait.Versions = versionsSince(v, n)
		r.Wait, r.Rate, r.Memory = n.wait.Asked(), n.wait.PerDay, string(n.wait.Memory)
		n.nextSource(v, s.Feeds, f.reading)
		if r.Source == "" {
			n.followUp(v, s.Articles)
		}
	}
	if !v.failed {
		r.ReportedChange, r.ReportedUnchanged = time.Time{}, time.Time{}
	}
	r.Why = history.Why(n.wait)
	if v.robots {
		return c.nextRobots(v, s, n)
	}
	r.Due = v.countsFrom(n.wait).Add(n.wait.Interval)
	if r.Prompt && !v.failed {
		r.Due = c.inTime(v, s, n)
	}
	if n.rest.After(r.Due) {
		r.Due, r.Why = n.rest, "the host asked for it: Retry-After"
	}
	return n
}

// evidence returns what the learned rule reads of a visit.
func (c *Crawler) evidence(v visit, s config.Settings, n next, f found) evaluators.Evidence {
	return evaluators.Evidence{
		At: v.capture.Started, Born: n.record.Born, Idle: f.reading.idle,
		ChangedAt: n.timing.at, ChangedBy: n.timing.by, Silent: n.timing.silent, Moments: n.timing.moments, Changes: n.timing.changes,
		Kind: kindOf(v), Relatives: v.relatives, Memory: rate.Memory(n.record.Memory),
		Stretch: c.prices.stretch(v.uri().Host(), s.Politeness),
	}
}

// countsFrom is the moment from which a wait counts: when the visit was claimed where a rule keeps a phase, and its end
// for all others, as the ancestors have it.
func (v visit) countsFrom(w evaluators.Wait) time.Time {
	if due := v.record().Due; w.Phased && !due.IsZero() {
		return due.Add(v.claim.Overdue)
	}
	return v.finished
}

// goneWait is the wait of a URI that so many visits in a row found gone: a ladder while it is being confirmed, the slow
// lane from then on.
func goneWait(times int, s config.Trouble) evaluators.Wait {
	if times < s.GoneAfter {
		return evaluators.Wait{
			Interval: s.GoneLadder().Wait(times), Evaluator: history.WaitGone, Reason: fmt.Sprintf("gone, %d of %d visits that confirm it", times, s.GoneAfter),
		}
	}
	return evaluators.Wait{Interval: s.GoneWait, Evaluator: history.WaitGone, Reason: fmt.Sprintf("gone, %d visits in a row", times)}
}

// historyOf returns what a visit adds to the history of its URI.
func historyOf(v visit, k kept) history.Visit {
	got := v.capture
	h := history.Visit{
		Started: got.Started, Status: got.Status, State: v.verdict.State, Failed: v.failed, Gone: v.gone,
		Unread: got.Stopped || got.Status == statusNotModified,
	}
	if h.Unread {
		return h
	}
	h.Body = history.Body{
		Complete: got.Complete, ContentType: got.Header.Get("Content-Type"), Location: got.Header.Get("Location"),
		Comparison: v.compared, Near: v.verdict.Near, Payload: got.PayloadDigest, Size: got.PayloadSize, Origin: k.origin,
	}
	now := evaluators.Lasting(got.Header)
	// If the body is not kept, its validators may be remembered only if they are those of the body that is.
	if got.Status == http.StatusOK && (k.keeping != KeptNothing || now == v.record().Validators) {
		h.Body.Validators = now
	}
	return h
}

// observation is what a visit tells about the worth of the host's validators; ok is false when it tells nothing, because
// the body was not read or there is none to compare it with.
func observation(v visit) (o evaluators.Observation, ok bool) {
	got, r := v.capture, v.record()
	read := got.Status == http.StatusOK && got.Complete && !got.Stopped
	if v.robots || v.failed || !read || v.verdict.First || r.Status != http.StatusOK {
		return o, false
	}
	denied := r.Unread > 0 && r.LastStatus == statusNotModified && !v.asked.conditional()
	return evaluators.Observation{
		MIME: got.Header.Get("Content-Type"), Before: r.Validators, Now: evaluators.ValidatorsOf(got.Header), State: v.verdict.State,
		Conditional: v.asked.conditional(), Denied: denied,
		Stale: denied && evaluators.ChangedBefore(got.Header, got.Started.Sub(r.LastVisit)),
	}, true
}

// remember is the last step: the dedup index hears of a new record, the book of reputations of what the headers were
// worth, and the frontier of the whole visit.
func (c *Crawler) remember(v visit, s config.Settings, k kept, f found, n next) error {
	got := v.capture
	if o, ok := observation(v); ok {
		if err := c.rooms.Trust.Add(v.uri().Host(), o); err != nil {
			return fmt.Errorf("remember what the headers of %s were worth: %w", v.uri(), err)
		}
	}
	if err := c.learnDates(v, f.reading); err != nil {
		return err
	}
	if err := c.tellRelatives(v, n.wait); err != nil {
		return err
	}
	if err := c.learnTraps(v, s, k, f); err != nil {
		return err
	}
	also, err := c.indexing(v, s.Dedup, k)
	if err != nil {
		return err
	}
	c.step("indexed")
	polite := c.robots.Politeness(v.uri(), s.Politeness, n.robots)
	added, err := c.rooms.Frontier.Settle(v.claim, frontier.Settlement{
		Record: n.record, Finished: v.finished, Took: got.Took, Politeness: polite,
		RetryAfter: n.rest, HostDown: hostDown(got.Status), Found: f.candidates, Seen: f.reading.seen, Robots: n.robots, Reopen: n.reopen,
		AlsoWrite: also,
	})
	if err != nil {
		return fmt.Errorf("settle %s: %w", v.uri(), err)
	}
	c.step("settled")
	c.prices.tell(v, s, n.record.History, got.Took+polite.Rest(got.Took))
	if err := c.account(v, n); err != nil {
		return err
	}
	c.settled()
	c.tell(v.uri(), n.told)
	if state := f.reading.state; c.rooms.Hub != nil && !state.Hub.IsZero() && n.told.Kind != feeds.None {
		c.rooms.Hub(v.finished, v.uri(), state.Topic, state.Hub)
	}
	r := reportOf(v, k, n, added)
	r.Took, r.Rest = got.Took, polite.Rest(got.Took)
	c.report(r)
	return nil
}

// hostDown reports whether a status means that the host itself could not be reached.
func hostDown(status int) bool { return status == fetch.DNSFailed || status == fetch.ConnectFailed }

func reportOf(v visit, k kept, n next, added frontier.Added) Report {
	got, before := v.capture, v.record()
	r := Report{
		URI: v.uri(), Hops: before.Hops, Finished: v.finished, Status: got.Status, Verdict: v.verdict, Failed: v.failed, Block: v.block,
		Stopped: got.Stopped, Audit: v.asked.audit != "", Kept: k.keeping, Received: got.BlockSize, Wait: n.wait, Due: n.record.Due,
		Visits: n.record.Visits, Versions: n.record.Versions, Found: added.New, Written: k.written,
		Source: n.told,
	}
	r.Spared = spared(v)
	if got.Status != statusNotModified && (k.keeping == KeptRevisit || k.keeping == KeptThinned) {
		r.Deduped = got.PayloadSize
	}
	return r
}
