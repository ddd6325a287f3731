package hostile_test

import (
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// floods are attacks with addresses and versions without end: what is new at each visit costs most.
func floods() []attack {
	return []attack{
		endlessSearch(),
		manyParts(),
		clocks(),
		longBodies(),
		manyFastPages(),
		newSessions(),
		trailingDots(),
		robotsCircle(),
		idleConnections(),
	}
}

// endlessSearch is a search whose results name further words.
func endlessSearch() attack {
	return attack{
		name: "search whose results name five more words", lasts: short,
		stranger: func(c *crawl) crawlOptions {
			s, word := &site{}, atomic.Int64{}
			s.set("/search", func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprintf(w, "<title>%s</title><p>No results.", r.URL.Query().Get("q"))
				for range 5 {
					fmt.Fprintf(w, "<a href=/search?q=word%d>more</a> ", word.Add(1))
				}
			})
			c.town.serve(s, "www.stranger.example")
			seeds := append(pagesOf(c, "www.stranger.example", 3), c.town.url("www.stranger.example", "/search?q=a"))
			return crawlOptions{seeds: seeds}
		},
		check: func(t *testing.T, c *crawl) {
			for _, page := range []string{"/0", "/1", "/2"} {
				atLeast(t, c, fmt.Sprintf("www.stranger.example:%d%s", c.town.port, page), 1)
			}
		},
	}
}

// manyParts is a site whose pages have thousands of parts that differ at each fetch, so that it takes minutes to find
// rules for them.
func manyParts() attack {
	return attack{
		name: "pages with 4000 parts that differ at each fetch", lasts: 12 * time.Second,
		stranger: func(c *crawl) crawlOptions {
			var n atomic.Int64
			c.town.serve(withoutRobots(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/xhtml+xml") // only such pages are looked at twice
				for i := range 4000 {
					fmt.Fprintf(w, "<div class=x%c><p>The harbour is open.</p><i class=c>%d</i></div>", 'a'+i%26, n.Add(7919))
				}
			}), "www.stranger.example")
			learned := "[[wait]]\nmime = \"application/xhtml.xml\"\nrule = \"learned\"\nmin = \"1s\"\nmax = \"1s\"\n"
			return crawlOptions{seeds: pagesOf(c, "www.stranger.example", 5), tables: learned}
		},
		check: func(t *testing.T, c *crawl) {
			for i := range 5 {
				if page := fmt.Sprintf("www.stranger.example:%d/%d", c.town.port, i); len(c.visits(page)) < 7 {
					t.Errorf("%d visits of %s, want seven: its second looks are not over", len(c.visits(page)), page)
				}
			}
			if n, most := len(c.visits("stranger.example")), 5*(12+2)+1; n > most {
				t.Errorf("%d visits of five pages, want at most %d: one each second, and second looks", n, most)
			}
		},
	}
}

// clocks is a site whose pages are new at each visit, and link to all others.
func clocks() attack {
	return attack{
		name: "hundred pages with a clock", lasts: short,
		stranger: func(c *crawl) crawlOptions {
			c.town.serve(withoutRobots(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprintf(w, "<title>%s</title><p>It is %d. ", r.URL.Path, time.Now().UnixNano())
				for i := range 100 {
					fmt.Fprintf(w, "<a href=/%d>%d</a> ", i, time.Now().UnixNano())
				}
			}), "www.stranger.example")
			return crawlOptions{seeds: pagesOf(c, "www.stranger.example", 1)}
		},
		check: func(t *testing.T, c *crawl) { atLeast(t, c, "stranger.example", 50) },
	}
}

// longBodies is a site whose bodies are cut at fetch.max_body at each visit. Their beginning stays the same.
func longBodies() attack {
	return attack{
		name: "bodies that are cut at each visit", lasts: short,
		stranger: func(c *crawl) crawlOptions {
			beginning := make([]byte, 256<<10)
			_, _ = rand.Read(beginning)
			c.town.serve(withoutRobots(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "video/mp4")
				for r.Context().Err() == nil {
					if _, err := w.Write(beginning); err != nil {
						return
					}
				}
			}), "www.stranger.example")
			return crawlOptions{seeds: pagesOf(c, "www.stranger.example", 2), fetch: `max_body = "256KiB"`}
		},
		check: func(t *testing.T, c *crawl) {
			written := int64(0)
			visits := c.visits("stranger.example")
			for _, r := range visits {
				written += r.Written
			}
			if len(visits) < 5 || written > 2*256<<10+64<<10 {
				t.Errorf("%d visits wrote %d bytes, want some visits, and each beginning once", len(visits), written)
			}
		},
	}
}

// manyFastPages is a host with more due pages than it can carry.
func manyFastPages() attack {
	const pages = 2000
	return attack{
		name: "2000 fast pages next to a front page", lasts: short,
		stranger: func(c *crawl) crawlOptions {
			s, version := &site{}, atomic.Int64{}
			s.set("/", func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprintf(w, "<title>front %d</title>", version.Add(1))
				for i := range pages {
					fmt.Fprintf(w, "<a href=/fast/%d>a</a> ", i)
				}
			})
			c.town.serve(s, "www.stranger.example")
			return crawlOptions{seeds: []string{c.town.url("www.stranger.example", "/")}}
		},
		check: func(t *testing.T, c *crawl) {
			atLeast(t, c, fmt.Sprintf("stranger.example:%d/fast/", c.town.port), 50)
			front := 0
			for _, r := range c.visits("stranger.example") {
				if r.URI.Path() == "/" {
					front++
				}
			}
			if front < 2 {
				t.Errorf("the front page had %d visits in %s, want 2 at least", front, short)
			}
		},
	}
}

