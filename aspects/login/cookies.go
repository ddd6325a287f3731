package login

import (
	"net/http"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/uri"
)

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
