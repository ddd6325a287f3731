package misfortune

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/warcout"
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
		got := RetryAfter(c.status, http.Header{"Retry-After": {c.value}}, now, limit)
		switch {
		case c.want == none && !got.IsZero():
			t.Errorf("status %d with %q puts off until %s; want that it says nothing", c.status, c.value, got)
		case c.want != none && got.Sub(now) != c.want:
			t.Errorf("status %d with %q puts off for %s, want %s", c.status, c.value, got.Sub(now), c.want)
		}
	}
}

func TestConnectTimeoutIsShortForHostsThatNeverAnswered(t *testing.T) {
	t.Parallel()
	const long, short = 20 * time.Second, 5 * time.Second
	for failures, want := range []time.Duration{short, short, short, long, short, short, short, long} {
		if got := connectTimeout(frontier.Claim{NeverAnswered: true, HostFailures: failures}, long); got != want {
			t.Errorf("after %d failures: %s, want %s", failures, got, want)
		}
	}
	if got := connectTimeout(frontier.Claim{NeverAnswered: true}, time.Second); got != time.Second {
		t.Errorf("a timeout of a second became %s", got)
	}
	if got := connectTimeout(frontier.Claim{}, long); got != long {
		t.Errorf("a host that answered before gets %s, want %s", got, long)
	}
}

func TestOnlyTheMachineIsOurs(t *testing.T) {
	t.Parallel()
	_, missing := os.Open(filepath.Join(t.TempDir(), "missing"))
	for _, row := range []struct {
		name string
		err  error
		ours bool
	}{
		{"a full disk", &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, true},
		{"no descriptor", fmt.Errorf("connect: %w", syscall.EMFILE), true},
		{"a missing folder", missing, true},
		{"a disk error among others", errors.Join(errors.New("archive"), syscall.EIO), true},
		{"a closed archive", fmt.Errorf("archive: %w", warcout.ErrClosed), true},
		{"a record that cannot be composed", fmt.Errorf("archive: %w", warcout.ErrRefused), false},
		{"content over its limit", fmt.Errorf("compare: %w", fetch.ErrMaxContent), false},
		{"an unknown error", errors.New("unexpected"), false},
	} {
		if got := IsOurs(row.err); got != row.ours {
			t.Errorf("%s: ours is %t, want %t", row.name, got, row.ours)
		}
	}
}

// TestHintsNameTheSettingThatHelps asks for hints about answers that came instead of the page.
func TestHintsNameTheSettingThatHelps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind   string
		status int
		want   string // a part of the hint; "" = none
	}{
		{"loop:redirect", 302, "fetch.cookie"},
		{"the server sent another page instead of the content: consent:cookies", 200, "fetch --try URI --header"},
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
		at := RetryAfter(http.StatusServiceUnavailable, h, finished, time.Duration(limit))
		if at.After(finished.Add(time.Duration(limit))) {
			t.Errorf("%q asks for a rest until %s, the limit is %s", value, at, time.Duration(limit))
		}
	})
}
