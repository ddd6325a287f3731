package misfortune_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects/misfortune"
)

// Whatever a server writes into Retry-After, it puts nothing off for longer than the limit.
func TestRetryAfterIsAtMostTheLimit(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const limit, none = 28 * 24 * time.Hour, time.Duration(-1)
	for _, c := range []struct {
		status int
		value  string
		want   time.Duration
	}{
		{503, "120", 2 * time.Minute},
		{429, " 120 ", 2 * time.Minute},
		{503, "0", 0},
		{503, "604800", 7 * 24 * time.Hour},
		{503, "2419200", limit},
		{503, "2419201", limit},
		{503, "4294967295", limit},
		{503, "4294967296", limit},
		{503, "9223372036854775807", limit},
		{503, "99999999999999999999999999", limit},
		{503, "-5", none},
		{503, "1.5", none},
		{503, "", none},
		{503, "soon", none},
		{503, "Sun, 01 Mar 2026 13:00:00 GMT", time.Hour},
		{503, "Thu, 31 Dec 2099 23:59:59 GMT", limit},
		{503, "Fri, 31 Dec 9999 23:59:59 GMT", limit},
		{503, "Fri, 31 Dec 1999 23:59:59 GMT", now.Sub(time.Date(1999, 12, 31, 23, 59, 59, 0, time.UTC)) * -1},
		{200, "120", none},
		{404, "4294967295", none},
	} {
		got := misfortune.RetryAfter(c.status, http.Header{"Retry-After": {c.value}}, now, limit)
		switch {
		case c.want == none && !got.IsZero():
			t.Errorf("status %d with %q puts off until %s; want that it says nothing", c.status, c.value, got)
		case c.want != none && got.Sub(now) != c.want:
			t.Errorf("status %d with %q puts off for %s, want %s", c.status, c.value, got.Sub(now), c.want)
		}
	}
}
