// This file adds to requests what the options of their host ask for, and learns from answers.

package login

import (
	"net/http"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/internal/panics"
	"github.com/arcrawl/arcrawl/uri"
)

// Aspect adds to requests, and logs in to hosts. The zero value has no jar.
type Aspect struct {
	Cookies *hosts.Cookies // nil = no jar

	logins logins
}

// Ask adds to the request of a visit what the options ask for.
func (a *Aspect) Ask(v *aspects.Visit) (err error) {
	defer panics.Recover(&err)
	v.Request.Mark, err = a.AddTo(&v.Request.Exchange, aspects.OptionsOf[Options](v), v.Began)
	return err
}

// AddTo adds to a plain request what the options ask for, and the cookies of its jar. It returns the mark of what it
// added, see [Options.Mark].
func (a *Aspect) AddTo(x *fetch.Request, o *Options, now time.Time) (mark int, err error) {
	if o, err = a.withCookies(x.URI, o, now); err != nil {
		return 0, err
	}
	o.AddTo(x)
	return o.Mark(), nil
}

// withCookies returns the options of a visit with the cookies that the host has set. Each login has cookies of its
// own. They are sent with that login alone: what they open for a member must not open it for a request without.
func (a *Aspect) withCookies(u uri.URI, o *Options, now time.Time) (*Options, error) {
	login := a.logins.known(u, &o.Login)
	if o.Cookies == CookiesOff && login == nil {
		return o, nil
	}
	configured := []string{o.Cookie}
	for _, h := range o.SecretHeaders {
		if strings.EqualFold(h.Name, "Cookie") {
			configured = append(configured, h.Secret.Reveal())
		}
	}
	var others []string
	for _, text := range configured {
		if own, err := http.ParseCookie(text); err == nil {
			for _, c := range own {
				others = append(others, c.Name)
			}
		}
	}
	if login != nil {
		jar := login.session.Header(u, others, now)
		if jar == "" {
			return o, nil
		}
		with, hidden := *o, Header{Name: "Cookie", Secret: schema.NewSecret("cookies of the login", jar)}
		with.SecretHeaders = append(append([]Header{}, o.SecretHeaders...), hidden)
		return &with, nil
	}
	jar, err := a.Cookies.Header(u, o.Cookies == CookiesKeep, others, now)
	if err != nil || jar == "" {
		return o, err
	}
	with := *o
	with.Cookie = strings.TrimPrefix(o.Cookie+"; "+jar, "; ")
	return &with, nil
}

// Learn takes the cookies of the answer of a visit.
func (a *Aspect) Learn(v *aspects.Visit) error {
	return a.learn(v.Capture, aspects.OptionsOf[Options](v))
}

// learn takes the cookies of an answer into the jar of its login or of its host, if the options ask for one.
func (a *Aspect) learn(got *fetch.Capture, o *Options) error {
	if got.Header == nil {
		return nil
	}
	now := got.Started.Add(got.Took)
	if login := a.logins.known(got.URI, &o.Login); login != nil {
		login.session.Learn(got.URI, got.Header, now)
		return nil
	}
	if o.Cookies == CookiesOff {
		return nil
	}
	return a.Cookies.Learn(got.URI, got.Header, o.Cookies == CookiesKeep, now)
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

// Meanings returns what the annotations of the aspect mean in words.
func Meanings() []crawllog.Meaning {
	return []crawllog.Meaning{
		{Annotation: crawllog.OtherRequest, Words: "the request was another one than before, by the settings"},
		{Annotation: crawllog.AcceptedExpired, Words: "its expired certificate was accepted, by the settings"},
		{Annotation: crawllog.Permission, Say: func(v string) string { return "robots.txt forbids it; permitted by: " + v }},
		{Annotation: crawllog.Way, Say: func(v string) string { return "connected by " + v }},
	}
}
