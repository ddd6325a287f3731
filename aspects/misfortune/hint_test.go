package misfortune

import (
	"strings"
	"testing"
)

// TestHintsNameTheSettingThatHelps asks for hints about answers that came instead of the page.
func TestHintsNameTheSettingThatHelps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind   string
		status int
		want   string // a part of the hint; "" = none
	}{
		{"loop:redirect", 302, "fetch.cookie"},
		{"the server sent another page instead of the content: consent:cookies", 200, "fetch --try URI --cookie"},
		{"challenge:cloudflare", 403, "request.secret_headers"},
		{"", 401, "request.basic"},
		{"", 403, "User-Agent"},
		{"", 429, "User-Agent"},
		{"notFound:title", 200, ""},
		{"", 503, ""},
		{"", 200, ""},
	} {
		if got := Hint(c.kind, c.status); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("the hint for %q with status %d is %q, want one with %q", c.kind, c.status, got, c.want)
		}
	}
}
