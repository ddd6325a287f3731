package crawler

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
)

const statusNotModified = http.StatusNotModified

// acceptEncoding asks for what fetch can undo; the archive keeps what was sent as it was sent.
const acceptEncoding = "gzip, deflate, br, zstd"

// request is the exchange that a visit to r asks for: conditional, and with the mid-fetch filter, when the last
// complete capture left validators and no audit is due.
func (c *Crawler) request(r frontier.Record, s config.Settings) fetch.Request {
	q := fetch.Request{
		URI: r.URI,
		Header: []fetch.Field{
			{Name: "User-Agent", Value: c.rooms.Config.UserAgent(c.rooms.Version)},
			{Name: "Accept", Value: "*/*"},
			{Name: "Accept-Encoding", Value: acceptEncoding},
		},
		Limits: fetch.Limits{
			Connect: s.Fetch.ConnectTimeout, Headers: s.Fetch.HeaderTimeout, Body: s.Fetch.BodyTimeout,
			MaxHead: s.Fetch.MaxHead, MaxBody: s.Fetch.MaxBody, MaxContent: s.Fetch.MaxContent,
		},
	}
	if isRobots(r.URI) || !canVouch(r) || auditDue(r, s) {
		return q
	}
	filter := s.Midfetch.Midfetch
	ask := filter.Conditions(r.Validators)
	if ask.ETag != "" {
		q.Header = append(q.Header, fetch.Field{Name: "If-None-Match", Value: ask.ETag})
	}
	if ask.LastModified != "" {
		q.Header = append(q.Header, fetch.Field{Name: "If-Modified-Since", Value: ask.LastModified})
	}
	q.Stop = func(h fetch.Head) bool {
		if h.Status != http.StatusOK {
			return false
		}
		unchanged, _ := filter.Unchanged(r.Validators, evaluators.ValidatorsOf(h.Header))
		return unchanged
	}
	return q
}

// canVouch reports whether r's validators speak for a body that is in the archive.
func canVouch(r frontier.Record) bool {
	return r.Status == http.StatusOK && !r.Origin.IsZero() && r.Validators != evaluators.Validators{}
}

// auditDue reports whether the headers have vouched for r so often in a row that it is time to read the whole page.
func auditDue(r frontier.Record, s config.Settings) bool {
	return s.Midfetch.AuditEvery > 0 && r.Unread >= s.Midfetch.AuditEvery
}

// misfortune reports whether a capture says nothing about the page: the connection or the server failed, or the server
// would not answer us. A body cut at our own size limit is no misfortune: it will be cut there every time.
func misfortune(c *fetch.Capture) bool {
	switch c.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusRequestTimeout,
		http.StatusTooEarly, http.StatusTooManyRequests, statusNotModified:
		return true
	}
	cut := !c.Complete && c.Truncated != fetch.TruncatedLength
	return c.Status < http.StatusOK || c.Status >= http.StatusInternalServerError || cut
}

// comparison is the digest that decides whether a page changed: of the content without its coding, or of the payload
// as it came when the coding cannot be undone.
func comparison(c *fetch.Capture) digest.Comparison {
	if !c.ContentDigest.IsZero() {
		return digest.Comparison{Sum: c.ContentDigest}
	}
	return digest.Comparison{Sum: c.PayloadDigest}
}

// retryAfter is when the server allows the next request (RFC 9110, 10.2.3: seconds or a date), and zero when it does not say.
func retryAfter(c *fetch.Capture, finished time.Time) time.Time {
	if c.Status != http.StatusTooManyRequests && c.Status != http.StatusServiceUnavailable {
		return time.Time{}
	}
	value := strings.TrimSpace(c.Header.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 32); err == nil {
		return finished.Add(time.Duration(seconds) * time.Second)
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return time.Time{}
	}
	return date
}
