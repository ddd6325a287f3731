package admin

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/aspects/feeds"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
)

// raised returns the kinds of the raised alarms.
func (w *world) raised() string {
	w.Helper()
	var kinds []string
	for _, a := range get[api.Alarms](w, "/api/v1/alarms").Alarms {
		kinds = append(kinds, a.Kind)
	}
	return strings.Join(kinds, " ")
}

// changes returns a change of options that keeps the changes of alarms.
func changes(list *[]alarm.Change) func(*Options) {
	return func(o *Options) {
		keep := func(c []alarm.Change, _ time.Time) { *list = append(*list, c...) }
		o.Extensions = append(o.Extensions, Extension{}, Extension{Alarms: keep})
	}
}

// TestSilentSiteRaisesAlarm crawls a page that changes every hour for five days, then not for two, then again.
func TestSilentSiteRaisesAlarm(t *testing.T) {
	slow.Test(t)
	var list []alarm.Change
	inWorld(t, everyHour, func(w *world) {
		w.Every = 10 * time.Minute
		w.Set("http://news.example/", testcrawl.Page{Every: time.Hour})
		w.Set("http://news.example/", testcrawl.Page{From: 5 * 24 * time.Hour})
		w.Set("http://news.example/", testcrawl.Page{From: 7 * 24 * time.Hour, Every: time.Hour})
		w.Run(5*24*time.Hour + 12*time.Hour)
		if got := w.raised(); got != "" {
			w.Errorf("after half a day of silence: %q, want nothing", got)
		}
		w.Run(24 * time.Hour)
		if got := w.raised(); got != "front-page silence" {
			w.Errorf("after a day and a half of silence: %q, want both alarms", got)
		}
		w.Run(24 * time.Hour)
		var told []string
		for _, n := range list {
			told = append(told, fmt.Sprintf("%s %s %t", n.Kind, n.About, n.Raised))
		}
		want := "front-page http://news.example/ true, silence news.example true, front-page http://news.example/ false, silence news.example false"
		if got := strings.Join(told, ", "); got != want || w.raised() != "" {
			w.Errorf("the changes are %q, and %q is still raised; want %q, and nothing raised", got, w.raised(), want)
		}
		if p := loadActivities(w.Dir); p["news.example"].Last.IsZero() {
			w.Errorf("the usual activity of the host is not stored: %v", p)
		}
	}, changes(&list))
}

// checkAlarms compares the kinds of the raised alarms. The texts of the alarms, or the metrics, have some words.
func (w *world) checkAlarms(when, want string, says ...string) {
	w.Helper()
	if got := w.raised(); got != want {
		w.Errorf("%s: %q is raised, want %q", when, got, want)
	}
	text := fmt.Sprint(get[api.Alarms](w, "/api/v1/alarms").Alarms) + w.scrape()
	for _, words := range says {
		if !strings.Contains(text, words) {
			w.Errorf("%s: neither an alarm nor a metric has %q", when, words)
		}
	}
}

// TestEachTroubleRaisesItsAlarm causes one trouble after another and checks that each raises its alarm.
func TestEachTroubleRaisesItsAlarm(t *testing.T) {
	slow.Test(t)
	var faults []config.Fault
	inWorld(t, everyHour, func(w *world) {
		w.Set("http://news.example/", testcrawl.Page{})
		w.Run(10 * time.Minute)
		w.checkAlarms("at the beginning", "")
		w.Free = 1500 << 20 // min_free is 1 GB
		w.Run(2 * time.Minute)
		w.checkAlarms("when the disk is nearly full", "disk")
		w.Free = 1
		w.Run(3 * time.Minute)
		w.checkAlarms("when it is full", "standstill disk")
		w.Free = 1 << 40
		w.Run(15 * time.Minute)
		w.checkAlarms("when it was cleared", "")
		faults = []config.Fault{{File: "x.toml", Problem: "is wrong"}}
		w.Run(2 * time.Minute)
		w.checkAlarms("with a broken configuration", "config")
		faults = nil
		feed := uri.FromCanonical("http://news.example/feed")
		w.window.Observe(crawler.Report{URI: feed, Finished: time.Now(), Source: feeds.Result{Gap: true}})
		w.Run(time.Minute)
		w.checkAlarms("after a feed turned over", "feed-gap")
		w.Run(49 * time.Hour)
		w.checkAlarms("two days later", "")
		w.Set("http://news.example/", testcrawl.Page{From: time.Hour, Down: true})
		w.Run(8 * time.Hour)
		w.checkAlarms("with a host that is down", "host")
	}, func(o *Options) {
		was := o.Config
		o.Config = func() Loaded { l := was(); l.Faults = faults; return l }
	})
}

