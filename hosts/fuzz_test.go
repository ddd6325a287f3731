package hosts_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/uri"
)

// FuzzSetCookie learns arbitrary Set-Cookie fields. What goes back must be one header line with pairs alone, within its
// bound, and no other host may get it. After 400 days nothing with a date is left.
func FuzzSetCookie(f *testing.F) {
	for _, field := range []string{
		"id=1", "id=1; Path=/; Domain=.example.co.uk; Secure; HttpOnly; SameSite=None", "__Host-id=1; Secure; Path=/",
		"id=; Max-Age=-1", "id=2; Max-Age=99999999999999999999", "id=3; Expires=Thu, 01 Jan 2099 00:00:00 GMT",
		"a=\"b\\\"; c\"", "=; ;;=", "id=\x00\r\nX: y", "ä=ö; path=\u202e/", strings.Repeat("n", 5000) + "=1",
	} {
		f.Add(field, "next="+field, "a/b?c")
	}
	f.Fuzz(func(t *testing.T, one, two, path string) {
		u, err := uri.Parse("https://www.news.example.co.uk/" + path)
		if err != nil || u.Host() != "www.news.example.co.uk" {
			t.Skip("no page of the host")
		}
		var s hosts.CookieSession
		s.Learn(u, http.Header{"Set-Cookie": {one, two, one}}, noon)
		got := s.Header(u, nil, noon)
		s.Learn(u, http.Header{"Set-Cookie": {one, two, one}}, noon)
		if again := s.Header(u, nil, noon); again != got {
			t.Errorf("the same answer twice: %q, then %q", got, again)
		}
		if len(got) > 8<<10 || strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Fatalf("a request would have the field %q", got)
		}
		for pair := range strings.SplitSeq(got, "; ") {
			if got != "" && strings.ContainsAny(pair, ";,") {
				t.Errorf("%q is no pair of %q", pair, got)
			}
		}
		if plain := s.Header(uri.FromCanonical("http://www.news.example.co.uk"+u.RequestTarget()), nil, noon); len(plain) > len(got) {
			t.Errorf("without encryption %q is sent, with it %q", plain, got)
		}
		if !strings.ContainsAny(strings.ToLower(one+two), "xm") { // neither Expires nor Max-Age
			return
		}
		if late := s.Header(u, nil, noon.Add(400*24*time.Hour)); len(late) > len(got) {
			t.Errorf("after 400 days %q is sent, at first %q", late, got)
		}
	})
}
