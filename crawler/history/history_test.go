package history_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/history"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
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

// Each case has the changes that one visit makes to the history. Replaying its line in crawl.log must make the same
// changes, except for fields that the line lacks.
func TestAddAndReplayAgree(t *testing.T) {
	t.Parallel()
	began := epoch.Add(10 * day)
	origin := digest.Origin{URI: "http://news.example/a", Date: began, Payload: second, File: "2.warc.gz", Offset: 7, Size: 20}
	body := history.Body{
		Complete: true, ContentType: "text/plain", Comparison: digest.Comparison{Sum: second}, Payload: second, Size: 20,
		Origin: origin, Validators: evaluators.Validators{ETag: `"2"`},
	}
	cut := body
	cut.Complete, cut.Origin = false, digest.Origin{}
	for _, c := range []struct {
		name  string
		visit history.Visit
		line  crawllog.Entry
		want  func(*frontier.Record)
	}{
		{
			name:  "changed",
			visit: history.Visit{Status: 200, State: evaluators.Changed, Body: body},
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
			visit: history.Visit{Status: 304, State: evaluators.Unchanged, Unread: true},
			line:  crawllog.Entry{Status: 304, Extra: &crawllog.Extra{ContentState: "unchanged", WaitEvaluator: "text"}},
			want: func(r *frontier.Record) {
				r.LastCapture, r.Unread, r.Failures, r.Gone = began, 2, 0, 0
			},
		},
		{
			name:  "cut at a limit",
			visit: history.Visit{Status: 200, State: evaluators.Unknown, Body: cut},
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
			visit: history.Visit{Status: -2, Failed: true, Error: "no connection"},
			line:  crawllog.Entry{Status: -2, Extra: &crawllog.Extra{Misfortune: "no connection", WaitEvaluator: misfortune.WaitRetry}},
			want:  func(r *frontier.Record) { r.Failures, r.LastError = 4, "no connection" },
		},
		{
			name:  "gone, to be confirmed",
			visit: history.Visit{Status: 404, Failed: true, Gone: true},
			line: crawllog.Entry{Status: 404, Extra: &crawllog.Extra{
				ContentState: "unknown", ChangeReason: misfortune.Unconfirmed, WaitEvaluator: misfortune.WaitGone,
			}},
			want: func(r *frontier.Record) { r.Gone = 2 },
		},
		{
			name:  "gone, confirmed",
			visit: history.Visit{Status: 404, Gone: true, State: evaluators.Changed, Body: body},
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
			got := history.Add(before(), c.visit)
			got.Recent = evaluators.Ring{}
			if diff := cmp.Diff(want, got, equal); diff != "" {
				t.Errorf("Add: -want +got:\n%s", diff)
			}
			line := c.line
			line.URI = want.URI.String()
			line.Logged, line.Started, line.MIME, line.Digest, line.Size = began.Add(time.Second), began, "text/plain", second, 20
			line.Schedule = &crawllog.Schedule{Wait: day, Visits: want.Visits, Versions: want.Versions, Tries: want.Failures}
			entry, _ := history.Replay(frontier.Entry{Record: before()}, line, history.Facts{Waits: evaluators.Default()})
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

var firstDay = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const page = "http://a.example/"

// settings returns a configuration with the usual delays.
func settings(t *testing.T) *config.Config {
	t.Helper()
	const operator = "[operator]\nname = \"Test Library\"\ncontact = \"https://library.example/crawler\"\n"
	return testcrawl.Load(t, t.TempDir(), operator+"[seeds]\nuris = [\"http://a.example/\"]\n")
}

// line returns the line of a visit of the page. It began n seconds after firstDay and took a second.
func line(n, visits int, status string, notes string) string {
	at := firstDay.Add(time.Duration(n) * time.Second)
	began := strings.Replace(at.Format("20060102150405.000"), ".", "", 1)
	return fmt.Sprintf("%s   %s         10 %s - - text/html #001 %s+1000 - - %swt:%s,%dvis,1ver,ov:0ms "+
		`{"contentState":"unknown","waitEvaluator":"retry","misfortune":"busy","due":"2026-03-02T12:00:00.000Z"}`+"\n",
		at.Add(time.Second).Format("2006-01-02T15:04:05.000Z"), status, page, began, notes, crawllog.Duration(24*time.Hour), visits)
}

// known returns a store that knows some visits of the page, the last one n seconds after firstDay.
func known(t *testing.T, n, visits int) *frontier.Frontier {
	t.Helper()
	f, err := frontier.Open(frontier.Options{Dir: t.TempDir(), Now: firstDay.Add(-time.Hour), Compactors: -1})
	archivetest.Must(t, err)
	t.Cleanup(func() { archivetest.Must(t, f.Close()) })
	e := frontier.Entry{Record: frontier.Record{URI: uri.FromCanonical(page)}}
	e.Due, e.Visits, e.LastVisit, e.FirstSeen = firstDay, visits, firstDay.Add(time.Duration(n)*time.Second), firstDay
	if _, err := f.Import(firstDay, true, e); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestOnlyVisitsThatTheStoreDoesNotKnowAreMissing(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "crawl.log")
	older := line(0, 1, "200", "") + line(10, 2, "200", "")
	newer := line(20, 3, "200", "") + line(30, 4, "503", "asked:600,")
	for _, c := range []struct {
		name     string
		seconds  int // of the last visit that the store knows
		visits   int // that it knows
		maxBytes int64
		missing  int64
		since    int
		more     bool
	}{
		{name: "none", seconds: 30, visits: 4},
		{name: "the last one", seconds: 20, visits: 3, missing: 1, since: 31},
		{name: "some, in a rotated log too", seconds: 0, visits: 1, missing: 3, since: 11},
		{name: "the URI was visited again since", seconds: 40, visits: 1},
		{name: "not all was read", seconds: 0, visits: 1, maxBytes: 400, missing: 1, since: 31, more: true},
	} {
		archivetest.Must(t, os.WriteFile(log+".1", []byte(older), 0o600))
		archivetest.Must(t, os.WriteFile(log, []byte(newer), 0o600))
		f := known(t, c.seconds, c.visits)
		m, err := history.FindMissing(t.Context(), f, settings(t), log, c.maxBytes, firstDay.Add(32*time.Second))
		if err != nil || m.Visits != c.missing || m.More != c.more {
			t.Errorf("%s: found %+v (%v), want %d, more: %t", c.name, m, err, c.missing, c.more)
		}
		if want := firstDay.Add(time.Duration(c.since) * time.Second); c.missing > 0 && !m.Since.Equal(want) {
			t.Errorf("%s: missing since %s, want %s", c.name, m.Since, want)
		}
	}
}

// The store forgot the answer of the host, and therefore the rest that the answer asked for.
func TestAHostRestsAsItsLostAnswerAsked(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "crawl.log")
	archivetest.Must(t, os.WriteFile(log, []byte(line(20, 3, "200", "")+line(30, 4, "503", "asked:600,")), 0o600))
	f, now, c := known(t, 20, 3), firstDay.Add(32*time.Second), settings(t)
	if next, ok := f.NextReady(); !ok || next.After(now) {
		t.Fatalf("without the lost answer, the host is ready at %s (%t)", next, ok)
	}
	m, err := history.FindMissing(t.Context(), f, c, log, 0, now)
	archivetest.Must(t, err)
	archivetest.Must(t, m.Rest(f, c, now))
	if next, ok := f.NextReady(); !ok || !next.Equal(firstDay.Add(631*time.Second)) {
		t.Errorf("the host is ready at %s (%t), want ten minutes after the lost answer", next, ok)
	}
}
