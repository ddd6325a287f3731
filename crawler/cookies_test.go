package crawler_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestCookiesGoBackToTheirHostIfAsked crawls three sites that show a wall until their cookie comes back, for a day, and
// again after a restart.
func TestCookiesGoBackToTheirHostIfAsked(t *testing.T) {
	t.Parallel()
	dir := inTown(t, "[robots]\nwait = \"30d\"\n[[wait]]\nmime = \".*\"\nrule = \"fixed\"\nevery = \"6h\"\n"+
		"[seeds]\nuris = [\"http://off.paper.example/\", \"http://session.paper.example/\", \"http://keep.paper.example/\"]\n", func(t *testing.T, w *world) {
		w.hostFiles(map[string]string{
			"hosts.d/session.paper.example.toml": "[fetch]\ncookies = \"session\"\n",
			"hosts.d/keep.paper.example.toml":    "[fetch]\ncookies = \"keep\"\ncookie = \"lang=da\"\n",
		})
		var mu sync.Mutex
		sent := map[string][]string{}
		for _, host := range []string{"off", "session", "keep"} {
			w.town.Serve(host+".paper.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/" {
					http.NotFound(out, r)
					return
				}
				mu.Lock()
				sent[host] = append(sent[host], r.Header.Get("Cookie"))
				mu.Unlock()
				out.Header().Set("Content-Type", "text/html")
				if c, err := r.Cookie("id"); err == nil && c.Value == host {
					_, _ = fmt.Fprint(out, "welcome")
					return
				}
				out.Header().Add("Set-Cookie", "id="+host+"; Path=/; Domain=paper.example; Max-Age=9999999")
				out.Header().Add("Set-Cookie", "lang=en; Path=/")
				for i := 0; i < 100 && host == "keep"; i++ {
					out.Header().Add("Set-Cookie", "x="+strings.Repeat("x", 8<<10)) // a host may try
				}
				_, _ = fmt.Fprint(out, "wall")
			}))
		}
		w.edit("[operator]", "[fetch]\nmax_head = \"2MB\"\n[operator]")
		w.run(20 * time.Hour)
		w.run(20 * time.Hour)
		mu.Lock()
		defer mu.Unlock()
		for host, want := range map[string]string{
			"off":     "| | | | | |",
			"session": "| id=session; lang=en| id=session; lang=en| id=session; lang=en| | id=session; lang=en| id=session; lang=en",
			"keep":    "lang=da| lang=da; id=keep| lang=da; id=keep| lang=da; id=keep| lang=da; id=keep| lang=da; id=keep| lang=da; id=keep",
		} {
			if got := strings.Join(sent[host], "| "); strings.TrimSpace(got) != strings.TrimSpace(want) {
				t.Errorf("%s was sent %q, want %q", host, got, want)
			}
		}
		if got := requestsTo(t, w, "http://keep.paper.example/"); len(got) < 2 || !strings.Contains(got[1], "Cookie: lang=da; id=keep\r\n") {
			t.Errorf("the archived requests are %q", got)
		}
	})
	log, err := os.ReadFile(dir + "/crawl.log")
	must(t, err)
	marked := map[string]int{}
	for line := range strings.Lines(string(log)) {
		for _, host := range []string{"off", "session", "keep"} {
			if strings.Contains(line, " http://"+host+".paper.example/ - ") && strings.Contains(line, "otherRequest") {
				marked[host]++
			}
		}
	}
	if fmt.Sprint(marked) != "map[keep:1 session:3]" {
		t.Errorf("visits that are marked as made by another request: %v", marked)
	}
	checkArchive(t, dir)
}