// TestTroublesWithFinishedFilesRaiseAlarms lets the program that takes finished files fail for five minutes, and later
// for an hour. Then two files are gone, until one is back and the operator declares the other one lost.
func TestTroublesWithFinishedFilesRaiseAlarms(t *testing.T) {
	var h api.Handover
	var losses []dedup.Loss
	inWorld(t, everyHour, func(w *world) {
		w.Set("http://news.example/", testcrawl.Page{})
		fail := func() { h = api.Handover{Waiting: 2, Since: api.Moment(time.Now()), Error: "no space on the tape"} }
		fail()
		w.Run(5 * time.Minute)
		h = api.Handover{}
		w.Run(5 * time.Minute)
		w.checkAlarms("after five minutes", "")
		fail()
		w.Run(time.Hour)
		w.checkAlarms("after an hour", "sealed", "2 finished WARC files not taken", "no space on the tape",
			"\narcrawl_sealed_waiting 2\n", `arcrawl_alarms{kind="sealed"} 1`)
		h = api.Handover{}
		w.Run(10 * time.Minute)
		w.checkAlarms("after the files were taken", "")
		losses = []dedup.Loss{
			{File: "cut.warc.gz", From: 12, Cause: dedup.CutOff},
			{File: "purged.warc.gz", Cause: dedup.CutOff},
			{File: "moved.warc.gz", Cause: dedup.Moved},
		}
		w.Run(10 * time.Minute)
		w.checkAlarms("after the end of a file was lost", "", `arcrawl_lost_files{cause="absent"} 0`,
			`arcrawl_lost_files{cause="cut"} 1`, `arcrawl_lost_files{cause="declared"} 0`)
		losses = append(losses, dedup.Loss{File: "a.warc.gz", Cause: dedup.Absent}, dedup.Loss{File: "b.warc.gz", Cause: dedup.Absent})
		w.Run(10 * time.Minute)
		w.checkAlarms("after files were gone", "lost", "2 finished WARC files gone, such as a.warc.gz",
			`arcrawl_lost_files{cause="absent"} 2`)
		losses = append(losses[:3], dedup.Loss{File: "b.warc.gz", Cause: dedup.Declared})
		w.Run(10 * time.Minute)
		w.checkAlarms("after the operator acted", "", `arcrawl_lost_files{cause="absent"} 0`, `arcrawl_lost_files{cause="declared"} 1`)
	}, func(o *Options) {
		o.Stored = func(a *api.Archive) { a.Handover, a.Lost = h, api.CountLosses(losses) }
	})
}

// TestGrowingBacklogRaisesAlarm records a growing backlog in the series, and then a shrinking one.
func TestGrowingBacklogRaisesAlarm(t *testing.T) {
	inWorld(t, everyHour, func(w *world) {
		for i := range 8 * 60 {
			gauges := gauges{Due: 1000 + int64(i)*10, Overdue: 3600 + int64(i)*30, DiskFree: -1}
			p := seriesPoint{Start: time.Now().Add(time.Duration(i-8*60) * time.Minute), Gauges: gauges}
			w.window.series.Put(p)
		}
		if list := w.window.troubles(time.Now()); len(list) != 1 || list[0].Kind != alarm.Backlog || !strings.Contains(list[0].Text, "5790 URIs are due") {
			w.Errorf("alarms while the backlog grows by 600 URIs an hour: %v", list)
		}
		w.window.series = &timeSeries{}
		for i := range 8 * 60 {
			gauges := gauges{Due: 6000 - int64(i)*10, Overdue: 36000, DiskFree: -1}
			w.window.series.Put(seriesPoint{Start: time.Now().Add(time.Duration(i-8*60) * time.Minute), Gauges: gauges})
		}
		if list := w.window.troubles(time.Now()); len(list) != 0 {
			w.Errorf("alarms while the backlog shrinks: %v", list)
		}
		w.window.series = &timeSeries{}
		for i := range 8 * 60 {
			gauges := gauges{Due: 6000, Overdue: 3600 + int64(i)*30, DiskFree: -1}
			if i < 2*60 {
				gauges.Due = -1 // was not counted yet
			}
			w.window.series.Put(seriesPoint{Start: time.Now().Add(time.Duration(i-8*60) * time.Minute), Gauges: gauges})
		}
		if list := w.window.troubles(time.Now()); len(list) != 0 {
			w.Errorf("alarms of a backlog that was not counted six hours ago: %v", list)
		}
	})
}

