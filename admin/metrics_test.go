package admin

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v3"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
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

// TestTheNumberOfTimeSeriesDoesNotGrowWithTheCrawl counts the lines of a scrape with one host and with a hundred.
func TestTheNumberOfTimeSeriesDoesNotGrowWithTheCrawl(t *testing.T) {
	inWorld(t, everyHour, func(w *world) {
		before := strings.Count(w.scrape(), "\narcrawl_")
		for i := range 100 {
			w.known(fmt.Sprintf("h%d.example", i), 1, time.Hour, time.Hour)
			w.visited(fmt.Sprintf("h%d.example", i), time.Second)
		}
		if after := strings.Count(w.scrape(), "\narcrawl_"); after != before {
			w.Errorf("%d lines with one host, %d with a hundred more hosts; want the same number", before, after)
		}
	})
}

// TestHealthAndReadiness asks a crawl that runs, is paused and is held. Without a token the reason is not shown.
func TestHealthAndReadiness(t *testing.T) {
	inWorld(t, everyHour, func(w *world) {
		w.Set("http://news.example/", testcrawl.Page{})
		socket := access.Options{}
		network := access.Options{Tokens: func() []access.Token { return nil }}
		check := func(o access.Options, path string, status int, text string) {
			w.Helper()
			got := httptest.NewRecorder()
			w.window.Handler(o).ServeHTTP(got, httptest.NewRequest(http.MethodGet, path, nil))
			if got.Code != status || !strings.HasPrefix(got.Body.String(), text) {
				w.Errorf("%s: status %d, %s; want %d and %q", path, got.Code, got.Body, status, text)
			}
		}
		check(socket, "/healthz", 200, "alive\n")
		check(socket, "/readyz", 200, "crawling\n")
		w.Crawler.Pause("works", time.Now(), time.Time{})
		check(socket, "/readyz", 200, "paused: works\n")
		check(network, "/readyz", 200, "paused\n")
		check(network, "/healthz", 200, "alive\n")
		w.Crawler.Resume()
		w.Free = 1
		w.Run(time.Minute)
		check(socket, "/readyz", 503, "held: ")
		check(socket, "/healthz", 200, "alive\n")
	})
}

// metricsPage is the path of the page that is generated from the table of metrics.
const metricsPage = "../docs/metrics.md"

// TestADeadHostDoesNotMakeTheCrawlLate looks at a host that has been unreachable for a day.
func TestADeadHostDoesNotMakeTheCrawlLate(t *testing.T) {
	var seeds strings.Builder
	for i := range 40 { // each visit tries one of them
		fmt.Fprintf(&seeds, `"http://news.example/%d", `, i)
	}
	inWorld(t, strings.Replace(everyHour, `"http://news.example/"`, seeds.String(), 1), func(w *world) {
		w.Every = time.Hour
		w.Set("http://news.example/0", testcrawl.Page{Down: true})
		w.Run(27 * time.Hour)
		u := w.window.Status().URIs
		if time.Duration(u.Overdue) < 23*time.Hour || u.OverdueReachable != 0 {
			w.Errorf("a URI is overdue by %v, of reachable hosts by %v; want most of a day and 0", time.Duration(u.Overdue), time.Duration(u.OverdueReachable))
		}
		if text := w.scrape(); !strings.Contains(text, "\narcrawl_overdue_reachable_seconds 0\n") {
			w.Error("the metric arcrawl_overdue_reachable_seconds is not 0")
		}
	})
}

