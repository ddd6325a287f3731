package crawler

import (
	"errors"
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/aspects/login"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/crawler/history"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/warcout"
)

// unjudged returns a visit without a verdict.
func unjudged(claim frontier.Claim, req login.Request, got *fetch.Capture) visit {
	return visit{
		claim: claim, req: req, capture: got, finished: got.Started.Add(got.Took), robots: robots.IsFile(claim.Record.URI),
	}
}

// unfetched returns the visit of a URI for which no exchange could be made, because of a fault that concerns only it.
func (c *Crawler) unfetched(claim frontier.Claim, req login.Request, began time.Time, err error) visit {
	nothing := c.noAnswer(began)
	nothing.URI, nothing.Status = claim.Record.URI, misfortune.Status
	return unjudged(claim, req, nothing).broken(fmt.Errorf("fetch %s: %w", claim.Record.URI, err))
}

// broken returns the visit as a misfortune of its URI alone, because the document could not be processed.
func (v visit) broken(err error) visit {
	v = v.fail("failed")
	v.block, v.gone = "", false
	v.fault = errors.Join(v.fault, err)
	got := v.capture
	got.Misfortune = errors.Join(got.Misfortune, err)
	return v
}

// quarantined returns the schedule of a visit that could not be scheduled.
func quarantined(v visit, s settings, a archived) schedule {
	next := schedule{record: history.Add(v.record(), historyVisit(v, a))}
	next.wait = misfortune.Wait(v.fault, next.record.Failures, s.Retry)
	next.record.Why = history.Why(next.wait)
	next.record.Due = v.finished.Add(next.wait.Interval)
	if v.robots || v.isSubstitute() {
		next.robots = &frontier.RobotsCopy{Fetched: v.finished, Expires: next.record.Due, Unreachable: true}
	}
	if v.robots {
		return next.robotsDue(v, next.wait.Interval)
	}
	return next
}

// writeOther archives a visit whose record was refused: the whole answer in place of a revisit, or else nothing. A
// refused revisit is a fault of the original, which the whole answer replaces. An error is ours.
func (c *Crawler) writeOther(v visit, s settings, a archived, refused error) (visit, archived, error) {
	if a.keeping == KeptRevisit {
		a = archived{keeping: KeptResponse, looked: a.looked, unsound: true}
		w, err := c.write(v, s, a)
		if err == nil {
			v.fault = refused
			a.record, a.written, a.origin = w.Origin, w.Bytes, w.Origin
			return v, a, nil
		}
		refused = errors.Join(refused, err)
	}
	if misfortune.IsOurs(refused) {
		return v, archived{}, refused
	}
	return v.broken(refused), archived{keeping: KeptNothing}, nil
}

// dropRefused removes what the next visit must not refer to again, if the archive refused it.
func dropRefused(r *frontier.Record, fault error) {
	if errors.Is(fault, warcout.ErrRefused) {
		r.Origin, r.Validators = digest.Origin{}, evaluators.Validators{}
	}
}