// TestDocumentThatCannotBeProcessedIsLoud puts a URI with a control character into the store, as a faulty import would.
func TestDocumentThatCannotBeProcessedIsLoud(t *testing.T) {
	inWorld(t, everyHour, func(w *world) {
		w.Set("http://news.example/", testcrawl.Page{Every: 2 * time.Hour})
		bad := frontier.Candidate{URI: uri.FromCanonical("http://news.example/a\x01b"), Seed: "http://news.example/"}
		_, err := w.Parts.Frontier.Add(time.Now(), bad)
		w.Must(err)
		w.Run(time.Hour + time.Minute)
		if got := w.raised(); got != "document" {
			w.Errorf("raised %q, want the alarm about a document alone", got)
		}
		if text := w.scrape(); strings.Contains(text, "arcrawl_document_faults_total{kind=\"error\"} 0\n") {
			w.Error("the metrics do not count the document")
		}
		if w.window.Status().Condition.State != api.Crawling {
			w.Error("one document has stopped the crawl")
		}
	})
}

// TestAlarmsSayWhoseAndAreAcknowledged lets a host fail, reads the alarm, acknowledges it and restarts.
func TestAlarmsSayWhoseAndAreAcknowledged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var told []alarm.Change
		open := func() *world {
			archivetest.Must(t, os.MkdirAll(dir+"/hosts.d", 0o750))
			archivetest.Must(t, os.WriteFile(dir+"/hosts.d/news.example.toml", []byte("labels = [\"newspapers\"]\n"), 0o600))
			w := newWorld(t, dir, everyHour, changes(&told))
			w.Set("http://news.example/", testcrawl.Page{Down: true})
			return w
		}
		w := open()
		w.Run(4 * time.Hour)
		if len(told) != 1 {
			t.Fatalf("the changes are %+v, want one", told)
		}
		n := told[0]
		if n.Kind != alarm.Host || n.Host != "news.example" || !n.Raised || !strings.Contains(n.Text, "connection refused") {
			t.Errorf("the change is %+v", n)
		}
		done := post[api.Acknowledged](w, "/api/v1/alarms/acknowledge", api.Acknowledge{Kind: "host", About: "news.example", Note: "moves"})
		if done.Changed != 1 {
			t.Errorf("acknowledged %d alarms, want 1", done.Changed)
		}
		for o, want := range map[api.Acknowledge]int{{Kind: "hosts"}: 400, {Kind: "host", About: "b.example"}: 404} {
			if status := w.Ask(http.MethodPost, "/api/v1/alarms/acknowledge", o, nil); status != want {
				t.Errorf("%+v: status %d, want %d", o, status, want)
			}
		}
		w.Close()

		w = open()
		defer w.Close()
		w.Run(10 * time.Minute)
		if len(told) != 1 {
			t.Errorf("after a restart the alarm is announced again: %+v", told[1:])
		}
		raised := get[api.Alarms](w, "/api/v1/alarms").Alarms
		if len(raised) != 1 || raised[0].Acknowledged == nil || raised[0].Acknowledged.Note != "moves" {
			t.Errorf("after a restart %+v is raised, want it acknowledged", raised)
		}
		for filter, want := range map[string]int{"label=newspapers": 1, "label=other": 0, "owner=jan": 0, "collection=": 1} {
			if n := len(get[api.Alarms](w, "/api/v1/alarms?"+filter).Alarms); n != want {
				t.Errorf("%s selects %d alarms, want %d", filter, n, want)
			}
		}
		if text := w.scrape(); !strings.Contains(text, `arcrawl_alarms{kind="host"} 0`) || !strings.Contains(text, "arcrawl_alarms_acknowledged 1") {
			t.Error("the metrics count an acknowledged alarm as an open one")
		}
	})
}

// TestSeedsThatLetNobodyInRaiseAlarms crawls sites whose servers answer and never show a page, and one that does, for
// four days.
func TestSeedsThatLetNobodyInRaiseAlarms(t *testing.T) {
	seeds := `"http://` + strings.Join([]string{"self", "wall", "chain", "sessions", "open"}, `.example/", "http://`) + `.example/"`
	inWorld(t, strings.Replace(everyHour, `"http://news.example/"`, seeds, 1), func(w *world) {
		w.Every = time.Hour
		w.Set("http://self.example/", testcrawl.Page{Status: 302, Location: "/"})
		w.Set("http://wall.example/", testcrawl.Page{Body: "<h1>Cookies required</h1><p>Please enable cookies in your browser.</p>"})
		w.Set("http://open.example/", testcrawl.Page{Links: []string{"/story"}})
		w.Set("http://open.example/story", testcrawl.Page{})
		visits := 0
		redirect := func(to func(c string) string) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/" {
					http.NotFound(w, r)
					return
				}
				w.Header().Set("Location", to(r.URL.Query().Get("c")))
				w.WriteHeader(http.StatusFound)
			})
		}
		w.Town.Serve("chain.example", redirect(func(c string) string {
			n := 0
			_, _ = fmt.Sscan(c, &n)
			return fmt.Sprintf("/?c=%d", n+1)
		}))
		w.Town.Serve("sessions.example", redirect(func(string) string { visits++; return fmt.Sprintf("/?c=session%d", visits) }))
		w.Run(4 * 24 * time.Hour)
		var about []string
		for _, a := range get[api.Alarms](w, "/api/v1/alarms").Alarms {
			if a.Kind == alarm.Seed {
				about = append(about, a.Host)
			}
		}
		slices.Sort(about)
		want := []string{"chain.example", "self.example", "sessions.example", "wall.example"}
		if !slices.Equal(about, want) {
			w.Errorf("alarms about the seeds of %q, want %q", about, want)
		}
	})
}