// TestTheMetricsPageIsFresh compares docs/metrics.md with the table. -update rewrites the text below its
// heading.
func TestTheMetricsPageIsFresh(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("| metric | type | label | meaning |\n|---|---|---|---|\n")
	for _, m := range allMetrics() {
		label := ""
		if m.Label != "" {
			label = "`" + m.Label + "`: " + m.Values
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Name, m.Type, label, m.Help)
	}
	page, err := os.ReadFile(metricsPage)
	archivetest.Must(t, err)
	const mark = "<!-- Generated from the table of the room admin by: go test ./admin -update. Change it there. -->\n"
	above, table, ok := strings.Cut(string(page), mark)
	if !ok {
		t.Fatalf("%s has no line %q", metricsPage, mark)
	}
	if *update {
		archivetest.Must(t, os.WriteFile(metricsPage, []byte(above+mark+b.String()), 0o644))
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
	for _, m := range allMetrics() {
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
		archivetest.Must(t, err)
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

// TestAnUnknownNumberIsNoMetric gathers the number of due URIs before and after they were counted.
func TestAnUnknownNumberIsNoMetric(t *testing.T) {
	t.Parallel()
	for due, want := range map[int64]int{-1: 0, 0: 1, 7: 1} {
		r := prometheus.NewRegistry()
		r.MustRegister(metricCollector{Snapshot: func() (s metricSnapshot) { s.URIs.Due = due; return s }})
		all, err := r.Gather()
		archivetest.Must(t, err)
		found := 0
		for _, m := range all {
			if m.GetName() == "arcrawl_uris_due" {
				found++
				if v := m.GetMetric()[0].GetGauge().GetValue(); v != float64(due) {
					t.Errorf("the metric is %v, want %d", v, due)
				}
			}
		}
		if found != want {
			t.Errorf("with %d due URIs the metric occurs %d times, want %d", due, found, want)
		}
	}
}

// TestTheNumberOfLabelsIsBounded counts far more labels than are counted by name.
func TestTheNumberOfLabelsIsBounded(t *testing.T) {
	t.Parallel()
	var c labelCounts
	for i := range 10 * maxLabels {
		c.Visit([]string{fmt.Sprintf("label-%04d", i), "label-0000"}, 1)
	}
	rows := c.Rows()
	if len(rows) != maxLabels+1 {
		t.Fatalf("%d labels are counted, want %d and %q", len(rows), maxLabels, otherLabel)
	}
	if r := rows[0]; r.Label != "label-0000" || r.Visits != 10*maxLabels+1 || r.Versions != r.Visits {
		t.Errorf("the first label has %+v; want every visit, and the first one twice", r)
	}
	if r := rows[len(rows)-1]; r.Label != otherLabel || r.Visits != 9*maxLabels {
		t.Errorf("the other labels have %+v; want %d visits", r, 9*maxLabels)
	}
}

// TestACrawlSaysWhichOneItIs opens a crawl with and without a name of its own. The status always has a name;
// metrics have the label only with admin.instance.
func TestACrawlSaysWhichOneItIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ setting, want, label string }{
		{"", "Test Library", ""},
		{"[admin]\ninstance = \"press \\\"2\\\"\"\n", `press "2"`, `crawl="press \"2\""`},
	} {
		t.Run(c.want, func(t *testing.T) {
			inWorld(t, c.setting+everyHour, func(w *world) {
				if got := w.window.Status().Instance; got != c.want {
					w.Errorf("the status is of %q, want %q", got, c.want)
				}
				text := w.scrape()
				series := regexp.MustCompile(`(?m)^[a-z].*$`).FindAllString(text, -1)
				with := 0
				for _, s := range series {
					if c.label != "" && strings.Contains(s, c.label) {
						with++
					}
				}
				if len(series) < 60 || with != len(series) && c.label != "" || c.label == "" && strings.Contains(text, "crawl=") {
					w.Errorf("%q: %d of %d series have the label %q", c.setting, with, len(series), c.label)
				}
			})
		})
	}
}

// TestAlertRules runs promtool's tests of the alert rules. The rules must not fire on a healthy crawl.
func TestAlertRules(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"check", "rules", "../packaging/monitoring/alerts.yaml"},
		{"test", "rules", "testdata/alerts.test.yaml"},
	} {
		if out, err := foreign.Promtool(t, args...); err != nil || !strings.Contains(out, "SUCCESS") {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}

// TestGrafanaDashboardSelectsInstances checks each expression of the dashboard: its syntax, that it selects the chosen
// instances, and that it does not add up instances.
func TestGrafanaDashboardSelectsInstances(t *testing.T) {
	t.Parallel()
	var board struct {
		Templating struct{ List []struct{ Name string } }
		Panels     []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	text, err := os.ReadFile("../packaging/monitoring/grafana-dashboard.json")
	if err == nil {
		err = json.Unmarshal(text, &board)
	}
	archivetest.Must(t, err)
	if l := board.Templating.List; len(l) != 2 || l[1].Name != "instance" {
		t.Errorf("the variables are %+v; want an instance", l)
	}
	metric := regexp.MustCompile(`arcrawl_[a-z_]+(\{[^}]*\})?`)
	rules := "groups:\n- name: dashboard\n  rules:\n"
	n := 0
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			for _, m := range metric.FindAllString(target.Expr, -1) {
				if !strings.Contains(m, `instance=~"$instance"`) {
					t.Errorf("%s: %s does not select the instance", p.Title, m)
				}
			}
			if strings.Contains(target.Expr, " by (") && !strings.Contains(target.Expr, "by (instance, ") {
				t.Errorf("%s: %s adds up instances", p.Title, target.Expr)
			}
			if !strings.Contains(target.LegendFormat, "{{instance}}") {
				t.Errorf("%s: the legend %q does not name the instance", p.Title, target.LegendFormat)
			}
			rules += fmt.Sprintf("  - {record: 'panel:%d', expr: '%s'}\n", n, target.Expr)
			n++
		}
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	archivetest.Must(t, os.WriteFile(file, []byte(rules), 0o600))
	if out, err := foreign.Promtool(t, "check", "rules", file); err != nil || n == 0 || !strings.Contains(out, fmt.Sprintf("%d rules found", n)) {
		t.Errorf("promtool on the expressions: %v\n%s", err, out)
	}
}
