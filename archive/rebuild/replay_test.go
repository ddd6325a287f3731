package rebuild

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

var (
	day    = 24 * time.Hour
	epoch  = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	first  = digest.Digest{1}
	second = digest.Digest{2}
)

// before is a URI that was visited five times and has two versions.
func before() frontier.Record {
	return frontier.Record{URI: uri.FromCanonical("http://news.example/a"), History: frontier.History{
		FirstSeen: epoch, LastVisit: epoch.Add(9 * day), LastCapture: epoch.Add(9 * day), LastRead: epoch.Add(8 * day),
		LastChange: epoch.Add(3 * day), Visits: 5, Versions: 2, Failures: 3, LastError: "timed out", Unread: 1, Gone: 1, LastStatus: 200, Wait: day,
		ContentType: "text/html", Status: 200, Payload: first, Size: 10, Comparison: digest.Comparison{Sum: first},
		Origin:     digest.Origin{URI: "http://news.example/a", Date: epoch.Add(3 * day), File: "1.warc.gz", RecordID: "known"},
		Validators: evaluators.Validators{ETag: `"1"`},
	}}
}

// Each case has the changes that one visit makes to the  Replaying its line in crawl.log must make the same
// changes, except for fields that the line lacks.
func TestAddAndReplayAgree(t *testing.T) {
	t.Parallel()
	began := epoch.Add(10 * day)
	origin := digest.Origin{URI: "http://news.example/a", Date: began, Payload: second, File: "2.warc.gz", Offset: 7, Size: 20}
	body := crawler.PastBody{
		Complete: true, ContentType: "text/plain", Comparison: digest.Comparison{Sum: second}, Payload: second, Size: 20,
		Origin: origin, Validators: evaluators.Validators{ETag: `"2"`},
	}
	cut := body
	cut.Complete, cut.Origin = false, digest.Origin{}
	for _, c := range []struct {
		name  string
		visit crawler.PastVisit
		line  crawllog.Entry
		want  func(*frontier.Record)
	}{
		{
			name:  "changed",
			visit: crawler.PastVisit{Status: 200, State: evaluators.Changed, Body: body},
			line: crawllog.Entry{Status: 200, Extra: &crawllog.Extra{
				ContentState: "changed", WaitEvaluator: "text", WARCFile: "2.warc.gz", WARCOffset: 7,
			}},
			want: func(r *frontier.Record) {
				r.LastCapture, r.LastRead, r.LastChange, r.Versions = began, began, began, 3
				r.Failures, r.Gone, r.Unread = 0, 0, 0
				r.ContentType, r.Payload, r.Size, r.Origin = "text/plain", second, 20, origin
				r.Comparison, r.Validators = body.Comparison, body.Validators
			},
		},
		{
			name:  "unchanged by the word of the headers",
			visit: crawler.PastVisit{Status: 304, State: evaluators.Unchanged, Unread: true},
			line:  crawllog.Entry{Status: 304, Extra: &crawllog.Extra{ContentState: "unchanged", WaitEvaluator: "text"}},
			want: func(r *frontier.Record) {
				r.LastCapture, r.Unread, r.Failures, r.Gone = began, 2, 0, 0
			},
		},
		{
			name:  "cut at a limit",
			visit: crawler.PastVisit{Status: 200, State: evaluators.Unknown, Body: cut},
			line: crawllog.Entry{
				Status: 200, Annotations: []string{crawllog.LengthTruncated},
				Extra: &crawllog.Extra{ContentState: "unknown", WaitEvaluator: "text", WARCFile: "2.warc.gz", WARCOffset: 7},
			},
			want: func(r *frontier.Record) {
				r.LastCapture, r.Unread, r.Failures, r.Gone = began, 0, 0, 0
				r.ContentType, r.Comparison, r.Validators = "text/plain", body.Comparison, evaluators.Validators{}
			},
		},
		{
			name:  "a misfortune",
			visit: crawler.PastVisit{Status: -2, Failed: true, Error: "no connection"},
			line:  crawllog.Entry{Status: -2, Extra: &crawllog.Extra{Misfortune: "no connection", WaitEvaluator: misfortune.WaitRetry}},
			want:  func(r *frontier.Record) { r.Failures, r.LastError = 4, "no connection" },
		},
		{
			name:  "gone, to be confirmed",
			visit: crawler.PastVisit{Status: 404, Failed: true, Gone: true},
			line: crawllog.Entry{Status: 404, Extra: &crawllog.Extra{
				ContentState: "unknown", ChangeReason: misfortune.Unconfirmed, WaitEvaluator: misfortune.WaitGone,
			}},
			want: func(r *frontier.Record) { r.Gone = 2 },
		},
		{
			name:  "gone, confirmed",
			visit: crawler.PastVisit{Status: 404, Gone: true, State: evaluators.Changed, Body: body},
			line: crawllog.Entry{Status: 404, Extra: &crawllog.Extra{
				ContentState: "changed", WaitEvaluator: misfortune.WaitGone, WARCFile: "2.warc.gz", WARCOffset: 7,
			}},
			want: func(r *frontier.Record) {
				r.LastCapture, r.LastRead, r.LastChange, r.Versions = began, began, began, 3
				r.Failures, r.Gone, r.Unread, r.Status = 0, 2, 0, 404
				r.ContentType, r.Payload, r.Size, r.Origin = "text/plain", second, 20, origin
				r.Comparison, r.Validators = body.Comparison, body.Validators
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			equal := cmp.Comparer(func(a, b uri.URI) bool { return a == b })
			want := before()
			want.Visits, want.LastVisit, want.LastStatus, want.LastError = 6, began, c.visit.Status, c.visit.Error
			c.want(&want)
			c.visit.Started = began
			got := crawler.Remember(before(), c.visit)
			got.Recent = evaluators.Ring{}
			if diff := cmp.Diff(want, got, equal); diff != "" {
				t.Errorf("Add: -want +got:\n%s", diff)
			}
			line := c.line
			line.URI = want.URI.String()
			line.Logged, line.Started, line.MIME, line.Digest, line.Size = began.Add(time.Second), began, "text/plain", second, 20
			line.Schedule = &crawllog.Schedule{Wait: day, Visits: want.Visits, Versions: want.Versions, Tries: want.Failures}
			entry, _ := replayed(frontier.Entry{Record: before()}, line, facts{Waits: evaluators.Default()})
			if diff := cmp.Diff(inLine(want), inLine(entry.Record), equal); diff != "" {
				t.Errorf("Replay: -want +got:\n%s", diff)
			}
		})
	}
}

// inLine returns a record without the fields that a line lacks, and without the decision on the next visit.
func inLine(r frontier.Record) frontier.Record {
	r.Recent, r.Comparison, r.Validators = evaluators.Ring{}, digest.Comparison{}, evaluators.Validators{}
	r.Due, r.Why, r.Wait, r.Rate, r.Memory = time.Time{}, "", 0, 0, ""
	return r
}

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
		{name: "a change", status: 200, versions: 4, want: waitInferred, wait: time.Hour},
		{name: "no change", status: 200, notes: []string{crawllog.Unchanged}, versions: 3, want: waitInferred},
		{
			name: "a 304", status: 304, notes: []string{crawllog.DuplicateNotModified, crawllog.Unchanged}, versions: 3,
			want: waitInferred,
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
			want: waitInferred,
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
		line := inferred(before, bare)
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
		e, _ := replayed(before, line, facts{})
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
