package alarm

import (
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

func TestASeedThatLetsNobodyInIsATrouble(t *testing.T) {
	t.Parallel()
	const page = "the server sent another page instead of the content: "
	for _, c := range []struct {
		name      string
		history   frontier.History
		what, fix string // "" = no trouble
	}{
		{"a redirect to itself", frontier.History{Failures: 3, LastStatus: 302, LastError: page + "loop:redirect"}, "redirected back to itself at its last 3 visits", "fetch.cookie"},
		{"a cookie wall", frontier.History{Failures: 5, LastStatus: 200, LastError: page + "consent:cookies"}, "wall", "fetch.cookie"},
		{"a challenge", frontier.History{Failures: 4, LastStatus: 200, LastError: page + "challenge:cloudflare"}, "challenge", "User-Agent"},
		{"a refusal", frontier.History{Failures: 3, LastStatus: 403}, "status 403", "User-Agent"},
		{"a page that is gone", frontier.History{Gone: 4, LastStatus: 404}, "is gone", "new address"},
		{"a wall for a moment", frontier.History{Failures: 2, LastStatus: 302, LastError: page + "loop:redirect"}, "", ""},
		{"a page that may be gone", frontier.History{Gone: 3, LastStatus: 404}, "", ""},
		{"an unreachable host has its own alarm", frontier.History{Failures: 9, LastStatus: -2, LastError: "refused"}, "", ""},
		{"a page", frontier.History{LastStatus: 200}, "", ""},
	} {
		r := frontier.Record{URI: uri.FromCanonical("http://a.example/"), History: c.history}
		got, ok := SeedTrouble(r, 4)
		if ok != (c.what != "") || ok && (got.Kind != Seed || got.About != "http://a.example/") ||
			!strings.Contains(got.Text, c.what) || !strings.Contains(got.Text, c.fix) {
			t.Errorf("%s: %t, %+v", c.name, ok, got)
		}
	}
}
