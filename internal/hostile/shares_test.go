package hostile_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/arcrawl/arcrawl/internal/smalldisk"
)

// shares are further attacks on what all hosts share.
func shares() []attack {
	return []attack{
		{
			name: "bodies that announce 1 GiB on a small disk", lasts: short,
			stranger: func(c *crawl) crawlOptions {
				c.dir = smalldisk.Mount(c.t, "400m")
				c.town.speak(func(w net.Conn, r *http.Request) {
					say(w, r, "HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: 1073741824\r\n\r\n")
					if r.URL.Path != "/robots.txt" {
						buffer := make([]byte, 64<<10)
						for range 1 << 14 {
							if _, err := w.Write(buffer); err != nil {
								return
							}
						}
					}
				}, "www.stranger.example")
				return crawlOptions{fetch: `max_content = "2GB"`, seeds: pagesOf(c, "www.stranger.example", 8)}
			},
			bound: usage{disk: 8 << 20},
			check: func(t *testing.T, c *crawl) {
				refused := 0
				for _, r := range c.visits("www.stranger.example") {
					if r.NoSpace {
						refused++
					}
				}
				if refused < 8 {
					t.Errorf("%d bodies were refused, want all 8 at least once", refused)
				}
			},
		},
		{
			name: "names of one domain beyond fetch.max_per_day", lasts: short,
			stranger: func(c *crawl) crawlOptions {
				var n atomic.Int64
				noise := strings.Repeat("0123456789abcdef", 64<<10) // 1 MB
				c.town.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/robots.txt" {
						http.NotFound(w, r)
						return
					}
					w.Header().Set("Content-Type", "application/octet-stream")
					fmt.Fprint(w, n.Add(1), noise)
				}), "*.stranger.example")
				var o crawlOptions
				for i := range 10 {
					o.seeds = append(o.seeds, c.town.url(fmt.Sprintf("n%d.stranger.example", i), "/0"))
				}
				o.fetch = `max_per_day = "20kB"`
				return o
			},
			check: func(t *testing.T, c *crawl) {
				refused := map[string]bool{}
				for _, r := range c.visits("stranger.example") {
					if r.NoSpace {
						refused[string(r.URI.Host())] = true
					}
				}
				if len(refused) < 5 {
					t.Errorf("bodies of %d names were refused, want the names of the domain to share one day", len(refused))
				}
			},
		},
		deadHub(), manyDeadHosts(),
	}
}

// deadHub is a hundred feeds of as many domains that name one hub, which accepts connections and closes them.
func deadHub() attack {
	return attack{
		name: "hundred feeds that name one dead hub", lasts: short,
		stranger: func(c *crawl) crawlOptions {
			at := c.town.address()
			c.town.name("hub.victim.example", at)
			l := c.town.listen(at, 443)
			var asked atomic.Int64
			go func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					asked.Add(1)
					_ = conn.Close()
				}
			}()
			c.t.Cleanup(func() {
				if n := asked.Load(); n > 8 {
					c.t.Errorf("a dead hub had %d connections in %s, want one each two seconds, with one repetition", n, short)
				}
			})
			var feeds []string
			for i := range 100 {
				host := fmt.Sprintf("www.stranger%d.example", i)
				c.town.name(host, c.town.address())
				feeds = append(feeds, fmt.Sprintf("%q", c.town.url(host, "/feed.xml")))
			}
			feed := c.town.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/robots.txt" {
					http.NotFound(w, r)
					return
				}
				w.Header().Set("Content-Type", "application/atom+xml")
				fmt.Fprintf(w, `<feed xmlns="http://www.w3.org/2005/Atom"><title>%[1]s</title>`+
					`<link rel="self" href="http://%[1]s/feed.xml"/><link rel="hub" href="https://hub.victim.example/"/>`+
					`<entry><id>1</id><title>a</title><link href="http://%[1]s/a"/></entry></feed>`, r.Host)
			}))
			for i := range 100 {
				c.town.name(fmt.Sprintf("www.stranger%d.example", i), feed)
			}
			return crawlOptions{tables: "[websub]\ncallback = \"https://crawler.library.example/websub\"\nlisten = \"127.0.0.1:0\"\n" +
				"[feeds]\nuris = [" + strings.Join(feeds, ", ") + "]\n"}
		},
		check: func(t *testing.T, c *crawl) { atLeast(t, c, "/feed.xml", 50) },
	}
}

// manyDeadHosts is a page that embeds images on ten thousand hosts that refuse connections.
func manyDeadHosts() attack {
	return attack{
		name: "images on 10000 hosts that refuse",
		stranger: func(c *crawl) crawlOptions {
			s := &site{}
			c.town.serve(s, "www.stranger.example")
			c.town.name("*.dead.example", c.town.address())
			for page := range 4 {
				s.set(fmt.Sprintf("/%d", page), embeds(func(i int) string {
					return c.town.url(fmt.Sprintf("n%d-%d.dead.example", page, i), "/a.png")
				}, 2500))
			}
			return crawlOptions{
				crawl: "new_hosts_per_page = 10000\nnew_hosts_per_day = 1000000",
				seeds: pagesOf(c, "www.stranger.example", 4),
			}
		},
		bound: usage{heap: 96 << 20, goroutines: 400}, // most are timers of the pipes to the DNS server of the test
		check: func(t *testing.T, c *crawl) {
			atLeast(t, c, "www.stranger.example", 3)
			if hosts := hostsIn(t, c); hosts < 10_000 {
				t.Errorf("%d hosts are known, want all 10,000 of the page", hosts)
			}
		},
	}
}
