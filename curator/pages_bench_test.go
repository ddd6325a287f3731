package curator

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// The size of the state that BenchmarkPages makes. Each URI has ten captures.
const (
	benchHosts    = 500
	benchVersions = 10
)

// benchURI returns a URI of the state.
func benchURI(host, page int) uri.URI {
	return uri.FromCanonical(fmt.Sprintf("http://h%03d.example/section/article-%06d.html", host, page))
}

// BenchmarkPages measures the requests of each page of the dashboard with 500 hosts and as many captures as
// ARCRAWL_CAPTURES says. The state needs some 250 bytes for each capture in the folder for temporary files.
func BenchmarkPages(b *testing.B) {
	captures := 100_000
	if n, err := strconv.Atoi(os.Getenv("ARCRAWL_CAPTURES")); err == nil {
		captures = n
	}
	pages := captures / benchHosts / benchVersions
	archive := benchIndex(b, pages)
	w := newWorld(b, b.TempDir(), everyHour)
	w.shows(archive)
	defer w.Close()
	w.benchState(pages)
	began := time.Now()
	w.Must(w.window.Tick(began)) // surveys all URIs, as a daemon does soon after its start
	b.Logf("the first survey took %v", time.Since(began).Round(time.Millisecond))
	home := "http%3A%2F%2Fh250.example%2Fsection%2Farticle-000001.html"
	handler := w.window.Handler(access.Options{})
	for _, page := range []string{
		"status", "names", "new", "new?q=headline+77", "hosts?limit=50&sort=overdue", "hosts/h250.example", "hosts/h250.example/queue?limit=20",
		"hosts/h250.example/site", "traps?host=h250.example", "edit/files", "search?q=article-000001.html&limit=100",
		"search?q=headline+12&limit=100", "search?q=nowhere&limit=100", "search?q=headline+1999+of&limit=100", "search?q=h250&limit=100", "uri?uri=" + home, "why?uri=" + home,
		"versions?uri=" + home, "overdue?by=host&latest=true", "packages", "metrics",
	} {
		b.Run(page, func(b *testing.B) {
			var took []time.Duration
			before := cpuTime(b)
			for b.Loop() {
				path := api.Base + "/" + page
				if page == "metrics" {
					path = "/metrics"
				}
				began, got := time.Now(), httptest.NewRecorder()
				handler.ServeHTTP(got, httptest.NewRequest(http.MethodGet, path, nil))
				took = append(took, time.Since(began))
				if got.Code != http.StatusOK {
					b.Fatalf("%d %s", got.Code, got.Body)
				}
			}
			slices.Sort(took)
			b.ReportMetric((cpuTime(b)-before).Seconds()*1000/float64(len(took)), "cpu-ms")
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
		})
	}
}

// cpuTime returns the processor time of the program. On a machine that others use it says more than the clock.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// benchIndex writes the sorted index of an archive, and lines of a WARC file that is still open.
func benchIndex(b *testing.B, pages int) *index.Live {
	b.Helper()
	dir := b.TempDir()
	live, err := index.OpenLive(b.Context(), dir, nil, func(warc.Finding) error { return nil })
	if err != nil {
		b.Fatal(err)
	}
	file, err := os.Create(filepath.Join(dir, index.FileName))
	if err != nil {
		b.Fatal(err)
	}
	out := bufio.NewWriterSize(file, 1<<20)
	var line []byte
	for host := range benchHosts {
		for page := range pages {
			u := benchURI(host, page).String()
			for v := range benchVersions {
				line = index.Entry{
					Key: uri.ReplayKey(u), Timestamp: fmt.Sprintf("202611%02d090000", v+1), URL: u, MIME: "text/html", Status: "200",
					Digest: "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", Length: 9000, Offset: int64(page * 9000), Filename: "moved.warc.gz",
				}.AppendTo(line[:0])
				_, _ = out.Write(line)
			}
		}
	}
	err = out.Flush()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, index.FileName+".files"), []byte("1 2026-11-01T00:00:00Z moved.warc.gz\n"), 0o600)
	}
	if err != nil {
		b.Fatal(err)
	}
	for i := range min(100_000, pages*benchHosts) { // a file of 1 GB that is open
		u := benchURI(i%benchHosts, i/benchHosts).String()
		err := live.Add(index.Entry{
			Key: uri.ReplayKey(u), Timestamp: "20261122090000", URL: u, MIME: "text/html", Status: "200",
			Digest: "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", Length: 9000, Offset: int64(i * 9000), Filename: "open.warc.gz",
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.Cleanup(func() { _, _ = live.Close(), file.Close() })
	return live
}

// benchState fills the store and the list of captures.
func (w *world) benchState(pages int) {
	w.Helper()
	now := time.Now()
	var list []frontier.Entry
	for host := range benchHosts {
		for page := range pages {
			u := benchURI(host, page)
			r := frontier.Record{URI: u}
			r.Title = fmt.Sprintf("Headline %d of host %d", page, host)
			r.Due = now.Add(time.Duration(page-pages/2) * time.Second)
			r.LastVisit, r.Wait = now.Add(-time.Hour), time.Hour
			r.Visits, r.Versions, r.Rate, r.ContentType, r.Size, r.LastStatus = 40, benchVersions, 1, "text/html", 9000, 200
			list = append(list, frontier.Entry{Record: r})
			if len(list) == 10_000 {
				_, err := w.Parts.Frontier.Import(now, false, list...)
				w.Must(err)
				list = nil
			}
			if page < 220 { // more captures than are kept
				w.curation.captures.Add(crawler.Report{
					URI: u, Status: 200, Finished: now, Verdict: evaluators.Verdict{State: evaluators.Changed},
					Versions: benchVersions,
					Type:     "text/html", Title: fmt.Sprintf("Headline %d of host %d", page, host),
				})
			}
		}
	}
	_, err := w.Parts.Frontier.Import(now, false, list...)
	w.Must(err)
}
