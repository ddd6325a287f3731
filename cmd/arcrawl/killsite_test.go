package main

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	killHosts = 8  // each an address of the loopback
	killPages = 40 // of each host
)

// killSite is a set of hosts whose pages change all the time and link to each other. It measures how long its hosts
// rest, and how long a daemon needs from its start to its first request.
type killSite struct {
	hosts []string      // addresses with their ports
	pages int           // of each host
	body  int           // bytes of a page, which are new each time and cannot be compressed; 0 = pages that link
	rest  time.Duration // of a host between two requests
	asked atomic.Int64

	mu       sync.Mutex // guards the fields below
	last     map[string]time.Time
	shortest time.Duration // gap between two requests to a host; 0 = none yet
	starts   int
	started  time.Time     // of the last daemon; zero = it has asked for something
	restart  time.Duration // longest time from a start to the first request, without the first start
}

func startKillSite(t *testing.T) *killSite {
	t.Helper()
	s := &killSite{pages: killPages}
	s.hosts = daemontest.ServeHosts(t, killHosts, s)
	return s
}

// startBulkySite starts a site of one host with large pages.
func startBulkySite(t *testing.T, pages int) *killSite {
	t.Helper()
	s := &killSite{pages: pages, body: 200 << 10} // larger bodies of one domain get a share of the disk only
	s.hosts = daemontest.ServeHosts(t, 1, s)
	return s
}

// start starts a daemon that crawls the site.
func (s *killSite) start(t *testing.T, binary, conf string) *daemontest.Process {
	t.Helper()
	s.mu.Lock()
	s.starts++
	s.started = time.Now()
	s.mu.Unlock()
	return daemontest.StartProcess(t, binary, conf)
}

func (s *killSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.arrived(r.Host, time.Now())
	n := s.asked.Add(1)
	if r.URL.Path == "/robots.txt" {
		http.NotFound(w, r)
		return
	}
	if s.body > 0 {
		body := make([]byte, s.body)
		_, _ = rand.Read(body)
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(body)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<title>%s</title><p>%d</p>", r.URL.Path, n/500) // the pages change with the load
	for p := range s.pages {
		fmt.Fprintf(w, "<a href=/%d>%d</a>", p, p)
	}
}

// arrived measures with a request that has arrived.
func (s *killSite) arrived(host string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		s.last = map[string]time.Time{}
	}
	if last, ok := s.last[host]; ok {
		if gap := now.Sub(last); s.shortest == 0 || gap < s.shortest {
			s.shortest = gap
		}
	}
	s.last[host] = now
	if !s.started.IsZero() && s.starts > 1 {
		s.restart = max(s.restart, now.Sub(s.started))
	}
	s.started = time.Time{}
}

// measured returns the shortest gap between two requests to a host, and the longest restart.
func (s *killSite) measured() (shortest, restart time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shortest, s.restart
}

func (s *killSite) uris() []uri.URI {
	var out []uri.URI
	for _, host := range s.hosts {
		for p := range s.pages {
			out = append(out, uri.FromCanonical(fmt.Sprintf("http://%s/%d", host, p)))
		}
	}
	return out
}

func (s *killSite) uriCount() int64 { return int64(len(s.hosts) * s.pages) }

func (s *killSite) toml() string {
	var seeds strings.Builder
	for _, u := range s.uris() {
		if s.body > 0 || u.Path() == "/0" {
			fmt.Fprintf(&seeds, "%q, ", u)
		}
	}
	return fmt.Sprintf(`
[operator]
name = "Kill Test"
contact = "https://library.example/crawler"
[storage]
min_free = "1MB"
[log]
extra_info = true
[fetch]
allow_networks = ["127.0.0.0/8"]
[politeness]
delay_factor = 0.0
min_delay = %q
max_delay = %q
[warc]
max_size = "256KiB"
[[wait]]
mime = ".*"
rule = "classic"
initial = "100ms"
min = "50ms"
max = "500ms"
[seeds]
uris = [%s]
`, s.rest, s.rest, seeds.String())
}

// waitFor waits until the site has received a number of requests.
func (s *killSite) waitFor(t *testing.T, d *daemontest.Process, asked int64) {
	t.Helper()
	d.WaitFor(t, fmt.Sprintf("%d requests", asked), func() bool { return s.asked.Load() >= asked })
}
