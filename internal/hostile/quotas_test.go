package hostile_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/fetch"
)

// quotas are attacks on what all hosts share: workers, connections, hosts, memory, disk, and the belief that our own
// network works.
func quotas() []attack {
	return []attack{
		manyPorts(),
		{
			name: "ports of other protocols",
			stranger: func(c *crawl) crawlOptions {
				s := &site{}
				at := c.town.serve(s, "www.stranger.example")
				l := c.town.listen(at, 6667)
				go func() {
					for {
						conn, err := l.Accept()
						if err != nil {
							return
						}
						_ = conn.Close()
						c.t.Error("the crawler connected to port 6667, which speaks another protocol")
					}
				}()
				s.set("/0", embeds(func(int) string { return "http://www.stranger.example:6667/a.png" }, 1))
				return crawlOptions{seeds: pagesOf(c, "www.stranger.example", 1)}
			},
			check: func(t *testing.T, c *crawl) { atLeast(t, c, "stranger.example", 5) },
		},
		{
			name:  "names without end",
			bound: usage{heap: 64 << 20}, // the caches of the store fill
			stranger: func(c *crawl) crawlOptions {
				s := &site{}
				var n atomic.Int64
				for page := range 3 {
					s.set(fmt.Sprintf("/%d", page), embeds(func(int) string {
						return c.town.url(fmt.Sprintf("n%d.stranger.example", n.Add(1)), "/a.png")
					}, 500))
				}
				c.town.serve(s, "www.stranger.example", "*.stranger.example")
				return crawlOptions{seeds: pagesOf(c, "www.stranger.example", 3)}
			},
			check: func(t *testing.T, c *crawl) {
				if hosts := hostsIn(t, c); hosts > 2000 {
					t.Errorf("%d hosts in the store, want at most 2000", hosts)
				}
			},
		},
		fullOfHosts(), deadHosts(), silentHosts(), ownerOfManyNames(),
		{
			name: "robots.txt of 5 MB on 40 names", lasts: 12 * time.Second,
			stranger: func(c *crawl) crawlOptions {
				var rules strings.Builder
				for i := 0; rules.Len() < 5<<20; i++ {
					fmt.Fprintf(&rules, "User-agent: robot%d\nDisallow: /path/%d\n\n", i, i)
				}
				text := rules.String()
				s := &site{}
				s.set("/robots.txt", func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.WriteString(w, r.Host+"\n\n")
					_, _ = io.WriteString(w, text)
				})
				c.town.serve(s, "*.stranger.example")
				var o crawlOptions
				for i := range 40 {
					o.seeds = append(o.seeds, c.town.url(fmt.Sprintf("n%d.stranger.example", i), "/"))
				}
				return o
			},
			bound: usage{heap: 96 << 20, disk: 256 << 20}, // the bodies that eight workers read, and the bounded cache
		},
		{
			name: "bodies that fill the disk",
			stranger: func(c *crawl) crawlOptions {
				noise := make([]byte, 16<<20)
				for i := range noise {
					noise[i] = byte(rand.Uint32())
				}
				var n atomic.Int64
				c.town.serve(withoutRobots(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "application/octet-stream")
					fmt.Fprintf(w, "%d", n.Add(1))
					_, _ = w.Write(noise)
				}), "www.stranger.example")
				return crawlOptions{fetch: `max_per_day = "64MB"`, seeds: pagesOf(c, "www.stranger.example", 10)}
			},
			bound: usage{disk: 160 << 20},
		},
		{
			name: "hubs of WebSub on odd ports and of many feeds",
			stranger: func(c *crawl) crawlOptions {
				var asked atomic.Int64
				hub := c.town.serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					asked.Add(1)
					w.WriteHeader(http.StatusInternalServerError)
				}), "hub.victim.example")
				c.town.serve(withoutRobots(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "application/atom+xml")
					fmt.Fprintf(w, `<feed xmlns="http://www.w3.org/2005/Atom"><title>%[1]s</title><link rel="self" href="http://%[1]s%[2]s"/>`+
						`<link rel="hub" href="http://hub.victim.example:%[3]d%[2]s"/><entry><id>1</id><title>a</title>`+
						`<link href="http://%[1]s/a"/></entry></feed>`, r.Host, r.URL.Path, c.town.port)
				}), "*.stranger.example")
				var feeds []string
				for i := range 100 {
					feeds = append(feeds, fmt.Sprintf("%q", c.town.url(fmt.Sprintf("n%d.stranger.example", i), "/feed.xml")))
				}
				c.t.Cleanup(func() {
					if n := asked.Load(); n > 5 {
						c.t.Errorf("the hub of a victim at %s had %d requests on an odd port, want at most 5", hub, n)
					}
				})
				return crawlOptions{tables: "[websub]\ncallback = \"https://crawler.library.example/websub\"\nlisten = \"127.0.0.1:0\"\n" +
					"[feeds]\nuris = [" + strings.Join(feeds, ", ") + "]\n"}
			},
		},
	}
}

// embeds serves a page that embeds n images.
func embeds(src func(i int) string, n int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		for i := range n {
			fmt.Fprintf(w, "<img src=%q>\n", src(i))
		}
	}
}

