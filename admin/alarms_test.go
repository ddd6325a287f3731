package admin

import (
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/town"
)

// TestAlarmsSayWhoseAndAreAcknowledged lets a host fail, reads the notice, acknowledges the alarm and restarts.
func TestAlarmsSayWhoseAndAreAcknowledged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var told []alarm.Notice
		open := func() *world {
			if err := os.MkdirAll(dir+"/hosts.d", 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(dir+"/hosts.d/news.example.toml", []byte("labels = [\"newspapers\"]\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			w := newWorld(t, dir, everyHour+"[admin]\nurl = \"https://crawler.library.example/\"\n", func(o *Options) {
				o.Notify = func(list []alarm.Notice) { told = append(told, list...) }
			})
			w.Set("http://news.example/", town.Page{Down: true})
			return w
		}
		w := open()
		w.Run(4 * time.Hour)
		if len(told) != 1 {
			t.Fatalf("the notices are %+v, want one", told)
		}
		n := told[0]
		if n.Kind != alarm.Host || n.Host != "news.example" || n.Institution != "Test Library" || !n.Raised ||
			n.Link != "https://crawler.library.example/#/host/news.example" || !slices.Equal(n.Labels, []string{"newspapers"}) ||
			!strings.Contains(n.Text, "connection refused") {
			t.Errorf("the notice is %+v", n)
		}
		done := post[api.Acknowledged](w, "/api/v1/alarms/acknowledge", api.Acknowledge{Kind: "host", About: "news.example", Note: "moves"})
		if done.Changed != 1 {
			t.Errorf("acknowledged %d alarms, want 1", done.Changed)
		}
		for body, want := range map[string]int{`{"kind":"hosts"}`: 400, `{"kind":"host","about":"b.example"}`: 404} {
			r := httptest.NewRequest(http.MethodPost, "/api/v1/alarms/acknowledge", strings.NewReader(body))
			to := httptest.NewRecorder()
			if w.window.Handler(access.Options{}).ServeHTTP(to, r); to.Code != want {
				t.Errorf("%s: status %d, want %d", body, to.Code, want)
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
		to := httptest.NewRecorder()
		w.window.Handler(access.Options{}).ServeHTTP(to, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		if text := to.Body.String(); !strings.Contains(text, `arcrawl_alarms{kind="host"} 0`) || !strings.Contains(text, "arcrawl_alarms_acknowledged 1") {
			t.Error("the metrics count an acknowledged alarm as an open one")
		}
	})
}
