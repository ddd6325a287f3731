package hostile_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// behind are attacks with cookies, logins and proxies.
func behind() []attack {
	return []attack{largeCookies(), failingLogin(), oddPortsBehindProxy(), hangingProxy()}
}

// largeCookies are two sites that send a head of 1.8 MB with each answer: a cookie of 1 MB and two hundred of 4 KB,
// always others. Each of their pages is due once a second. The hosts rest for half a second, so that the row does not
// measure how fast a busy machine compresses 1.8 MB.
func largeCookies() attack {
	const rests = "[politeness]\nmin_delay = \"500ms\"\nmax_delay = \"1s\"\n"
	var longest, withCookie atomic.Int64
	return attack{
		name: "cookies of 1 MB that change at each answer", lasts: crawlTime,
		stranger: func(c *crawl) crawlOptions {
			longest.Store(0)
			withCookie.Store(0)
			var n atomic.Int64
			host := func(keep string) string {
				name := "www." + keep + ".example"
				c.town.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if sent := int64(len(r.Header.Get("Cookie"))); sent > 0 {
						withCookie.Add(1)
						longest.Store(max(longest.Load(), sent))
					}
					i := n.Add(1)
					w.Header().Add("Set-Cookie", fmt.Sprintf("all%d=%s; Path=/", i, strings.Repeat("x", 1<<20)))
					for k := range 200 {
						value := strings.Repeat("y", 4<<10-100)
						w.Header().Add("Set-Cookie", fmt.Sprintf("c%d-%d=%s; Path=/; Max-Age=999999999", i, k, value))
					}
					if r.URL.Path == "/robots.txt" {
						w.WriteHeader(http.StatusNotFound)
						return
					}
					w.Header().Set("Content-Type", "text/html")
					fmt.Fprintf(w, "<title>%d</title>", i)
				}), name)
				return name
			}
			kept, session := host("keep"), host("session")
			return crawlOptions{
				seeds: append(pagesOf(c, kept, 10), pagesOf(c, session, 10)...), fetch: `max_head = "2MB"`,
				hosts: map[string]string{
					kept: rests + "[fetch]\ncookies = \"keep\"\n", session: rests + "[fetch]\ncookies = \"session\"\n",
				},
			}
		},
		bound: usage{heap: 64 << 20}, // eight workers, each with a head of 1.3 MB and its copy in a record
		check: func(t *testing.T, c *crawl) {
			atLeast(t, c, "www.keep.example", 4)
			atLeast(t, c, "www.session.example", 4)
			if withCookie.Load() == 0 || longest.Load() > 8<<10 {
				t.Errorf("%d requests had cookies, the longest %d bytes; want some, of at most 8 KiB",
					withCookie.Load(), longest.Load())
			}
		},
	}
}

// failingLogin is a site that refuses each login, and shows its form in place of each page.
func failingLogin() attack {
	var tried atomic.Int64
	return attack{
		name: "login that never succeeds", lasts: short,
		stranger: func(c *crawl) crawlOptions {
			tried.Store(0)
			s := &site{}
			form := func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				w.Header().Set("Set-Cookie", "try=1; Path=/")
				_, _ = io.WriteString(w, "<form method=post action=/session><input name=user><input name=pass></form>")
			}
			s.set("/login", form)
			s.set("/session", func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					tried.Add(1)
				}
				form(w, r)
			})
			for i := range 5 {
				s.set(fmt.Sprintf("/%d", i), func(w http.ResponseWriter, r *http.Request) {
					http.Redirect(w, r, "/login", http.StatusFound)
				})
			}
			c.town.serve(s, "www.members.example")
			secrets := filepath.Join(c.dir, "secrets")
			if err := os.MkdirAll(secrets, 0o700); err != nil {
				c.t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(secrets, "pass"), []byte("swordfish\n"), 0o600); err != nil {
				c.t.Fatal(err)
			}
			return crawlOptions{
				seeds: pagesOf(c, "www.members.example", 5),
				hosts: map[string]string{"www.members.example": fmt.Sprintf(`[request]
secrets_over_http = true
[login]
page = %q
uri = %q
fields = [{ name = "user", value = "maria" }]
secret_fields = [{ name = "pass", secret = "file:pass" }]
success = '(?m)^Set-Cookie: session='
`, c.town.url("www.members.example", "/login"), c.town.url("www.members.example", "/session"))},
			}
		},
		check: func(t *testing.T, c *crawl) {
			if n := tried.Load(); n != 1 {
				t.Errorf("the form was sent %d times, want once: the host rests for ten minutes", n)
			}
			if !strings.Contains(c.text(), "could not log in") {
				t.Errorf("nothing was said of the login:\n%s", c.text())
			}
		},
	}
}

