package reports

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
)

// The size of the state that BenchmarkPages makes.
const (
	benchHosts = 500
	benchLines = 1_000_000
)

// BenchmarkPages measures the requests of each page of the wing with 500 hosts, 92 days of each, and a log of a million
// visits.
func BenchmarkPages(b *testing.B) {
	w := newWorld(b, b.TempDir(), testcrawl.EveryHour)
	defer w.Close()
	w.benchState()
	w.Must(w.window.Tick(time.Now())) // surveys all URIs, as a daemon does soon after its start
	handler := w.window.Handler(access.Options{})
	for _, page := range []string{
		"reports/days?days=92&host=h250.example", "reports/days?brief=true&days=92", "reports/dedup", "reports/headers",
		"history?uri=http%3A%2F%2Fh250.example%2F1",
	} {
		b.Run(page, func(b *testing.B) {
			for b.Loop() {
				got := httptest.NewRecorder()
				handler.ServeHTTP(got, httptest.NewRequest(http.MethodGet, api.Base+"/"+page, nil))
				if got.Code != http.StatusOK {
					b.Fatalf("%d %s", got.Code, got.Body)
				}
			}
		})
	}
}

// benchState fills the store and the log.
func (w *world) benchState() {
	w.Helper()
	now := time.Now()
	var list []frontier.Entry
	for i := range benchHosts {
		u := uri.FromCanonical(fmt.Sprintf("http://h%03d.example/1", i))
		r := frontier.Record{URI: u}
		r.Due, r.LastVisit, r.Wait = now, now.Add(-time.Hour), time.Hour
		r.Visits, r.Versions, r.Rate, r.ContentType = 40, 10, 1, "text/html"
		list = append(list, frontier.Entry{Record: r})
		for day := range hosts.MaxDays {
			counts := evaluators.Day{Requests: 500, Seen: 90 + day%7, Versions: 100}
			w.Must(w.Parts.Daily.Add(u.Host(), now.AddDate(0, 0, -day), counts))
		}
	}
	w.Must(w.Parts.Daily.Flush())
	_, err := w.Parts.Frontier.Import(now, false, list...)
	w.Must(err)
	for i := range benchLines {
		w.Must(w.Parts.CrawlLog.Write(crawllog.Entry{
			Logged: now, Status: 200, Size: 9000, URI: fmt.Sprintf("http://h%03d.example/%d", i%benchHosts, i/benchHosts), Hops: "L",
			Via: "http://h000.example/", MIME: "text/html", Worker: 1,
			Started: now, Took: time.Second, Annotations: []string{crawllog.Unchanged},
			Schedule: &crawllog.Schedule{Wait: time.Hour, Visits: 40, Versions: 10},
		}))
	}
}
