package history_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/crawler/history"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// A line without its thirteenth column still says what came of the visit. The URI had three versions before.
func TestABareLineSaysWhatCameOfTheVisit(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name     string
		page     string
		status   int
		notes    []string
		versions int
		failures int
		gone     int
		want     string // the version counted as changed now, or the wait that was decided
		wait     time.Duration
	}{
		{name: "a change", status: 200, versions: 4, want: history.WaitInferred, wait: time.Hour},
		{name: "no change", status: 200, notes: []string{crawllog.Unchanged}, versions: 3, want: history.WaitInferred},
		{
			name: "a 304", status: 304, notes: []string{crawllog.DuplicateNotModified, crawllog.Unchanged}, versions: 3,
			want: history.WaitInferred,
		},
		{name: "a 304 that was not asked for", status: 304, versions: 3, failures: 1, want: misfortune.WaitRetry},
		{
			name: "a busy server", status: 503, notes: []string{"asked:7200"}, versions: 3, failures: 1,
			want: misfortune.WaitRetry, wait: 2 * time.Hour,
		},
		{name: "a dead host", status: -2, notes: []string{"err=refused"}, versions: 3, failures: 1, want: misfortune.WaitRetry},
		{
			name: "a page of a firewall", status: 200, notes: []string{"captcha"}, versions: 3, failures: 1,
			want: misfortune.WaitRetry,
		},
		{
			name: "a body that was cut", status: 200, notes: []string{crawllog.LengthTruncated}, versions: 3,
			want: history.WaitInferred,
		},
		{name: "gone, not confirmed", status: 404, versions: 3, gone: 1, want: misfortune.WaitGone},
		{name: "gone", status: 410, versions: 4, gone: 1, want: misfortune.WaitGone},
		{name: "a restless page", status: 200, notes: []string{crawllog.Restless}, versions: 4, want: noise.WaitRestless},
		{name: "robots.txt", page: "/robots.txt", status: 404, versions: 4, want: robots.Wait},
		{name: "refused", status: aspects.StatusForbidden, versions: 3},
	} {
		u, err := uri.Parse("http://a.example" + c.page)
		if err != nil {
			t.Fatal(err)
		}
		before := frontier.Entry{Record: frontier.Record{URI: u}}
		before.FirstSeen, before.Visits, before.Versions = at, 5, 3
		bare := crawllog.Entry{
			Logged: at.Add(time.Second), Started: at, Status: c.status, URI: u.String(), MIME: "text/html", Annotations: c.notes,
			Schedule: &crawllog.Schedule{Tries: 1, Wait: time.Hour, Visits: 6, Versions: c.versions},
		}
		line := history.Infer(before, bare)
		if c.want == "" {
			if line.Extra != nil {
				t.Errorf("%s: inferred %+v, though no request was made", c.name, line.Extra)
			}
			continue
		}
		if line.Extra == nil || line.Extra.WaitEvaluator != c.want {
			t.Errorf("%s: inferred %+v, want the wait %q", c.name, line.Extra, c.want)
			continue
		}
		e, _ := history.Replay(before, line, history.Facts{})
		if e.Visits != 6 || e.Versions != c.versions || e.Failures != c.failures || e.Gone != c.gone {
			t.Errorf("%s: %d visits, %d versions, %d failures, gone %d", c.name, e.Visits, e.Versions, e.Failures, e.Gone)
		}
		if changed := e.LastChange.Equal(at); changed != (c.versions == 4) {
			t.Errorf("%s: changed now: %t", c.name, changed)
		}
		due, want := e.Due.Sub(line.Logged).Truncate(time.Second), max(c.wait, time.Hour)
		if c.want != robots.Wait && due != want {
			t.Errorf("%s: due after %s, want %s", c.name, due, want)
		}
	}
}