// manyPorts is a page that embeds images on forty ports of its address. Each takes two seconds.
func manyPorts() attack {
	return attack{
		name: "images on forty ports of one address",
		stranger: func(c *crawl) crawlOptions {
			var now, most atomic.Int64
			s := &site{}
			at := c.town.serve(s, "www.stranger.example")
			slow := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				for n := now.Add(1); ; {
					if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
						break
					}
				}
				defer now.Add(-1)
				time.Sleep(2 * time.Second)
				w.WriteHeader(http.StatusNotFound)
			})
			var ports []int
			for range 40 {
				l := c.town.listen(at, 0)
				server := &http.Server{Handler: slow}
				go func() { _ = server.Serve(l) }()
				ports = append(ports, l.Addr().(*net.TCPAddr).Port)
			}
			s.set("/0", embeds(func(i int) string { return fmt.Sprintf("http://www.stranger.example:%d/a.png", ports[i]) }, len(ports)))
			c.t.Cleanup(func() {
				if n := most.Load(); n > 4 {
					c.t.Errorf("%d connections to one address at a time, want at most 4 of 8 workers", n)
				}
			})
			return crawlOptions{seeds: pagesOf(c, "www.stranger.example", 1)}
		},
	}
}

// fullOfHosts is a page that embeds images on new names until crawl.max_hosts hosts are known. A seed that is added
// then is crawled all the same.
func fullOfHosts() attack {
	const limits = "max_hosts = 60\nnew_hosts_per_page = 1000"
	return attack{
		name: "names until crawl.max_hosts, and a new seed", lasts: 5 * time.Second,
		stranger: func(c *crawl) crawlOptions {
			s := &site{}
			var n atomic.Int64
			s.set("/0", embeds(func(int) string {
				return c.town.url(fmt.Sprintf("n%d.stranger.example", n.Add(1)), "/a.png")
			}, 100))
			c.town.serve(s, "www.stranger.example", "seed.example")
			return crawlOptions{crawl: limits, seeds: pagesOf(c, "www.stranger.example", 1)}
		},
		check: func(t *testing.T, c *crawl) {
			known := func() (n int64) {
				t.Run("hosts", func(t *testing.T) { n = hostsIn(t, c) }) // closes the store
				return n
			}
			if n := known(); n != 60 {
				t.Errorf("%d hosts are known, want crawl.max_hosts, 60", n)
			}
			seeds := append(pagesOf(c, "www.stranger.example", 1), pagesOf(c, "seed.example", 1)...)
			c.run(crawlOptions{crawl: limits, seeds: seeds, lasts: 3 * time.Second})
			atLeast(t, c, "seed.example", 2)
			if n := known(); n != 61 {
				t.Errorf("%d hosts are known, want 60 and the seed's", n)
			}
		},
	}
}

// deadHosts is a page that embeds images on hosts that refuse connections.
func deadHosts() attack {
	return attack{
		name: "images on 300 hosts that refuse", lasts: 12 * time.Second,
		stranger: func(c *crawl) crawlOptions {
			s := &site{}
			c.town.serve(s, "www.stranger.example")
			c.town.name("*.dead.example", c.town.address())
			s.set("/0", embeds(func(i int) string { return c.town.url(fmt.Sprintf("n%d.dead.example", i), "/a.png") }, 300))
			return crawlOptions{seeds: pagesOf(c, "www.stranger.example", 1)}
		},
		check: func(t *testing.T, c *crawl) {
			tried := map[string]int{}
			for _, r := range c.visits("dead.example") {
				if r.Status == fetch.ConnectFailed {
					tried[string(r.URI.Host())]++
				}
			}
			most := 0
			for _, n := range tried {
				most = max(most, n)
			}
			if most > 3 {
				t.Errorf("a host that never answered was tried %d times in 12 s, want at most 3", most)
			}
			atLeast(t, c, "www.stranger.example", 5)
		},
	}
}

// silentHosts is a page that embeds images on hosts that do not answer at all.
func silentHosts() attack {
	return attack{
		name: "images on 30 hosts that do not answer",
		stranger: func(c *crawl) crawlOptions {
			s := &site{}
			c.town.serve(s, "www.stranger.example")
			c.town.hole("*.silent.example")
			s.set("/0", embeds(func(i int) string { return c.town.url(fmt.Sprintf("n%d.silent.example", i), "/a.png") }, 30))
			return crawlOptions{seeds: pagesOf(c, "www.stranger.example", 1)}
		},
	}
}

// ownerOfManyNames is a hundred names of one owner that answer for three seconds, and then refuse together.
func ownerOfManyNames() attack {
	return attack{
		name: "hundred names of one owner that refuse together", lasts: 15 * time.Second,
		stranger: func(c *crawl) crawlOptions {
			at := c.town.address()
			c.town.name("*.owner.example", at)
			l := c.town.listen(at, c.town.port)
			server := &http.Server{Handler: &site{}}
			var serving sync.WaitGroup
			serving.Go(func() { _ = server.Serve(l) })
			time.AfterFunc(5*time.Second, func() { _ = server.Close() })
			c.t.Cleanup(serving.Wait)
			var o crawlOptions
			for i := range 100 {
				o.seeds = append(o.seeds, c.town.url(fmt.Sprintf("n%d.owner.example", i), "/"))
			}
			o.workers = 1
			return o
		},
	}
}

// hostsIn opens the store of the stopped crawl and counts its hosts.
func hostsIn(t *testing.T, c *crawl) int64 {
	t.Helper()
	f := c.store(t)
	return f.Counts(time.Now()).Hosts
}
