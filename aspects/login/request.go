// This file decides which request a visit makes, and how far the headers of its answer are believed.

package login

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/history"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/internal/panics"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

// acceptEncoding lists the codings that fetch can decode. The archive keeps the bytes as they were sent.
const acceptEncoding = "gzip, deflate, br, zstd"

// maxFields is the number of header fields of a request with all conditions.
const maxFields = 6

// Maker makes requests. Its fields must be set.
type Maker struct {
	Dedup      *dedup.Index
	Reputation *hosts.Reputation
	Cookies    *hosts.Cookies // nil = no jar
	Version    string         // part of the User-Agent
	Crowded    func() bool    // see [fetch.Request]

	logins logins
}

// Make returns the request of a visit. It is conditional and has a mid-fetch filter if the last complete capture left
// validators, the validators of the host are believed, no audit is due, and nothing else is sent than
// then. whole says that the body is needed in any case.
func (m *Maker) Make(
	r frontier.Record, c *config.Config, s *config.Settings, whole bool, room fetch.Space, now time.Time,
) (req aspects.Request, err error) {
	defer panics.Recover(&err)
	if s, err = m.withCookies(r.URI, s, now); err != nil {
		return req, err
	}
	req = aspects.Request{Exchange: Exchange(r.URI, c, s, m.Version, now), Mark: s.Mark}
	req.Exchange.Crowded, req.Exchange.Space = m.Crowded, room
	if whole || req.Mark != r.Asked || !r.Validators.CanVouch(r.Status, r.Origin) || m.Dedup.Lost(r.Origin) {
		return req, nil
	}
	if spent, err := m.Dedup.Spent(s.Dedup, r.Origin, now); err != nil || spent {
		return req, err
	}
	req.Filter = s.Midfetch.For(r.ContentType)
	known, err := m.Reputation.Get(r.URI.Host())
	if err != nil || req.Filter.DecideBy == evaluators.Off {
		return req, err
	}
	req.Filter.Doubted = known.Doubts(r.ContentType, s.Midfetch.Threshold)
	if vouches, _ := req.Filter.Unchanged(r.Validators, r.Validators); !vouches {
		return req, nil // no validator is believed: the body is read anyway
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
		req.Audit = why
		return req, nil
	}
	req.Sent = req.Filter.Conditions(r.Validators)
	header := &req.Exchange.Header
	if req.Sent.ETag != "" {
		*header = append(*header, fetch.Field{Name: "If-None-Match", Value: req.Sent.ETag})
	}
	if req.Sent.LastModified != "" {
		*header = append(*header, fetch.Field{Name: "If-Modified-Since", Value: req.Sent.LastModified})
	}
	filter, before := req.Filter, r.Validators // not all of r, which would then be on the heap
	req.Exchange.Stop = func(h fetch.Head) bool { return filter.Ends(before, h.Status, h.Header) }
	return req, nil
}

// Exchange returns the exchange for a URI without conditions, with the cookies of its jar.
func (m *Maker) Exchange(u uri.URI, c *config.Config, s *config.Settings, now time.Time) (fetch.Request, error) {
	s, err := m.withCookies(u, s, now)
	if err != nil {
		return fetch.Request{}, err
	}
	return Exchange(u, c, s, m.Version, now), nil
}

// Exchange returns the exchange for a URI without conditions. version is the version of the program.
func Exchange(
	u uri.URI, c *config.Config, s *config.Settings, version string, now time.Time,
) fetch.Request {
	header := append(make([]fetch.Field, 0, maxFields),
		fetch.Field{Name: "User-Agent", Value: c.UserAgent(version)},
		fetch.Field{Name: "Accept", Value: "*/*"},
		fetch.Field{Name: "Accept-Encoding", Value: acceptEncoding},
	)
	var secrets []fetch.Field
	if s.Mark != 0 {
		header, secrets = withOwn(header, s, u.Scheme() == "https")
	}
	return fetch.Request{
		URI: u, Header: header, Secrets: secrets, Limits: s.Fetch, AcceptExpired: s.TLS.Expired(now), HTTP: s.HTTP,
		Way: s.Way,
	}
}

// withOwn adds the header fields that the settings ask for. A field that is always sent is replaced.
func withOwn(header []fetch.Field, s *config.Settings, secure bool) (open, secrets []fetch.Field) {
	for _, own := range s.Request.Fields(s.Cookie, secure) {
		f := fetch.Field{Name: own.Name, Value: own.Value}
		same := func(other fetch.Field) bool { return strings.EqualFold(other.Name, f.Name) }
		i := slices.IndexFunc(header, same)
		switch {
		case own.Secret:
			header, secrets = slices.DeleteFunc(header, same), append(secrets, f)
		case i >= 0:
			header[i] = f
		default:
			header = append(header, f)
		}
	}
	return header, secrets
}

