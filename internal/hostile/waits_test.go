package hostile_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// maxWait is the longest wait or rest that an answer of a stranger may cause with the settings of these tests:
// retry.max and robots.unreachable_wait are 2 s, and wait.every is 1 s.
const maxWait = 2 * time.Second

// waits are attacks on the times at which URIs and hosts are visited.
func waits() []attack {
	return []attack{
		retryAfterPage("Retry-After of 136 years on a page", "4294967295"),
		retryAfterPage("Retry-After in the year 2099 on a page", "Thu, 01 Jan 2099 00:00:00 GMT"),
		retryAfterRobots("Retry-After of 136 years on robots.txt", "4294967295"),
		retryAfterRobots("Retry-After in the year 2099 on robots.txt", "Thu, 01 Jan 2099 00:00:00 GMT"),
		{
			name: "one page asks for a week of rest", lasts: 12 * time.Second,
			stranger: func(c *crawl) crawlOptions {
				c.town.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					switch r.URL.Path {
					case "/robots.txt":
						http.NotFound(w, r)
					case "/0":
						w.Header().Set("Retry-After", "604800")
						w.WriteHeader(http.StatusTooManyRequests)
					default:
						_, _ = io.WriteString(w, "a page")
					}
				}), "www.stranger.example")
				return crawlOptions{seeds: pagesOf(c, "www.stranger.example", 6)}
			},
			check: func(t *testing.T, c *crawl) {
				var last time.Time
				for _, r := range c.visits("stranger.example") {
					if r.Status != http.StatusOK {
						continue
					}
					if gap := r.Finished.Sub(last); !last.IsZero() && gap > 3*maxWait {
						t.Errorf("no other page of the host was visited for %s, want at most %s", gap, 3*maxWait)
					}
					last = r.Finished
				}
				atLeast(t, c, "stranger.example", 8)
			},
		},
		{
			name: "connections that are reset",
			stranger: func(c *crawl) crawlOptions {
				b := &resetting{}
				c.town.serve(b, "www.stranger.example")
				c.t.Cleanup(func() {
					if gap := b.shortest(); gap < 15*time.Millisecond {
						c.t.Errorf("a reset connection was tried again after %s, want the rest of the host, 20 ms", gap)
					}
				})
				return crawlOptions{seeds: pagesOf(c, "www.stranger.example", 10)}
			},
			check: func(t *testing.T, c *crawl) { atLeast(t, c, "stranger.example", 5) },
		},
		robotsRedirect("robots.txt redirects to another path", "/robots-real.txt"),
		robotsRedirect("robots.txt redirects to a script", "/rules.php?format=txt"),
		robotsRedirect("robots.txt redirects to another host", "cdn"),
		{
			name: "robots.txt redirects to a dead host",
			stranger: func(c *crawl) crawlOptions {
				s := &site{}
				c.town.serve(s, "www.stranger.example")
				s.set("/robots.txt", func(w http.ResponseWriter, r *http.Request) {
					http.Redirect(w, r, c.town.url("nowhere.stranger.example", "/rules.txt"), http.StatusFound)
				})
				return crawlOptions{seeds: pagesOf(c, "www.stranger.example", 20)}
			},
			check: func(t *testing.T, c *crawl) {
				for _, r := range c.visits("www.stranger.example") {
					if strings.HasPrefix(r.URI.Path(), "/") && !strings.HasSuffix(r.URI.Path(), "robots.txt") && r.Status == http.StatusOK {
						t.Errorf("%s was fetched although its robots.txt is unreachable", r.URI)
						return
					}
				}
			},
		},
	}
}

func retryAfterPage(name, value string) attack {
	return attack{
		name: name,
		stranger: func(c *crawl) crawlOptions {
			c.town.serve(withoutRobots(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Retry-After", value)
				w.WriteHeader(http.StatusServiceUnavailable)
			}), "www.stranger.example")
			return crawlOptions{seeds: pagesOf(c, "www.stranger.example", 3)}
		},
		check: func(t *testing.T, c *crawl) {
			for _, r := range c.visits("stranger.example") {
				if d := r.Due.Sub(r.Finished); d > maxWait+time.Second && !strings.HasSuffix(r.URI.Path(), "robots.txt") {
					t.Errorf("%s is due after %s, want at most retry.max, %s", r.URI, d, maxWait)
				}
				if r.Rest > maxWait {
					t.Errorf("the host rests for %s after %s, want at most %s", r.Rest, r.URI, maxWait)
				}
			}
			rested(t, c, "www.stranger.example")
		},
	}
}

