package crawler

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/scope/robots"
)

const statusNotModified = http.StatusNotModified

// acceptEncoding asks for what fetch can undo; the archive keeps what was sent as it was sent.
const acceptEncoding = "gzip, deflate, br, zstd"

// maxFields is how many header fields a request has, with all conditions.
const maxFields = 5

// question is what a visit asks the server, and how far it is going to believe the answer.
type question struct {
	request fetch.Request
	filter  evaluators.Midfetch   // what its headers are judged by
	sent    evaluators.Validators // conditions of the request; empty when it is unconditional
	audit   string                // why the body is read though the headers would vouch for it; empty when it is no audit
}

func (q question) conditional() bool { return q.sent != evaluators.Validators{} }

// ask is the question that a visit to r puts: conditional, and with the mid-fetch filter, when the last complete capture
// left validators, the host's are worth believing, and no audit is due.
func (c *Crawler) ask(r frontier.Record, s terms, now time.Time) (question, error) {
	q := question{request: c.plain(r, s)}
	if robots.IsFile(r.URI) || !canVouch(r) || c.rooms.Dedup.Lost(r.Origin) {
		return q, nil
	}
	q.filter = s.Midfetch.For(r.ContentType)
	reputation, err := c.rooms.Trust.Get(r.URI.Host())
	if err != nil || q.filter.DecideBy == evaluators.Off {
		return q, err
	}
	q.filter.Doubted = reputation.Doubts(r.ContentType, s.Midfetch.Bar)
	if vouches, _ := q.filter.Unchanged(r.Validators, r.Validators); !vouches {
		return q, nil // nobody is believed: the body is read anyway
	}
	visit := evaluators.Visit{MIME: r.ContentType, Unread: r.Unread, Since: now.Sub(later(r.LastRead, r.FirstSeen)), Lot: lot(r)}
	if due, why := s.Midfetch.Audit.Due(reputation, visit); due {
		q.audit = why
		return q, nil
	}
	q.sent = q.filter.Conditions(r.Validators)
	if q.sent.ETag != "" {
		q.request.Header = append(q.request.Header, fetch.Field{Name: "If-None-Match", Value: q.sent.ETag})
	}
	if q.sent.LastModified != "" {
		q.request.Header = append(q.request.Header, fetch.Field{Name: "If-Modified-Since", Value: q.sent.LastModified})
	}
	q.request.Stop = stopsWhen(q.filter, r.Validators)
	return q, nil
}

// stopsWhen is the mid-fetch filter of one exchange.
func stopsWhen(filter evaluators.Midfetch, before evaluators.Validators) func(fetch.Head) bool {
	return func(h fetch.Head) bool {
		if h.Status != http.StatusOK {
			return false
		}
		unchanged, _ := filter.Unchanged(before, evaluators.ValidatorsOf(h.Header))
		return unchanged
	}
}

// lot is the lot that a visit draws for the audits: a hash, so that the same visit draws the same one after a crash and
// in every repetition.
func lot(r frontier.Record) uint64 {
	text := append(append(make([]byte, 0, 256), r.URI.String()...), ' ')
	sum := sha256.Sum256(strconv.AppendInt(text, int64(r.Visits), 10))
	return binary.BigEndian.Uint64(sum[:])
}

// plain is the unconditional request for r.
func (c *Crawler) plain(r frontier.Record, s terms) fetch.Request {
	return fetch.Request{
		URI: r.URI,
		Header: append(make([]fetch.Field, 0, maxFields),
			fetch.Field{Name: "User-Agent", Value: s.config.UserAgent(c.rooms.Version)},
			fetch.Field{Name: "Accept", Value: "*/*"},
			fetch.Field{Name: "Accept-Encoding", Value: acceptEncoding},
		),
		Limits: s.Fetch,
	}
}

// canVouch reports whether r's validators speak for a body that is in the archive.
func canVouch(r frontier.Record) bool {
	return r.Status == http.StatusOK && !r.Origin.IsZero() && r.Validators != evaluators.Validators{}
}

// comparison is the digest that decides whether a page changed: of what the rules leave of the content without its
// coding, or of the payload as it came when the coding cannot be undone.
func comparison(c *fetch.Capture, rules *digest.Rules) (digest.Comparison, error) {
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
	return rules.Compare(content, contentType, c.ContentDigest)
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
