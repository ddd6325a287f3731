package crawler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/history"
	"github.com/arcrawl/arcrawl/crawler/wall"
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
	ctx context.Context, claim frontier.Claim, s settings, req request, capture *fetch.Capture,
) (v visit, err error) {
	defer panics.Recover(&err)
	c.step("judging")
	r := claim.Record
	v = unjudged(claim, req, capture)
	unread := capture.Stopped || capture.Status == statusNotModified && req.conditional()
	v.gone = !v.robots && isGone(capture)
	back, err := wall.LeadsBack(r, capture, c.parts.Frontier.Get)
	switch {
	case err != nil:
		return v, err
	case back && !v.robots && s.Trouble.KnownBlocks:
		v.block = evaluators.RedirectLoop
		return v.fail(v.block), nil
	case !unread && isMisfortune(capture):
		v.block, err = wall.Detect(capture, s.Trouble)
		return v.fail("failed"), err
	case v.gone && r.Gone+1 < s.Trouble.GoneAfter:
		return v.fail(history.Unconfirmed), nil
	}
	if unread && req.filter.Contradicts(req.sent, r.Validators, evaluators.ValidatorsOf(capture.Header)) {
		v.verdict = evaluators.Verdict{State: evaluators.Unknown, Reason: "304 with another ETag"}
		return v, nil
	}
	if v.robots {
		s.Change.Rules = new(digest.Rules) // every byte of it counts
	}
	v.compared, err = comparison(ctx, capture, s.Change)
	if errors.Is(err, digest.ErrTooSlow) {
		v.fault, err = err, nil // it is compared whole
	}
	if err != nil {
		return v, err
	}
	v.verdict = evaluators.ChangeEvaluator{Tolerance: s.Change.Tolerance}.Judge(
		evaluators.Before{Known: !r.LastCapture.IsZero(), Status: r.Status, Location: r.Location, Comparison: r.Comparison},
		evaluators.Seen{
			Status: capture.Status, Location: capture.Header.Get("Location"), Comparison: v.compared,
			Unread: unread, Complete: capture.Complete,
		})
	if v.verdict.State == evaluators.Changed && !v.robots {
		if v.block, err = wall.Detect(capture, s.Trouble); err == nil {
			err = c.detectSharedNotFound(&v, s)
		}
	}
	if v.block != "" {
		v = v.fail(v.block)
		v.gone = strings.HasPrefix(v.block, evaluators.NotFound)
	}
	if err == nil {
		v.similar, err = c.similarURIs(v)
	}
	if err == nil && (r.Source != "" || !r.ReportedChange.IsZero()) {
		v.dates, err = c.parts.Reputation.Dates(r.URI.Host())
	}
	return v, err
}

// isMisfortune reports whether a capture says nothing about the page: the connection or the server failed, or the
// server refused to answer us. A body that is cut at our own size limit is not a misfortune, because it is cut there
// every time.
func isMisfortune(c *fetch.Capture) bool {
	switch c.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusRequestTimeout,
		http.StatusTooEarly, http.StatusTooManyRequests, statusNotModified:
		return true
	}
	cut := !c.Complete && c.Truncated != fetch.TruncatedLength
	return c.Status < http.StatusOK || c.Status >= http.StatusInternalServerError || cut
}

// hostDown reports whether a status means that the host itself could not be reached.
func hostDown(status int) bool { return status == fetch.DNSFailed || status == fetch.ConnectFailed }

// isGone reports whether the server says that there is no such page.
func isGone(c *fetch.Capture) bool {
	return c.Complete && (c.Status == http.StatusNotFound || c.Status == http.StatusGone)
}

// comparison returns the digest that decides whether a page changed. It is the digest of the decoded content after
// scrubbing. If the content cannot be decoded, it is the digest of the payload as received.
func comparison(ctx context.Context, c *fetch.Capture, s config.Change) (digest.Comparison, error) {
	rules := s.Rules
	contentType := c.Header.Get("Content-Type")
	switch {
	case !c.Complete:
		return digest.Comparison{}, nil
	case c.ContentDigest.IsZero():
		return rules.Whole(c.PayloadDigest), nil
	case rules.Idle(contentType, c.ContentSize):
		return rules.Whole(c.ContentDigest), nil
	}
	content, err := c.Content()
	if err != nil {
		return digest.Comparison{}, fmt.Errorf("read the content again: %w", err)
	}
	defer content.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, s.MaxTime, digest.ErrTooSlow)
	defer cancel()
	compared, err := rules.Compare(ctx, content, contentType, c.ContentDigest)
	if errors.Is(err, fetch.ErrMaxContent) {
		return rules.Whole(c.ContentDigest), nil // longer than we may read; its digest is known from the download
	}
	return compared, err
}
