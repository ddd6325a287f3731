package crawler

import (
	"context"
	"errors"
	"net/http"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
)

// isUnread reports whether the headers of an answer vouch for its body: a 304, or the download was stopped.
func isUnread(v *aspects.Visit) bool {
	return v.Capture.Stopped || v.Capture.Status == http.StatusNotModified && v.Request.Conditional()
}

// otherRequest ends the reason of a change that may have come from the crawler's side.
const otherRequest = "; the request had other headers or cookies than at the last capture"

// compare is the plain rule: the content changed if its digest is another one than at the last capture.
func (c *Crawler) compare(ctx context.Context, v *aspects.Visit) (done bool, err error) {
	r, o := v.Record(), aspects.OptionsOf[noise.Options](v)
	filter := v.Request.Filter
	if v.Unread && filter.Contradicts(v.Request.Sent, r.Validators, evaluators.ValidatorsOf(v.Capture.Header)) {
		v.Verdict = evaluators.Verdict{State: evaluators.Unknown, Reason: "304 with another ETag"}
		aspects.Of[own](v).contradicted = true
		return false, nil
	}
	rules := o.Rules
	if v.IsRobots {
		rules = new(digest.Rules) // every byte of it counts
	}
	v.Compared, err = noise.Digest(ctx, v.Capture, rules, o.MaxTime)
	if errors.Is(err, digest.ErrTooSlow) {
		v.Fault, err = err, nil // it is compared whole
	}
	if err != nil {
		return false, err
	}
	compareWith(v, o.Tolerance)
	if v.AskedOtherwise() && v.Verdict.State == evaluators.Changed {
		v.Verdict.Reason += otherRequest
	}
	v.WaitState = v.Verdict.State
	return false, nil
}

// compareWith compares a visit with the last capture of its URI.
func compareWith(v *aspects.Visit, tolerance int) {
	r, got := v.Record(), v.Capture
	cut := isCut(got)
	if cut {
		v.Compared = digest.Comparison{Sum: cutSum(got)}
	}
	v.Verdict = evaluators.ChangeEvaluator{Tolerance: tolerance}.Judge(
		evaluators.Before{Known: !r.LastCapture.IsZero(), Status: r.Status, Location: r.Location, Comparison: r.Comparison},
		evaluators.Seen{
			Status: got.Status, Location: got.Header.Get("Location"), Comparison: v.Compared,
			Unread: v.Unread, Complete: got.Complete || cut,
		})
	if cut && v.Verdict.State == evaluators.Changed {
		// A stream without end differs each time. It must not be read more often for that.
		v.Verdict.State, v.Verdict.Reason = evaluators.Unknown, "cut at the size limit, "+v.Verdict.Reason
	}
}

// recall adds the estimates of similar URIs and the probes of the crawl, for the next visit.
func (c *Crawler) recall(_ context.Context, v *aspects.Visit) (done bool, err error) {
	o := aspects.Of[own](v)
	if o.contradicted {
		return true, nil
	}
	if o.similar, err = c.similarURIs(v); err != nil || v.IsRobots || v.Record().Source != "" || decidedByText(v) {
		return false, err
	}
	found, err := c.parts.Similar.Probes()
	o.probes = &found
	return false, err
}

// isRead reports whether the content of a page is read: it is the first one, has changed or was cut.
func isRead(v *aspects.Visit) bool {
	return v.Verdict.First || v.Verdict.State == evaluators.Changed || v.Capture.Truncated == fetch.TruncatedLength
}
