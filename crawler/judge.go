package crawler

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/arcrawl/arcrawl/aspects/login"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/history"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/panics"
)

// judge returns the meaning of an exchange, compared with what is remembered.
//
// An error is our own: the store is broken, or the content could not be read again from where it was spooled.
func (c *Crawler) judge(
	ctx context.Context, claim frontier.Claim, s settings, req login.Request, capture *fetch.Capture,
) (v visit, err error) {
	defer panics.Recover(&err)
	c.step("judging")
	r := claim.Record
	v = unjudged(claim, req, capture)
	unread := capture.Stopped || capture.Status == http.StatusNotModified && req.Conditional()
	v.gone = !v.robots && misfortune.IsGone(capture)
	if failure, err := c.failure(&v, s, unread); failure != "" || err != nil {
		return v.fail(failure), err
	}
	if unread && req.Filter.Contradicts(req.Sent, r.Validators, evaluators.ValidatorsOf(capture.Header)) {
		v.verdict = evaluators.Verdict{State: evaluators.Unknown, Reason: "304 with another ETag"}
		return v, c.lookTwice(ctx, &v, s)
	}
	if v.robots {
		s.Change.Rules = new(digest.Rules) // every byte of it counts
	}
	v.compared, err = noise.Digest(ctx, capture, s.Change)
	if errors.Is(err, digest.ErrTooSlow) {
		v.fault, err = err, nil // it is compared whole
	}
	if err != nil {
		return v, err
	}
	v.compareWith(r, s, unread)
	if err := c.detectBlock(&v, s); err != nil {
		return v, err
	}
	if err := c.lookTwice(ctx, &v, s); err != nil {
		return v, err
	}
	return v, c.recall(&v)
}

// failure returns why a visit failed, as far as its content does not matter; "" if it did not. It sets v.block.
func (c *Crawler) failure(v *visit, s settings, unread bool) (why string, err error) {
	back, err := misfortune.LeadsBack(v.record(), v.capture, c.parts.Frontier.Get)
	switch {
	case err != nil:
		return "", err
	case v.req.Strangers:
		v.block = evaluators.ForStrangers
	case back && !v.robots && s.Trouble.KnownBlocks:
		v.block = evaluators.RedirectLoop
	case !unread && misfortune.IsMisfortune(v.capture):
		v.block, err = misfortune.Detect(v.capture, s.Trouble)
		return "failed", err
	case v.gone && v.record().Gone+1 < s.Trouble.GoneAfter:
		return history.Unconfirmed, nil
	}
	return v.block, nil
}

// detectBlock fails a visit whose new content is not the page.
func (c *Crawler) detectBlock(v *visit, s settings) (err error) {
	if v.verdict.State != evaluators.Changed || v.robots {
		return nil
	}
	if v.block, err = misfortune.Detect(v.capture, s.Trouble); err == nil {
		err = c.detectSharedNotFound(v, s)
	}
	if v.block != "" {
		*v = v.fail(v.block)
		v.gone = strings.HasPrefix(v.block, evaluators.NotFound)
	}
	return err
}

// compareWith compares a visit with the last capture of its URI.
func (v *visit) compareWith(r frontier.Record, s settings, unread bool) {
	capture := v.capture
	cut := isCut(capture)
	if cut {
		v.compared = digest.Comparison{Sum: cutSum(capture)}
	}
	v.verdict = evaluators.ChangeEvaluator{Tolerance: s.Change.Tolerance}.Judge(
		evaluators.Before{Known: !r.LastCapture.IsZero(), Status: r.Status, Location: r.Location, Comparison: r.Comparison},
		evaluators.Seen{
			Status: capture.Status, Location: capture.Header.Get("Location"), Comparison: v.compared,
			Unread: unread, Complete: capture.Complete || cut,
		})
	if cut && v.verdict.State == evaluators.Changed {
		// A stream without end differs each time. It must not be read more often for that.
		v.verdict.State, v.verdict.Reason = evaluators.Unknown, "cut at the size limit, "+v.verdict.Reason
	}
}

// otherRequest ends the reason of a change that may have come from the crawler's side.
const otherRequest = "; the request had other headers or cookies than at the last capture"

// askedOtherwise reports whether the settings have changed what is sent since the last capture.
func (v visit) askedOtherwise() bool {
	return !v.record().LastCapture.IsZero() && v.req.AskedOtherwise(v.record())
}

// recall adds the estimates of similar URIs and the reliability of dates on the host, for the next visit.
func (c *Crawler) recall(v *visit) (err error) {
	r := v.record()
	if v.similar, err = c.similarURIs(*v); err != nil {
		return err
	}
	if r.Source != "" || !r.ReportedChange.IsZero() {
		v.dates, err = c.parts.Reputation.Dates(r.URI.Host())
	}
	return err
}

// lookTwice notes what a visit says about how its URI differs from fetch to fetch.
func (c *Crawler) lookTwice(ctx context.Context, v *visit, s settings) (err error) {
	if v.askedOtherwise() && v.verdict.State == evaluators.Changed {
		v.verdict.Reason += otherRequest
	}
	if v.look.State = v.verdict.State; v.robots {
		return nil
	}
	v.look, err = c.fetches.Judge(ctx, v.record(), v.verdict.State, v.failed, v.capture, &s.Settings)
	if s.Change.Auto == config.AutoJudge && v.verdict.State == evaluators.Changed && v.look.Quiet() {
		v.verdict = evaluators.Verdict{State: evaluators.Unchanged, Reason: "a reader sees the same"}
	}
	return err
}