// TestAFailingAuditLogIsAnAlarm makes a folder with the name of the audit log, and removes it.
func TestAFailingAuditLogIsAnAlarm(t *testing.T) {
	inWorld(t, everyHour, func(w *world) {
		log := filepath.Join(w.Dir, "audit.jsonl")
		w.Must(os.Mkdir(log, 0o700))
		w.Run(5 * time.Minute)
		if got := w.raised(); got != "audit" {
			w.Errorf("raised are %q, want the alarm of the audit log", got)
		}
		w.Must(os.Remove(log))
		w.Run(5 * time.Minute)
		if got := w.raised(); got != "" {
			w.Errorf("raised are %q although the log can be written", got)
		}
	})
}

func TestASeedThatLetsNobodyInIsATrouble(t *testing.T) {
	t.Parallel()
	const page = "the server sent another page instead of the content: "
	for _, c := range []struct {
		name      string
		history   frontier.History
		what, fix string // "" = no trouble
	}{
		{"a redirect to itself", frontier.History{Failures: 3, LastStatus: 302, LastError: page + "loop:redirect"}, "redirected back to itself at its last 3 visits", "fetch.cookie"},
		{"a cookie wall", frontier.History{Failures: 5, LastStatus: 200, LastError: page + "consent:cookies"}, "wall", "fetch.cookie"},
		{"a challenge", frontier.History{Failures: 4, LastStatus: 200, LastError: page + "challenge:cloudflare"}, "challenge", "User-Agent"},
		{"a refusal", frontier.History{Failures: 3, LastStatus: 403}, "status 403", "User-Agent"},
		{"a page that is gone", frontier.History{Gone: 4, LastStatus: 404}, "is gone", "new address"},
		{"robots.txt", frontier.History{LastStatus: -9998}, "forbidden by robots.txt", "robots.obey"},
		{"nothing but errors", frontier.History{Failures: 3, LastStatus: 500}, "only errors, status 500", "browser"},
		{"an error after versions", frontier.History{Failures: 3, LastStatus: 500, Versions: 4}, "", ""},
		{"a wall for a moment", frontier.History{Failures: 2, LastStatus: 302, LastError: page + "loop:redirect"}, "", ""},
		{"a page that may be gone", frontier.History{Gone: 3, LastStatus: 404}, "", ""},
		{"an unreachable host has its own alarm", frontier.History{Failures: 9, LastStatus: -2, LastError: "refused"}, "", ""},
		{"a page", frontier.History{LastStatus: 200}, "", ""},
		{"the shell of an application", frontier.History{LastStatus: 200, Versions: 1, Shell: true}, "made by scripts", "render.pages"},
		{"a shell that failed once", frontier.History{LastStatus: 500, Failures: 1, Versions: 1, Shell: true}, "", ""},
	} {
		r := frontier.Record{URI: uri.FromCanonical("http://a.example/"), History: c.history}
		f, ok := seedFaultOf(r, 3, 4, false)
		got := f.text(r)
		if ok != (c.what != "") || ok && !strings.Contains(got, "the seed http://a.example/ ") || !strings.Contains(got, c.what) || !strings.Contains(got, c.fix) {
			t.Errorf("%s: %t, %s", c.name, ok, got)
		}
		if _, ok := seedFaultOf(r, 3, 4, true); ok && c.history.Shell {
			t.Errorf("%s: a trouble although a browser renders it", c.name)
		}
		r.FirstSeen = time.Unix(0, 0)
		for after, want := range map[time.Duration]int{time.Hour: 3, 13 * time.Hour: 1} {
			if failures, _ := patience(r, 4, r.FirstSeen.Add(after)); r.Versions == 0 && failures != want {
				t.Errorf("%s: a trouble after %d failures within %s, want %d", c.name, failures, after, want)
			}
		}
	}
}