// newSessions is a seed that redirects to a session of its own at each visit.
func newSessions() attack {
	return attack{
		name: "seed that redirects to a new session at each visit", lasts: short,
		stranger: func(c *crawl) crawlOptions {
			session := atomic.Int64{}
			c.town.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path == "/robots.txt":
					http.NotFound(w, r)
				case strings.HasPrefix(r.URL.Path, "/s"):
					fmt.Fprintf(w, "<title>the same page</title><a href=/%s/about>about</a>", strings.Split(r.URL.Path, "/")[1])
				default:
					http.Redirect(w, r, fmt.Sprintf("/s%016x/", session.Add(1)<<20), http.StatusFound)
				}
			}), "www.stranger.example")
			return crawlOptions{seeds: pagesOf(c, "www.stranger.example", 1)}
		},
		check: func(t *testing.T, c *crawl) {
			seed := fmt.Sprintf("stranger.example:%d/0", c.town.port)
			atLeast(t, c, seed, 2)
			if n := len(c.visits(seed)); n > int(short/time.Second)+2 {
				t.Errorf("%d visits of a seed that is due once a second, in %s", n, short)
			}
		},
	}
}

// trailingDots is a site that links to itself under a name with a dot at its end.
func trailingDots() attack {
	return attack{
		name: "links to the same host with a dot at its end", lasts: short,
		stranger: func(c *crawl) crawlOptions {
			paces := &pacing{}
			c.town.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				paces.note()
				if r.URL.Path == "/robots.txt" {
					http.NotFound(w, r)
					return
				}
				w.Header().Set("Content-Type", "text/html")
				for i := range 20 {
					fmt.Fprintf(w, "<a href=http://www.stranger.example.:%d/dot/%d>a</a> ", c.town.port, i)
				}
			}), "www.stranger.example")
			c.t.Cleanup(func() {
				if gap := paces.shortest(); gap < 10*time.Millisecond {
					c.t.Errorf("the host was asked twice within %s; its rest is 20 ms", gap)
				}
			})
			return crawlOptions{seeds: pagesOf(c, "www.stranger.example", 2)}
		},
		check: func(t *testing.T, c *crawl) {
			atLeast(t, c, "/dot/", 5)
			if n := len(c.visits("stranger.example.:")); n > 0 {
				t.Errorf("%d visits of a host with a dot at its end, which is the same host", n)
			}
		},
	}
}

// pacing measures the shortest time between two requests.
type pacing struct {
	mu    sync.Mutex
	last  time.Time
	least time.Duration
}

func (p *pacing) note() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if gap := now.Sub(p.last); !p.last.IsZero() && (p.least == 0 || gap < p.least) {
		p.least = gap
	}
	p.last = now
}

// shortest returns an hour if there were fewer than two requests.
func (p *pacing) shortest() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.least == 0 {
		return time.Hour
	}
	return p.least
}

// robotsCircle is a robots.txt that redirects through five hosts and back.
func robotsCircle() attack {
	const hosts = 5
	return attack{
		name: "robots.txt redirects in a circle through five hosts", lasts: short,
		stranger: func(c *crawl) crawlOptions {
			asked := atomic.Int64{}
			var seeds []string
			for i := range hosts {
				s, next := &site{}, c.town.url(fmt.Sprintf("n%d.stranger.example", (i+1)%hosts), "/robots.txt")
				s.set("/robots.txt", func(w http.ResponseWriter, r *http.Request) {
					asked.Add(1)
					http.Redirect(w, r, next, http.StatusFound)
				})
				s.set("/0", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a page") })
				host := fmt.Sprintf("n%d.stranger.example", i)
				c.town.serve(s, host)
				seeds = append(seeds, c.town.url(host, "/0"))
			}
			c.t.Cleanup(func() {
				// Each host follows five redirects at most, each two seconds and once at the start.
				if n, most := asked.Load(), int64(hosts*6*(int(short/time.Second)/2+2)); n > most {
					c.t.Errorf("robots.txt was asked for %d times, want at most %d", n, most)
				}
			})
			return crawlOptions{seeds: seeds}
		},
	}
}

// idleConnections are connections to the admin address over which nothing is sent, 500 from each of three addresses.
// Somebody at another address looks at the dashboard meanwhile.
func idleConnections() attack {
	return attack{
		name: "1500 idle connections to the admin address", lasts: short,
		bound: usage{goroutines: 600}, // a connection that is open has one or two
		stranger: func(c *crawl) crawlOptions {
			to := freeAddress(c)
			timer := time.AfterFunc(short/3, func() {
				for n := range 1500 {
					from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+n/500))}, Timeout: short}
					c.town.held.Add(1)
					conn, err := from.Dial("tcp", to)
					if err != nil {
						c.t.Errorf("connection %d: %v", n, err)
						return
					}
					c.t.Cleanup(func() { _ = conn.Close() })
				}
				answer, err := http.Get("http://" + to + "/healthz")
				if err != nil {
					c.t.Errorf("another address is not served: %v", err)
					return
				}
				_ = answer.Body.Close()
			})
			c.t.Cleanup(func() { timer.Stop() })
			return crawlOptions{admin: fmt.Sprintf("listen = %q\ntoken_file = \"tokens\"", to)}
		},
		check: func(t *testing.T, c *crawl) {
			if !strings.Contains(c.text(), "their address had too many open") {
				t.Errorf("no connection was refused:\n%s", c.text())
			}
		},
	}
}
