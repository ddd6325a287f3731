package crawler

import (
	"net/http"
	"time"

	"github.com/arcrawl/arcrawl/crawler/compare"
	"github.com/arcrawl/arcrawl/crawler/midfetch"
	"github.com/arcrawl/arcrawl/crawler/space"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/panics"
)

const statusNotModified = http.StatusNotModified

// acceptEncoding lists the codings that fetch can decode. The archive keeps the bytes as they were sent.
const acceptEncoding = "gzip, deflate, br, zstd"

// maxFields is the number of header fields of a request with all conditions.
const maxFields = 6

// request holds the exchange of a visit, and how far the headers of the answer are believed.
type request struct {
	exchange fetch.Request
	room     *space.Visit
	filter   evaluators.Midfetch   // judges the headers of the answer
	sent     evaluators.Validators // conditions of the request; zero = it is unconditional
	audit    string                // why the body is read although the headers would vouch for it; empty = no audit
}

func (r request) conditional() bool { return r.sent != evaluators.Validators{} }

// request returns the request of a visit. It is conditional and has a mid-fetch filter if the last complete capture
// left validators, the validators of the host are believed, and no audit is due.
func (c *Crawler) request(
	r frontier.Record, s settings, room *space.Visit, now time.Time,
) (req request, err error) {
	defer panics.Recover(&err)
	req = request{exchange: c.unconditional(r, s, room), room: room}
	tooOld := s.Dedup.TooOld(r.Origin.Date, now)
	if isRobots(r) || !canVouch(r) || tooOld || c.parts.Dedup.Lost(r.Origin) || compare.IsSecondLook(r) {
		return req, nil
	}
	req.filter = s.Midfetch.For(r.ContentType)
	reputation, err := c.parts.Reputation.Get(r.URI.Host())
	if err != nil || req.filter.DecideBy == evaluators.Off {
		return req, err
	}
	req.filter.Doubted = reputation.Doubts(r.ContentType, s.Midfetch.Threshold)
	if vouches, _ := req.filter.Unchanged(r.Validators, r.Validators); !vouches {
		return req, nil // no validator is believed: the body is read anyway
	}
	about := evaluators.Visit{
		MIME: r.ContentType, Unread: r.Unread, Since: now.Sub(later(r.LastRead, r.FirstSeen)),
		Random: midfetch.AuditRandom(r),
	}
	if due, why := s.Midfetch.Audit.Due(reputation, about); due {
		req.audit = why
		return req, nil
	}
	req.sent = req.filter.Conditions(r.Validators)
	header := &req.exchange.Header
	if req.sent.ETag != "" {
		*header = append(*header, fetch.Field{Name: "If-None-Match", Value: req.sent.ETag})
	}
	if req.sent.LastModified != "" {
		*header = append(*header, fetch.Field{Name: "If-Modified-Since", Value: req.sent.LastModified})
	}
	req.exchange.Stop = midfetch.StopIfUnchanged(req.filter, r.Validators)
	return req, nil
}

// unconditional returns the exchange for r without conditions.
func (c *Crawler) unconditional(r frontier.Record, s settings, room *space.Visit) fetch.Request {
	header := append(make([]fetch.Field, 0, maxFields),
		fetch.Field{Name: "User-Agent", Value: s.config.UserAgent(c.parts.Version)},
		fetch.Field{Name: "Accept", Value: "*/*"},
		fetch.Field{Name: "Accept-Encoding", Value: acceptEncoding},
	)
	if s.Cookie != "" {
		header = append(header, fetch.Field{Name: "Cookie", Value: s.Cookie})
	}
	return fetch.Request{
		URI: r.URI, Header: header,
		Limits: s.Fetch, Crowded: c.isCrowded, Space: room,
	}
}

// crowded reports whether slow visits hold more workers than hosts that do not answer may have.
func (c *Crawler) crowded() bool {
	n := 0
	for i := range c.current {
		if v := c.current[i].Load(); v != nil && time.Since(v.Claimed) >= frontier.SlowVisit {
			n++
		}
	}
	return n > frontier.MaxDoubtful(len(c.current))
}

// canVouch reports whether r's validators apply to a body that is in the archive.
func canVouch(r frontier.Record) bool {
	return r.Status == http.StatusOK && !r.Origin.IsZero() && r.Validators != evaluators.Validators{}
}
