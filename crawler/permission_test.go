package crawler_test

import (
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// permitting is a site whose robots.txt forbids everything. It notes when each path was requested.
type permitting struct {
	mu   sync.Mutex
	last time.Time
	gap  time.Duration // the shortest between two requests
	seen map[string]int
	down bool // robots.txt cannot be fetched
}

func (p *permitting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if gap := now.Sub(p.last); !p.last.IsZero() && gap < p.gap {
		p.gap = gap
	}
	p.last = now
	p.seen[r.URL.Path]++
	switch {
	case r.URL.Path == "/robots.txt" && p.down:
		http.Error(w, "overloaded", http.StatusServiceUnavailable)
	case r.URL.Path == "/robots.txt":
		_, _ = w.Write([]byte("User-agent: *\nDisallow: /\nAllow: /open\nCrawl-delay: 7\n"))
	case strings.HasSuffix(r.URL.Path, ".png"):
		w.Header().Set("Content-Type", "image/png")
	default:
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<a href=/news/1>1</a><a href=/private/2>2</a><a href=/open>3</a><img src=/a.png>"))
	}
}

// TestRobotsTxtIsIgnoredByPermissionOnly crawls a site whose robots.txt forbids nearly everything, under several
// permissions. Crawl-delay holds under each, and each visit that needed one says so.
func TestRobotsTxtIsIgnoredByPermissionOnly(t *testing.T) {
	t.Parallel()
	const reason = "reason = \"letter of the publisher, 2026-11-02\"\n"
	for _, c := range []struct {
		name, file string
		down       bool
		want       string // paths that are requested
	}{
		{"none", "", false, "/open /robots.txt"},
		{"whole host", "[robots]\nobey = false\n" + reason, false, "/ /a.png /news/1 /open /private/2 /robots.txt"},
		{"robots.txt that fails", "[robots]\nobey = false\n" + reason, true, "/ /a.png /news/1 /open /private/2 /robots.txt"},
		{"obeyed robots.txt that fails", "", true, "/robots.txt"},
		{"embeds", "[robots]\nobey = \"html-only\"\n" + reason, false, "/a.png /open /robots.txt"},
		{"path", "[[when]]\nuri = \"/news/\"\n[when.robots]\nobey = false\n" + reason, false, "/news/1 /open /robots.txt"},
		{"expired", "[robots]\nobey = false\nuntil = 1999-12-31\n" + reason, false, "/open /robots.txt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			inTown(t, "[seeds]\nuris = [\"http://paper.example/\", \"http://paper.example/open\"]\n", func(t *testing.T, w *world) {
				w.hostFiles(map[string]string{"hosts.d/paper.example.toml": c.file})
				site := &permitting{seen: map[string]int{}, gap: time.Hour, down: c.down}
				w.town.Serve("paper.example", site)
				w.run(4 * time.Hour)
				var paths []string
				for _, p := range []string{"/", "/a.png", "/news/1", "/open", "/private/2", "/robots.txt"} {
					if site.seen[p] > 0 {
						paths = append(paths, p)
					}
				}
				if got := strings.Join(paths, " "); got != c.want {
					t.Errorf("requested: %s, want %s", got, c.want)
				}
				if !c.down && site.gap < 7*time.Second {
					t.Errorf("two requests are %s apart, but the Crawl-delay is 7s", site.gap)
				}
				log, err := os.ReadFile(w.path("crawl.log"))
				must(t, err)
				noted, robots := map[string]bool{}, false
				for _, r := range archivetest.CheckDir(t, w.path("warc")) {
					if strings.Contains(string(r.Block), "robotsPermission: letter of the publisher, 2026-11-02\r\n") {
						noted[strings.TrimPrefix(r.Target(), "http://paper.example")] = true
					}
					robots = robots || r.Type() == "response" && strings.HasSuffix(r.Target(), "/robots.txt")
				}
				for _, p := range paths {
					if needed := p != "/robots.txt" && (p != "/open" || c.down); noted[p] != needed {
						t.Errorf("the metadata record of %s names the permission: %t, want %t", p, noted[p], needed)
					}
				}
				inLog := strings.Count(string(log), "permission:letter_of_the_publisher;_2026-11-02")
				if !robots || (inLog > 0) != (len(noted) > 0) {
					t.Errorf("robots.txt is archived: %t; %d lines of crawl.log name the permission, %d URIs in the archive", robots, inLog, len(noted))
				}
			})
		})
	}
}
