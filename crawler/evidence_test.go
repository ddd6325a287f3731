package crawler_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/internal/town"
)

// raw answers each request for a page with exact bytes, and for robots.txt with 404.
func raw(answer func() string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = c.Write([]byte(answer()))
		_, _ = io.Copy(io.Discard, c) // until the client closes the connection
	})
}

// answer returns the exact bytes of a page with a status line.
func answer(statusLine, body string) string {
	return fmt.Sprintf("%s\r\nContent-Type: text/html\r\nContent-Length: %d\r\nETag: \"1\"\r\nConnection: close\r\n\r\n%s", statusLine, len(body), body)
}

const twoSites = `[[wait]]
mime = ".*"
initial = "1h"
min = "1h"
max = "1h"
[seeds]
uris = ["http://odd.example/", "http://news.example/"]
`

// countKept returns how many visits left each kind of record.
func countKept(visits []crawler.Report) map[aspects.Keeping]int {
	n := map[aspects.Keeping]int{}
	for _, v := range visits {
		n[v.Kept]++
	}
	return n
}

func TestLowerCaseStatusLineHoldsNobody(t *testing.T) {
	for name, healed := range map[string]time.Duration{"always": 100 * time.Hour, "repaired after six hours": 6 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			dir := inTown(t, twoSites, func(t *testing.T, w *world) {
				w.set("http://news.example/", town.Page{Every: 30 * time.Minute})
				founded := time.Now()
				w.town.Serve("odd.example", raw(func() string {
					if time.Since(founded) < healed {
						return answer("http/1.1 200 OK", "the page")
					}
					return answer("HTTP/1.1 200 OK", "the page")
				}))
				w.run(12*time.Hour + time.Minute)
				odd, healthy := w.visits("odd.example/"), w.visits("news.example/")
				if len(healthy) != 13 || len(odd) != 13 || odd[0].Failed {
					t.Errorf("%d visits of the healthy site and %d of the other one, want 13 and 13", len(healthy), len(odd))
				}
				kept := countKept(odd)
				revisits := kept[aspects.KeptRevisit] > 0
				if odd[0].Kept != aspects.KeptEvidence || kept[aspects.KeptEvidence] != 1 || revisits && healed > 24*time.Hour {
					t.Errorf("kept %v, the first visit %s; want evidence once", kept, odd[0].Kept)
				}
				if healed < 24*time.Hour && kept[aspects.KeptResponse] != 1 {
					t.Errorf("kept %v, want one response after the server was repaired", kept)
				}
			})
			checkArchive(t, dir)
		})
	}
}

// The odd site answers first with a payload that the healthy site has too.
func TestEvidenceIsNoOrigin(t *testing.T) {
	dir := inTown(t, twoSites, func(t *testing.T, w *world) {
		w.town.Serve("odd.example", raw(func() string { return answer("http/1.1 200 OK", "var common = 1") }))
		founded := time.Now()
		w.town.Serve("news.example", raw(func() string {
			if time.Since(founded) < 30*time.Minute {
				return answer("HTTP/1.1 500 Later", "")
			}
			return answer("HTTP/1.1 200 OK", "var common = 1")
		}))
		w.run(5 * time.Hour)
		healthy := countKept(w.visits("news.example/"))
		if healthy[aspects.KeptResponse] < 2 || healthy[aspects.KeptRevisit] == 0 {
			t.Errorf("the healthy site left %v, want its own response and revisits to it", healthy)
		}
	})
	checkArchive(t, dir)
}