// redacted returns the names of the header fields of a request whose values the archive does not have.
func redacted(r *aspects.Request) string {
	var names []string
	for _, f := range r.Exchange.Secrets {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// withCookies returns the settings of a visit with the cookies that the host has set. Each login has cookies of its
// own. They are sent with that login alone: what they open for a member must not open it for a request without.
func (m *Maker) withCookies(u uri.URI, s *config.Settings, now time.Time) (*config.Settings, error) {
	login := m.logins.known(u, &s.Request.Login)
	if s.Cookies == config.CookiesOff && login == nil {
		return s, nil
	}
	var others []string // they are configured
	for _, text := range append(s.Request.SecretCookies(), s.Cookie) {
		if own, err := http.ParseCookie(text); err == nil {
			for _, c := range own {
				others = append(others, c.Name)
			}
		}
	}
	changed := *s
	if login != nil {
		jar := login.session.Header(u, others, now)
		if jar == "" {
			return s, nil
		}
		changed.Request = s.Request.HiddenCookies(jar)
		changed.Mark = changed.Request.Mark(changed.Cookie)
		return &changed, nil
	}
	jar, err := m.Cookies.Header(u, s.Cookies == config.CookiesKeep, others, now)
	if err != nil || jar == "" {
		return s, err
	}
	changed.Cookie = strings.TrimPrefix(s.Cookie+"; "+jar, "; ")
	changed.Mark = changed.Request.Mark(changed.Cookie)
	return &changed, nil
}

// Learn takes the cookies of an answer into the jar of its login or of its host, if the settings ask for one.
func (m *Maker) Learn(got *fetch.Capture, s *config.Settings) error {
	if got.Header == nil {
		return nil
	}
	now := got.Started.Add(got.Took)
	if login := m.logins.known(got.URI, &s.Request.Login); login != nil {
		login.session.Learn(got.URI, got.Header, now)
		return nil
	}
	if s.Cookies == config.CookiesOff {
		return nil
	}
	return m.Cookies.Learn(got.URI, got.Header, s.Cookies == config.CookiesKeep, now)
}

// Note appends the annotations about a request and its connection.
func Note(v *aspects.Visit, notes []string) []string {
	r := &v.Request
	if r.Permission != "" {
		notes = append(notes, crawllog.Permission+r.Permission)
	}
	if s := v.Capture.Security; s != nil && s.Accepted != "" {
		notes = append(notes, crawllog.AcceptedExpired)
	}
	if w := r.Exchange.Way; w != nil {
		notes = append(notes, crawllog.Way+w.String())
	}
	if v.AskedOtherwise() {
		notes = append(notes, crawllog.OtherRequest)
	}
	if r.Audit != "" {
		notes = append(notes, "audit")
	}
	return notes
}

// Metadata appends the fields of the metadata record about a request and its connection.
func Metadata(v *aspects.Visit, fields []warcout.Field) []warcout.Field {
	r := &v.Request
	if s := v.Capture.Security; s != nil {
		fields = append(fields, warcout.Field{Name: "tlsCertificate", Value: s.Certificate},
			warcout.Field{Name: "tlsAccepted", Value: history.ASCII(s.Accepted)})
	}
	if r.Permission != "" {
		fields = append(fields, warcout.Field{Name: "robotsPermission", Value: r.Permission})
	}
	if w := r.Exchange.Way; w != nil {
		fields = append(fields, warcout.Field{Name: "wayOfConnection", Value: w.String()})
	}
	if names := redacted(r); names != "" {
		fields = append(fields, warcout.Field{Name: "requestRedacted", Value: names})
	}
	return fields
}

// Meanings returns what the annotations of the aspect mean in words.
func Meanings() []crawllog.Meaning {
	return []crawllog.Meaning{
		{Annotation: crawllog.OtherRequest, Words: "the request was another one than before, by the settings"},
		{Annotation: crawllog.AcceptedExpired, Words: "its expired certificate was accepted, by the settings"},
		{Annotation: crawllog.Permission, Say: func(v string) string { return "robots.txt forbids it; permitted by: " + v }},
		{Annotation: crawllog.Way, Say: func(v string) string { return "connected by " + v }},
	}
}
