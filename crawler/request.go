// This file makes the plain request of a visit, and decides how far the headers of its answer are believed.

package crawler

import (
	"strings"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/internal/panics"
	"github.com/arcrawl/arcrawl/warcout"
)

// makeRequest makes the plain request of a visit.
func (c *Crawler) makeRequest(v *aspects.Visit) error {
	s, x := settingsOf(v), &v.Request.Exchange
	*x = s.config.Request(v.URI(), &s.Settings, c.parts.Version, v.Began)
	x.Crowded, x.Space = c.isCrowded, aspects.Of[own](v).room
	return nil
}

// believe makes the request conditional, with a mid-fetch filter, if the last complete capture left validators, the
// validators of the host are believed, no audit is due, and nothing else is sent than then.
func (c *Crawler) believe(v *aspects.Visit) (err error) {
	defer panics.Recover(&err)
	s, r, q, d, now := &settingsOf(v).Settings, v.Record(), &v.Request, c.parts.Dedup, v.Began
	if q.Whole || q.Mark != r.Asked || !r.Validators.CanVouch(r.Status, r.Origin) || d.Lost(r.Origin) {
		return nil
	}
	if spent, err := d.Spent(s.Dedup, r.Origin, now); err != nil || spent {
		return err
	}
	q.Filter = s.Midfetch.For(r.ContentType)
	known, err := c.parts.Reputation.Get(r.URI.Host())
	if err != nil || q.Filter.DecideBy == evaluators.Off {
		return err
	}
	q.Filter.Doubted = known.Doubts(r.ContentType, s.Midfetch.Threshold)
	if vouches, _ := q.Filter.Unchanged(r.Validators, r.Validators); !vouches {
		return nil // no validator is believed: the body is read anyway
	}
	since := r.LastRead
	if since.Before(r.FirstSeen) {
		since = r.FirstSeen
	}
	about := evaluators.Visit{
		MIME: r.ContentType, Unread: r.Unread, Since: now.Sub(since),
		Random: evaluators.AuditRandom(r.URI.String(), r.Visits),
	}
	if due, why := s.Midfetch.Audit.Due(known, about); due {
		q.Audit = why
		return nil
	}
	q.Sent = q.Filter.Conditions(r.Validators)
	header := &q.Exchange.Header
	if q.Sent.ETag != "" {
		*header = append(*header, fetch.Field{Name: "If-None-Match", Value: q.Sent.ETag})
	}
	if q.Sent.LastModified != "" {
		*header = append(*header, fetch.Field{Name: "If-Modified-Since", Value: q.Sent.LastModified})
	}
	filter, before := q.Filter, r.Validators
	q.Exchange.Stop = func(h fetch.Head) bool { return filter.Ends(before, h.Status, h.Header) }
	return nil
}

// requestFields appends the fields of the metadata record about a request and its connection.
func requestFields(v *aspects.Visit, fields []warcout.Field) []warcout.Field {
	r := &v.Request
	if s := v.Capture.Security; s != nil {
		fields = append(fields, warcout.Field{Name: "tlsCertificate", Value: s.Certificate},
			warcout.Field{Name: "tlsAccepted", Value: ascii(s.Accepted)})
	}
	if r.Permission != "" {
		fields = append(fields, warcout.Field{Name: "robotsPermission", Value: r.Permission})
	}
	if w := r.Exchange.Way; w != nil {
		fields = append(fields, warcout.Field{Name: "wayOfConnection", Value: w.String()})
	}
	if len(r.Exchange.Secrets) > 0 {
		names := make([]string, len(r.Exchange.Secrets))
		for i, f := range r.Exchange.Secrets {
			names[i] = f.Name
		}
		fields = append(fields, warcout.Field{Name: "requestRedacted", Value: strings.Join(names, ", ")})
	}
	return fields
}
