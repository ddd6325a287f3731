package crawler

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/arcrawl/arcrawl/crawler/history"
	"github.com/arcrawl/arcrawl/crawler/policy"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
)

// maxRobots bounds the bytes of a robots.txt that are read (RFC 9309, 2.5).
const maxRobots = 500 << 10

// scheduleRobots completes the schedule of a robots.txt: which copy comes into force, for how long, and whether the
// host rests meanwhile.
func (c *Crawler) scheduleRobots(v visit, s settings, next schedule) schedule {
	before, had, err := c.parts.Frontier.Robots(v.uri().Origin())
	if err != nil {
		had = false
	}
	fresh := frontier.RobotsCopy{Fetched: v.finished, Expires: v.finished.Add(s.Robots.Wait), Status: v.capture.Status}
	unreachable := func() {
		fresh.Unreachable, fresh.Body = true, before.Body
		wait := min(s.Robots.UnreachableWait, s.Retry.Wait(max(1, next.record.Failures)))
		fresh.Expires = later(v.finished.Add(wait), next.asked)
		next.rest = fresh.Expires
	}
	switch {
	case hostDown(v.capture.Status):
		next.wait.Reason += "; asked again when the host has rested"
		return next.robotsDue(v, frontier.RestWhenDown(v.claim.HostFailures+1, !v.claim.NeverAnswered))
	case robotsUnreachable(v) || v.fault != nil && v.failed:
		unreachable()
	case policy.IsRedirect(v.capture.Status):
		fresh.Body = []byte(v.capture.Header.Get("Location"))
	case v.capture.Status < http.StatusMultipleChoices:
		if fresh.Body, err = readRobots(v.capture); err != nil {
			unreachable()
		}
	}
	next.robots = &fresh
	next.wait.Reason = robotsMeaning(fresh)
	next.reopen = had && !fresh.Unreachable && (before.Unreachable || !bytes.Equal(before.Body, fresh.Body))
	return next.robotsDue(v, fresh.Expires.Sub(v.finished))
}

// robotsMeaning returns the meaning of an answer for robots.txt, in words.
func robotsMeaning(c frontier.RobotsCopy) string {
	switch {
	case c.Unreachable:
		return "robots.txt unreachable: nothing of the host is visited meanwhile"
	case policy.IsRedirect(c.Status):
		return "robots.txt is elsewhere: the rules there are in force"
	case c.Status >= http.StatusBadRequest:
		return "no robots.txt: everything is allowed"
	}
	return "robots.txt is in force"
}

// robotsDue sets the due time of a robots.txt. Usually there is none, because the URIs of the host ask for robots.txt
// when they need it. If it was in the queue like any URI, as the target of another host's redirect, it is due after
// its wait.
func (next schedule) robotsDue(v visit, wait time.Duration) schedule {
	next.wait.Interval, next.wait.Evaluator = wait, history.WaitRobots
	next.record.Wait = 0
	if v.record().Due.IsZero() {
		next.record.Due = time.Time{}
		return next
	}
	next.record.Due = v.finished.Add(wait)
	return next
}

// robotsUnreachable reports whether a robots.txt could not be fetched, so that everything is forbidden for a while
// (RFC 9309, 2.3.1.4). 429 means a server in trouble, not a missing file. The other 4xx mean that there are no rules.
func robotsUnreachable(v visit) bool {
	status := v.capture.Status
	return status < http.StatusOK || status >= http.StatusInternalServerError || status == http.StatusTooManyRequests ||
		status < http.StatusMultipleChoices && !v.capture.Complete && v.capture.Truncated != fetch.TruncatedLength
}

// readRobots returns the content of a robots.txt, as far as it counts.
func readRobots(got *fetch.Capture) ([]byte, error) {
	content, err := got.Content()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", got.URI, err)
	}
	defer content.Close()
	body, err := io.ReadAll(io.LimitReader(content, maxRobots))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("read %s: %w", got.URI, err)
	}
	return body, nil
}
