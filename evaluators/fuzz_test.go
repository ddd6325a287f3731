package evaluators_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// FuzzAnswer reads arbitrary headers and pages. The kind of a block must be a word of crawl.log, a date of a change
// must not be in the future, and a validator is never longer than its header field.
func FuzzAnswer(f *testing.F) {
	f.Add(403, "Cf-Mitigated", "challenge", "<title>Just a moment...</title>", "Sat, 21 Nov 2026 10:00:00 GMT", `W/"a"`)
	f.Add(200, "Server", "cloudflare", "<title>Page not found</title><h1>404", "Thu, 01 Jan 2099 00:00:00 GMT", `"`)
	f.Add(200, "Set-Cookie", "datadome=x", "<div id=captcha>", "0", "\x00")
	f.Add(405, "X-Amzn-Waf-Action", "captcha", "", "", "")
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, status int, name, value, content, date, etag string) {
		h := http.Header{}
		h.Add("Last-Modified", date)
		h.Add("Date", date)
		h.Add("Age", value)
		h.Add("ETag", etag)
		h.Add(name, value)
		got := evaluators.Block(evaluators.Answer{Status: status, Header: h, Content: []byte(content)})
		if strings.ContainsAny(got, " \t\r\n") {
			t.Errorf("the block is %q, which has spaces", got)
		}
		if at, ok := evaluators.ChangedAt(h, now); ok && at.After(now) {
			t.Errorf("changed at %s, which is in the future", at)
		}
		evaluators.ChangedBefore(h, time.Hour)
		v := evaluators.ValidatorsOf(h)
		if len(v.ETag) > max(len(h.Get("ETag")), len(value)) || len(v.LastModified) > max(len(date), len(value)) {
			t.Errorf("the validators of %v are %+v", h, v)
		}
	})
}

func TestWorkOfBlocksGrowsWithThePage(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"<title>", "<h1>not found", "captcha ", "<div class=consent>", "<script>", "\xff", "<!--"} {
		t.Run(piece, func(t *testing.T) {
			slow.Linear(t, func(n int) string { return strings.Repeat(piece, n/len(piece)) }, func(text string) {
				evaluators.Block(evaluators.Answer{Status: 200, Header: http.Header{}, Content: []byte(text)})
			})
		})
	}
}