func retryAfterRobots(name, value string) attack {
	return attack{
		name: name,
		stranger: func(c *crawl) crawlOptions {
			s := &site{}
			s.set("/robots.txt", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", value)
				w.WriteHeader(http.StatusServiceUnavailable)
			})
			c.town.serve(s, "www.stranger.example")
			return crawlOptions{seeds: pagesOf(c, "www.stranger.example", 3)}
		},
		check: func(t *testing.T, c *crawl) {
			atLeast(t, c, "stranger.example", 2)
			rested(t, c, "www.stranger.example")
		},
	}
}

// rested opens the store of the stopped crawl, and fails the test if a host rests for longer than the settings allow.
func rested(t *testing.T, c *crawl, host string) {
	t.Helper()
	now := time.Now()
	f := c.store(t)
	u, err := uri.Parse(c.town.url(host, "/"))
	must(t, err)
	view, ok := f.Host(u.Host(), now)
	if !ok {
		t.Fatalf("the host %s is not in the store", u.Host())
	}
	for what, until := range map[string]time.Time{"rests": view.Rest, "is not ready": view.Ready} {
		if d := until.Sub(now); d > 2*maxWait {
			t.Errorf("the host %s %s for %s, want at most %s", u.Host(), what, d, 2*maxWait)
		}
	}
	next, err := f.Upcoming(u.Host(), 100)
	if err != nil {
		t.Error(err)
	}
	for _, r := range next {
		if r.Visits == 0 && r.Failures == 0 { // a sitemap that nobody named is looked for after ten minutes
			continue
		}
		if d := r.Due.Sub(now); d > 2*maxWait && !strings.HasSuffix(r.URI.Path(), "robots.txt") {
			t.Errorf("%s is due in %s, want at most %s", r.URI, d, 2*maxWait)
		}
	}
}

// robotsRedirect is a site whose robots.txt redirects. What it reaches forbids /private/.
func robotsRedirect(name, to string) attack {
	const rules = "User-agent: *\nDisallow: /private/\n"
	return attack{
		name: name,
		stranger: func(c *crawl) crawlOptions {
			text := func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				_, _ = io.WriteString(w, rules)
			}
			s, cdn := &site{}, &site{}
			target := to
			if to == "cdn" {
				target = c.town.url("cdn.example", "/files/stranger-rules.txt")
				cdn.set("/files/stranger-rules.txt", text)
				cdn.set("/robots.txt", func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) })
				c.town.serve(cdn, "cdn.example")
			} else {
				path, _, _ := strings.Cut(to, "?")
				s.set(path, text)
			}
			s.set("/robots.txt", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target, http.StatusMovedPermanently) })
			c.town.serve(s, "www.stranger.example")
			return crawlOptions{seeds: append(pagesOf(c, "www.stranger.example", 3),
				c.town.url("www.stranger.example", "/private/1"), c.town.url("www.stranger.example", "/private/2"))}
		},
		check: func(t *testing.T, c *crawl) {
			for _, r := range c.visits("stranger.example") {
				if strings.Contains(r.URI.Path(), "private") && r.Took > 0 {
					t.Errorf("%s was fetched although robots.txt forbids it", r.URI)
					return
				}
			}
			good := 0
			for _, r := range c.visits("www.stranger.example") {
				if r.Status == http.StatusOK && !strings.Contains(r.URI.Path(), "o") {
					good++
				}
			}
			// A host whose rules are on another host rests for half a minute while they are fetched.
			if good < 6 && to != "cdn" {
				t.Errorf("%d visits of permitted pages, want at least 6", good)
			}
		},
	}
}

// resetting is a server that answers the first request of each connection, resets it at the second, and remembers when
// each request came.
type resetting struct {
	mu   sync.Mutex
	when []time.Time
}

// ServeHTTP answers one request.
func (b *resetting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	b.when = append(b.when, time.Now())
	b.mu.Unlock()
	c, ok := r.Context().Value(connectionKey{}).(*countedConn)
	if ok && c.requests.Add(1)%2 == 0 {
		if tcp, ok := c.Conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		panic(http.ErrAbortHandler)
	}
	_, _ = io.WriteString(w, "User-agent: *\nAllow: /\n")
}

// shortest returns the shortest time between two requests.
func (b *resetting) shortest() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	gap := time.Hour
	for i := 1; i < len(b.when); i++ {
		gap = min(gap, b.when[i].Sub(b.when[i-1]))
	}
	return gap
}

// site is a handler with some pages that behave in their own way. All others are small.
type site struct {
	pages map[string]http.HandlerFunc
}

func (s *site) set(path string, h http.HandlerFunc) {
	if s.pages == nil {
		s.pages = map[string]http.HandlerFunc{}
	}
	s.pages[path] = h
}

// ServeHTTP answers one request.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := s.pages[r.URL.Path]; h != nil {
		h(w, r)
		return
	}
	if r.URL.Path == "/robots.txt" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	_, _ = io.WriteString(w, "<title>a page</title>")
}
