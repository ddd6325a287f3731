package hostile_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// answers are attacks with the bytes of single answers.
func answers() []attack {
	return []attack{
		{
			name: "status line in lower case", quick: true, oddArchive: true,
			stranger: func(c *crawl) crawlOptions {
				c.town.speak(func(w net.Conn, r *http.Request) {
					say(w, r, "http/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>always the same</title>")
				}, "www.stranger.example")
				return crawlOptions{
					seeds: pagesOf(c, "www.stranger.example", 5),
					until: func() bool { return len(c.visits("stranger.example")) >= 10 },
				}
			},
			check: func(t *testing.T, c *crawl) { atLeast(t, c, "stranger.example", 10) },
		},
		{
			name: "common payload from an answer that is no response record", oddArchive: true,
			stranger: func(c *crawl) crawlOptions {
				const script = "console.log('a script that many sites have')\n"
				var first atomic.Bool
				c.town.speak(func(w net.Conn, r *http.Request) {
					say(w, r, "http/1.1 200 OK\r\nContent-Type: text/javascript\r\n\r\n"+script)
					first.Store(first.Load() || r.URL.Path != "/robots.txt")
				}, "www.stranger.example")
				c.town.serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					if !first.Load() {
						http.Error(w, "not yet", http.StatusServiceUnavailable)
						return
					}
					w.Header().Set("Content-Type", "text/javascript")
					_, _ = io.WriteString(w, script)
				}), "www.victim.example")
				return crawlOptions{seeds: append(
					pagesOf(c, "www.stranger.example", 1), pagesOf(c, "www.victim.example", 3)...)}
			},
			check: func(t *testing.T, c *crawl) { atLeast(t, c, "victim.example", 3) },
		},
		{
			name: "folded header lines of 4 MB", oddArchive: true,
			stranger: func(c *crawl) crawlOptions {
				head := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Long: a" + strings.Repeat("\r\n b", 1<<20) + "\r\n\r\nhello"
				c.town.speak(func(w net.Conn, r *http.Request) { say(w, r, head) }, "www.stranger.example")
				return crawlOptions{
					fetch: `max_head = "8MiB"`,
					seeds: pagesOf(c, "www.stranger.example", 4),
				}
			},
			bound: usage{disk: 256 << 20, heap: 128 << 20},
			check: func(t *testing.T, c *crawl) { atLeast(t, c, "stranger.example", 4) },
		},
		{
			name: "control byte in a header value", oddArchive: true,
			stranger: func(c *crawl) crawlOptions {
				c.town.speak(func(w net.Conn, r *http.Request) {
					say(w, r, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Odd: a\x01b\r\n\r\n<title>a page</title>")
				}, "www.stranger.example")
				return crawlOptions{seeds: pagesOf(c, "www.stranger.example", 3)}
			},
			check: func(t *testing.T, c *crawl) {
				for _, r := range c.visits("stranger.example") {
					if r.Status != http.StatusOK && !strings.HasSuffix(r.URI.Path(), "robots.txt") {
						t.Errorf("the visit of %s has status %d, want 200", r.URI, r.Status)
						return
					}
				}
				atLeast(t, c, "stranger.example", 5)
			},
		},
		{
			name: "Content-Type of 1 MB, and a second start", oddArchive: true,
			stranger: func(c *crawl) crawlOptions {
				head := "HTTP/1.1 200 OK\r\nContent-Type: text/" + strings.Repeat("x", 1100<<10) + "\r\n\r\nhello"
				c.town.speak(func(w net.Conn, r *http.Request) { say(w, r, head) }, "www.stranger.example")
				return crawlOptions{
					fetch: `max_head = "4MiB"`,
					seeds: pagesOf(c, "www.stranger.example", 1),
				}
			},
			bound: usage{heap: 128 << 20},
			check: func(t *testing.T, c *crawl) {
				atLeast(t, c, "stranger.example", 2)
				before := c.healthy.Load()
				c.run(crawlOptions{fetch: `max_head = "4MiB"`, lasts: 3 * time.Second})
				if c.healthy.Load() == before {
					t.Error("after a restart nothing was crawled")
				}
			},
		},
	}
}

// say writes an answer to a request for a page. There is no robots.txt.
func say(w net.Conn, r *http.Request, answer string) {
	if r.URL.Path == "/robots.txt" {
		answer = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
	}
	_, _ = io.WriteString(w, answer)
}

// pagesOf returns the addresses of the pages /0, /1 … of a host.
func pagesOf(c *crawl, host string, n int) []string {
	var list []string
	for i := range n {
		list = append(list, c.town.url(host, fmt.Sprintf("/%d", i)))
	}
	return list
}

// atLeast fails the test if there are fewer visits to URIs that contain a text.
func atLeast(t *testing.T, c *crawl, part string, want int) {
	t.Helper()
	if got := len(c.visits(part)); got < want {
		t.Errorf("%d visits to %s, want at least %d", got, part, want)
	}
}
