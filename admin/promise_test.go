package admin

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// severalTargets has a capture target for pages, a lower one for data and for pages below /old/, and none for pictures.
const severalTargets = `[operator]
name = "Test Library"
contact = "https://library.example/crawler"
[[wait]]
mime = "^text/html.*"
rule = "learned"
capture_target = 0.9
[[wait]]
mime = "^application/json.*"
rule = "learned"
capture_target = 0.5
[[when]]
uri = "/old/"
wait = [{ mime = "^text/html.*", capture_target = 0.5 }]
[seeds]
uris = ["http://news.example/"]
`

// holds adds n URIs of a media type to the frontier. They are visited each hour and expected to change once between
// visits.
func (w *world) holds(host, path, mime, source string, n int) {
	w.Helper()
	w.holdsSuch(host, path, mime, source, n, false)
}

// holdsSuch adds URIs that are restless or not.
func (w *world) holdsSuch(host, path, mime, source string, n int, restless bool) {
	w.Helper()
	now := time.Now()
	entries := make([]frontier.Entry, n)
	for i := range entries {
		r := frontier.Record{URI: uri.FromCanonical(fmt.Sprintf("http://%s%s%d", host, path, i)), Seed: "http://" + host + "/"}
		r.Due, r.LastVisit, r.Wait = now.Add(time.Minute), now.Add(-time.Hour), time.Hour
		r.Visits, r.ContentType, r.Source, r.Restless = 1, mime, source, restless
		entries[i] = frontier.Entry{Record: r}
	}
	_, err := w.Parts.Frontier.Import(now, false, entries...)
	w.Must(err)
}

func TestPromiseNamesAllCaptureTargetsOfAHost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, severalTargets)
		defer w.Close()
		w.holds("two.example", "/", "text/html; charset=utf-8", "", 100)
		w.holds("two.example", "/data/", "application/json", "", 100)
		w.visited("two.example", 30*time.Second)
		w.holds("refined.example", "/", "text/html", "", 100)
		w.holds("refined.example", "/old/", "text/html", "", 100)
		w.visited("refined.example", 30*time.Second)
		w.holds("data.example", "/", "application/json", "", 100)
		w.holdsSuch("data.example", "/clock/", "application/json", "", 3, true)
		w.visited("data.example", 2*time.Minute)
		w.holds("pictures.example", "/", "image/png", "", 100)
		w.holds("mixed.example", "/", "text/html", "", 10)
		w.holds("mixed.example", "/", "image/png", "", 200) // the type has no capture target
		w.holds("mixed.example", "/p/", "image/png", "", 100)
		w.visited("mixed.example", 30*time.Second)
		w.holds("feeds.example", "/", "application/json", string([]byte{1}), 100)
		rows := map[string]api.Backlog{}
		for _, b := range get[api.Overdue](w, "/api/v1/overdue").Rows {
			rows[b.Name] = b
		}
		for host, want := range map[string]string{
			"two.example":      "capture targets of 90 % (text/html) and 50 % (application/json) need a delay of ",
			"refined.example":  `capture targets of 90 % (text/html) and 50 % (text/html where uri = "/old/") need a delay of `,
			"data.example":     "a capture target of 50 % needs a delay of ",
			"pictures.example": "",
			"mixed.example":    "a capture target of 90 % needs a delay of ",
			"feeds.example":    "", // feeds have a wait of their own
		} {
			if got := rows[host].Promise; !strings.HasPrefix(got, want) || (got == "") != (want == "") {
				t.Errorf("%s: %q, want %q…", host, got, want)
			}
		}
		two, data := rows["two.example"].Promise, rows["data.example"].Promise
		t.Logf("%s\n%s\n%s\n%s", two, rows["refined.example"].Promise, data, rows["mixed.example"].Promise)
		if !strings.Contains(two, "instead of 30s, or ") || strings.Count(two[strings.Index(two, "at present"):], " %") != 2 {
			t.Errorf("the promise is %q, want the present delay and two present shares", two)
		}
		if want := "; 3 restless pages are not counted"; !strings.HasSuffix(data, want) || strings.Contains(two, "restless") {
			t.Errorf("the promise is %q, want it to end in %q", data, want)
		}
		report := get[api.DayReport](w, "/api/v1/reports/days")
		if len(report.Pace) != 4 || report.Pace[0].Promise != rows[report.Pace[0].Host].Promise {
			t.Errorf("the day report has %+v, want 4 hosts with the promises of the backlog", report.Pace)
		}
	})
}

// A host has a seed and two sections among many pages. The sentence about its capture target names what they keep.
func TestPromiseTellsFrontPagesApart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, severalTargets)
		defer w.Close()
		now := time.Now()
		add := func(path string, hops uri.HopPath) {
			r := frontier.Record{URI: uri.FromCanonical("http://news.example" + path), Hops: hops, Seed: "http://news.example/"}
			r.Due, r.LastVisit, r.Wait, r.Visits, r.ContentType = now.Add(time.Minute), now.Add(-time.Hour), time.Hour, 1, "text/html"
			_, err := w.Parts.Frontier.Import(now, false, frontier.Entry{Record: r})
			w.Must(err)
		}
		add("/", "")
		add("/politics", "L")
		add("/local-news/", "L")
		for i := range 200 {
			add(fmt.Sprintf("/articles/%d", i), "LL")
		}
		w.visited("news.example", 30*time.Second)
		want := "a capture target of 90 % needs a delay of 2.8s instead of 30s, or 184 URIs fewer; at present 46 % " +
			"(92 % of seeds, front pages, sections and feeds)"
		if got := get[api.Overdue](w, "/api/v1/overdue").Rows[0].Promise; got != want {
			t.Errorf("the promise is %q, want %q", got, want)
		}
	})
}