// proxy serves each connection of a proxy with a function, and returns the address of the proxy.
func (c *crawl) proxy(serve func(k net.Conn)) (address string) {
	l := c.town.listen(c.town.address(), freePort(c))
	var serving sync.WaitGroup
	c.t.Cleanup(func() { _ = l.Close(); serving.Wait() })
	serving.Go(func() {
		for {
			k, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer k.Close()
				serve(k)
			})
		}
	})
	return l.Addr().String()
}

// forwarder is a proxy that makes tunnels to the port of the town alone, and refuses others with a status.
func (c *crawl) forwarder(refused *atomic.Int64) string {
	return c.proxy(func(k net.Conn) {
		r, err := http.ReadRequest(bufio.NewReader(k))
		if err != nil {
			return
		}
		if !strings.HasSuffix(r.Host, fmt.Sprintf(":%d", c.town.port)) {
			refused.Add(1)
			_, _ = io.WriteString(k, "HTTP/1.1 403 Forbidden\r\n\r\n")
			return
		}
		to, err := net.Dial("tcp", r.Host)
		if err != nil {
			_, _ = io.WriteString(k, "HTTP/1.1 502 Bad Gateway\r\n\r\n")
			return
		}
		defer to.Close()
		_, _ = io.WriteString(k, "HTTP/1.1 200 OK\r\n\r\n")
		var sending sync.WaitGroup
		sending.Go(func() { _, _ = io.Copy(to, k); _ = to.Close() })
		_, _ = io.Copy(k, to)
		_ = k.Close()
		sending.Wait()
	})
}

// oddPortsBehindProxy is a page with links to a thousand ports that the proxy of all sites refuses.
func oddPortsBehindProxy() attack {
	var refused atomic.Int64
	return attack{
		name: "1000 links to ports that the proxy refuses", lasts: short,
		stranger: func(c *crawl) crawlOptions {
			refused.Store(0)
			s := &site{}
			s.set("/0", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				for i := range 1000 {
					fmt.Fprintf(w, "<img src=http://www.stranger.example:%d/>", 20000+i)
				}
			})
			c.town.serve(s, "www.stranger.example")
			network := fmt.Sprintf("[network]\nproxies = [{ name = \"office\", address = \"http://%s\" }]\nproxy = \"office\"\n",
				c.forwarder(&refused))
			return crawlOptions{seeds: pagesOf(c, "www.stranger.example", 2), tables: network}
		},
		bound: usage{descriptors: 600, goroutines: 300}, // of the proxy, which is in this process
		check: func(t *testing.T, c *crawl) {
			atLeast(t, c, fmt.Sprintf("www.stranger.example:%d/1", c.town.port), 2)
			if refused.Load() < 3 || strings.Contains(c.text(), "the proxy does not work") {
				t.Errorf("the proxy refused %d ports; it may not count as down:\n%s", refused.Load(), c.text())
			}
		},
	}
}

// hangingProxy is a proxy that takes connections and never answers, for forty hosts.
func hangingProxy() attack {
	var asked atomic.Int64
	return attack{
		name: "proxy that hangs", lasts: 2 * crawlTime,
		stranger: func(c *crawl) crawlOptions {
			asked.Store(0)
			address := c.proxy(func(k net.Conn) {
				asked.Add(1)
				_, _ = io.Copy(io.Discard, k)
			})
			o := crawlOptions{
				tables: fmt.Sprintf("[network]\nproxies = [{ name = \"office\", address = \"http://%s\" }]\n", address),
				hosts:  map[string]string{},
			}
			for i := range 40 {
				name := fmt.Sprintf("www.behind%d.example", i)
				c.town.serve(&site{}, name)
				o.seeds = append(o.seeds, pagesOf(c, name, 1)...)
				o.hosts[name] = "[network]\nproxy = \"office\"\n"
			}
			return o
		},
		check: func(t *testing.T, c *crawl) {
			if asked.Load() == 0 {
				t.Error("the proxy was not asked")
			}
		},
	}
}
