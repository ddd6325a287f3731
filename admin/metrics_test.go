package admin

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/town"
)

var update = flag.Bool("update", false, "rewrite the files that are generated from the code")

// scrape reads /metrics as Prometheus does.
func (w *world) scrape() string {
	w.Helper()
	got := httptest.NewRecorder()
	w.window.Handler(access.Options{}).ServeHTTP(got, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if got.Code != http.StatusOK {
		w.Fatalf("/metrics: status %d, %s", got.Code, got.Body)
	}
	return got.Body.String()
}

// TestMetricsCountVisitsAndVersions scrapes the metrics after a day.
func TestMetricsCountVisitsAndVersions(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour+`about = [{ uri = "http://news.example/", labels = ["newspapers"] }]`+"\n", func(o *Options) {
			o.Stored = func(a *api.Archive) { a.Offload.Folders = []api.Folder{{Path: "/disk", Free: 7}} }
		})
		defer w.Close()
		w.Set("http://news.example/", town.Page{Every: 2 * time.Hour})
		w.Run(24*time.Hour - time.Minute)
		text := w.scrape()
		for _, line := range []string{
			`arcrawl_visits_total{outcome="version"} 13`,
			`arcrawl_visits_total{outcome="unchanged"} 12`,
			`arcrawl_label_versions_total{label="newspapers"} 13`,
			`arcrawl_state{state="crawling"} 1`,
			`arcrawl_state{state="paused"} 0`,
			`arcrawl_hosts{state="snoozed"} 1`,
			`arcrawl_uris 2`,
			`arcrawl_uris_due 0`,
			`arcrawl_disk_free_bytes 1.099511627776e+12`,
			`arcrawl_build_info{version="test"} 1`,
			`arcrawl_folder_free_bytes{folder="/disk"} 7`,
			`arcrawl_visit_seconds_count `,
			`go_goroutines `,
		} {
			if !strings.Contains(text, "\n"+line) {
				t.Errorf("no line %q in:\n%s", line, text)
			}
		}
		for _, m := range AllMetrics() {
			if !strings.Contains(text, "# TYPE "+m.Name+" "+m.Type+"\n") {
				t.Errorf("%s is not a %s, or is missing", m.Name, m.Type)
			}
		}
	})
}

// TestTheNumberOfTimeSeriesDoesNotGrowWithTheCrawl counts the lines of a scrape with one host and with a hundred.
func TestTheNumberOfTimeSeriesDoesNotGrowWithTheCrawl(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.Close()
		before := strings.Count(w.scrape(), "\narcrawl_")
		for i := range 100 {
			w.known(fmt.Sprintf("h%d.example", i), 1, time.Hour, time.Hour)
			w.visited(fmt.Sprintf("h%d.example", i), time.Second)
		}
		if after := strings.Count(w.scrape(), "\narcrawl_"); after != before {
			t.Errorf("%d lines with one host, %d with a hundred more hosts; want the same number", before, after)
		}
	})
}

func TestHealthAndReadiness(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.Close()
		w.Set("http://news.example/", town.Page{})
		check := func(path string, status int, word string) {
			t.Helper()
			got := httptest.NewRecorder()
			w.window.Handler(access.Options{}).ServeHTTP(got, httptest.NewRequest(http.MethodGet, path, nil))
			if got.Code != status || !strings.Contains(got.Body.String(), word) {
				t.Errorf("%s: status %d, %s; want %d and %q", path, got.Code, got.Body, status, word)
			}
		}
		check("/healthz", 200, "alive")
		check("/readyz", 200, "crawling")
		w.Crawler.Pause("works", time.Now(), time.Time{})
		check("/readyz", 200, "paused: works")
		w.Crawler.Resume()
		w.Free = 1
		w.Run(time.Minute)
		check("/readyz", 503, "held: ")
		check("/healthz", 200, "alive")
	})
}

// metricsPage is the path of the page that is generated from the table of metrics.
const metricsPage = "../docs/metrics.md"

// TestADeadHostDoesNotMakeTheCrawlLate looks at a host that has been unreachable for a day.
func TestADeadHostDoesNotMakeTheCrawlLate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var seeds strings.Builder
		for i := range 40 { // each visit tries one of them
			fmt.Fprintf(&seeds, `"http://news.example/%d", `, i)
		}
		w := newWorld(t, dir, strings.Replace(everyHour, `"http://news.example/"`, seeds.String(), 1))
		defer w.Close()
		w.Every = time.Hour
		w.Set("http://news.example/0", town.Page{Down: true})
		w.Run(27 * time.Hour)
		u := w.window.Status().URIs
		if time.Duration(u.Overdue) < 23*time.Hour || u.OverdueReachable != 0 {
			t.Errorf("a URI is overdue by %v, of reachable hosts by %v; want most of a day and 0", time.Duration(u.Overdue), time.Duration(u.OverdueReachable))
		}
		if text := w.scrape(); !strings.Contains(text, "\narcrawl_overdue_reachable_seconds 0\n") {
			t.Error("the metric arcrawl_overdue_reachable_seconds is not 0")
		}
	})
}

// TestTheMetricsPageIsFresh compares docs/metrics.md with the table. -update rewrites the text below its
// heading.
func TestTheMetricsPageIsFresh(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("| metric | type | label | meaning |\n|---|---|---|---|\n")
	for _, m := range AllMetrics() {
		label := ""
		if m.Label != "" {
			label = "`" + m.Label + "`: " + m.Values
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Name, m.Type, label, m.Help)
	}
	page, err := os.ReadFile(metricsPage)
	if err != nil {
		t.Fatal(err)
	}
	const mark = "<!-- Generated from the table of the room admin by: go test ./admin -update. Change it there. -->\n"
	above, table, ok := strings.Cut(string(page), mark)
	if !ok {
		t.Fatalf("%s has no line %q", metricsPage, mark)
	}
	if *update {
		if err := os.WriteFile(metricsPage, []byte(above+mark+b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(b.String(), table); diff != "" {
		t.Errorf("%s differs from the table; run go test ./admin -update (-table +page):\n%s", metricsPage, diff)
	}
}

// TestMonitoringUsesExistingMetrics compares the names in the Grafana dashboard and the alert rules with the metrics.
func TestMonitoringUsesExistingMetrics(t *testing.T) {
	t.Parallel()
	var names []string
	for _, m := range AllMetrics() {
		names = append(names, m.Name)
		if m.Type == "histogram" {
			names = append(names, m.Name+"_bucket", m.Name+"_sum", m.Name+"_count")
		}
	}
	files := map[string]func([]byte, any) error{
		"../packaging/monitoring/grafana-dashboard.json": json.Unmarshal,
		"../packaging/monitoring/alerts.yaml":            func(b []byte, v any) error { return yaml.Unmarshal(b, v) },
	}
	for file, decode := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var any map[string]any
		if err := decode(text, &any); err != nil || len(any) == 0 {
			t.Errorf("%s: %v", file, err)
		}
		used := regexp.MustCompile(`\barcrawl_[a-z_]+`).FindAllString(string(text), -1)
		if len(used) < 10 {
			t.Errorf("%s names only %d metrics", file, len(used))
		}
		for _, name := range used {
			if !slices.Contains(names, name) {
				t.Errorf("%s uses %s, which is not a metric", file, name)
			}
		}
	}
}
