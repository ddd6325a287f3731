package request

import (
	"net/http"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/uri"
)

// withCookies returns the settings of a visit with the cookies that the host has set.
func (m *Maker) withCookies(u uri.URI, s *config.Settings, now time.Time) (*config.Settings, error) {
	login := s.Request.Login.On()
	if s.Cookies == config.CookiesOff && !login {
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
	jar, err := m.Cookies.Header(u, s.Cookies == config.CookiesKeep, others, now)
	if err != nil || jar == "" {
		return s, err
	}
	changed := *s
	if login {
		changed.Request = s.Request.HiddenCookies(jar)
		changed.Mark = changed.Request.Mark(changed.Cookie)
		return &changed, nil
	}
	changed.Cookie = strings.TrimPrefix(s.Cookie+"; "+jar, "; ")
	changed.Mark = changed.Request.Mark(changed.Cookie)
	return &changed, nil
}

// Learn takes the cookies of an answer into the jar of its host, if the settings ask for one.
func (m *Maker) Learn(got *fetch.Capture, s *config.Settings) error {
	if s.Cookies == config.CookiesOff && !s.Request.Login.On() || got.Header == nil {
		return nil
	}
	return m.Cookies.Learn(got.URI, got.Header, s.Cookies == config.CookiesKeep, got.Started.Add(got.Took))
}
