package admin

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
)

// TestOrdersAreRecorded sends orders of several callers, questions, and a change of the configuration.
func TestOrdersAreRecorded(t *testing.T) {
	var log bytes.Buffer
	change := ""
	inWorld(t, everyHour, func(w *world) {
		tokens := []access.Token{{Name: "maria", Role: access.Operate, Secret: "m"}, {Name: "grafana", Role: access.Read, Secret: "g"}}
		h := w.window.Handler(access.Options{Tokens: func() []access.Token { return tokens }})
		send := func(secret, method, path, body string) int {
			r := httptest.NewRequest(method, path, strings.NewReader(body))
			r.Host = "localhost"
			r.Header.Set("Authorization", "Bearer "+secret)
			to := httptest.NewRecorder()
			h.ServeHTTP(to, r)
			return to.Code
		}
		for _, c := range []struct {
			secret, method, path, body string
			want                       int
		}{
			{"m", http.MethodPost, "/api/v1/pause", `{"reason":"works"}`, 200},
			{"g", http.MethodPost, "/api/v1/resume", ``, 403},
			{"g", http.MethodPost, "/api/v1/frontier/list", `{}`, 200},
			{"g", http.MethodGet, "/api/v1/status", ``, 200},
			{"m", http.MethodPost, "/api/v1/seeds", `{"uris":["http://news.example/a"]}`, 200},
			{"m", http.MethodPost, "/api/v1/frontier/steer", `{"verb":"fly","select":{"uris":["http://news.example/"]}}`, 400},
		} {
			if got := send(c.secret, c.method, c.path, c.body); got != c.want {
				w.Errorf("%s %s with %q: status %d, want %d", c.method, c.path, c.secret, got, c.want)
			}
			time.Sleep(time.Second)
		}
		post[api.Condition](w, "/api/v1/resume", nil) // through the socket, as nobody
		change = "sha256:new"
		w.Must(os.WriteFile(w.Path("arcrawl.toml"), []byte(everyHour+"\n"), 0o600))
		w.Must(os.Chtimes(w.Path("arcrawl.toml"), time.Now(), time.Now()))
		w.Must(w.window.Tick(time.Now()))

		var got []string
		for _, e := range get[api.Audit](w, "/api/v1/audit").Entries {
			got = append(got, strings.Join([]string{e.Who, e.Way, e.What, e.Result}, "|"))
		}
		want := []string{
			"|files|configuration|done",
			"|socket|resume|done",
			`maria|token|frontier/steer|fly URIs of the frontier: unknown verb`,
			"maria|token|seeds|done",
			"grafana|token|resume|this needs another role: operate; you have the role read; see arcrawl user",
			"maria|token|pause|done",
		}
		for i := range want {
			if len(got) != len(want) || !strings.HasPrefix(got[i], want[i]) {
				w.Fatalf("the audit log has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		last := get[api.Audit](w, "/api/v1/audit?limit=1").Entries
		if len(last) != 1 || !strings.Contains(string(last[0].Order), w.Path("arcrawl.toml")) {
			w.Errorf("the change of the configuration is recorded as %s", last[0].Order)
		}
		if by := get[api.Audit](w, "/api/v1/audit?who=maria&what=seeds").Entries; len(by) != 1 ||
			string(by[0].Order) != `{"uris":["http://news.example/a"]}` || !strings.Contains(string(by[0].Answer), `"new":1`) {
			w.Errorf("the order of seeds is recorded as %+v", by)
		}
		if !strings.Contains(log.String(), `"order":"seeds","who":"maria"`) {
			w.Errorf("the journal has no order:\n%s", &log)
		}
	}, func(o *Options) {
		o.Log = zerolog.New(&log)
		was := o.Config
		o.Config = func() Loaded {
			l := was()
			if change != "" {
				c := *l.Config
				c.Digest = change
				l.Config = &c
			}
			return l
		}
	})
}
