package misfortune_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects/misfortune"
)

// FuzzRetryAfter reads arbitrary values of Retry-After. None may ask for more than the limit.
func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{
		"4294967295", "99999999999999999999", "-1", "0", " 5 ", "Thu, 01 Jan 2099 00:00:00 GMT",
		"Thursday, 01-Jan-99 00:00:00 GMT", "Thu Jan  1 00:00:00 9999", "1e9", "٣",
	} {
		f.Add(s, int64(time.Hour))
	}
	finished := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, value string, limit int64) {
		if limit <= 0 {
			t.Skip("settings are positive")
		}
		h := http.Header{"Retry-After": {value}}
		at := misfortune.RetryAfter(http.StatusServiceUnavailable, h, finished, time.Duration(limit))
		if at.After(finished.Add(time.Duration(limit))) {
			t.Errorf("%q asks for a rest until %s, the limit is %s", value, at, time.Duration(limit))
		}
	})
}
