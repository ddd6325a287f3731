package admin

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/town"
)

// TestSeedsThatLetNobodyInRaiseAlarms crawls sites whose servers answer and never show a page, and one that does, for
// four days.
func TestSeedsThatLetNobodyInRaiseAlarms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		sites := []string{"self", "wall", "chain", "sessions", "open"}
		var seeds strings.Builder
		for _, s := range sites {
			fmt.Fprintf(&seeds, `"http://%s.example/", `, s)
		}
		w := newWorld(t, dir, strings.Replace(everyHour, `"http://news.example/"`, seeds.String(), 1))
		defer w.Close()
		w.Every = time.Hour
		w.Set("http://self.example/", town.Page{Status: 302, Location: "/"})
		w.Set("http://wall.example/", town.Page{Body: "<h1>Cookies required</h1><p>Please enable cookies in your browser.</p>"})
		w.Set("http://open.example/", town.Page{Links: []string{"/story"}})
		w.Set("http://open.example/story", town.Page{})
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
			t.Errorf("alarms about the seeds of %q, want %q", about, want)
		}
	})
}
