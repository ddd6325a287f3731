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
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/demosite"
	"github.com/arcrawl/arcrawl/uri"
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
			must(c.t, os.MkdirAll(secrets, 0o700))
			must(c.t, os.WriteFile(filepath.Join(secrets, "pass"), []byte("swordfish\n"), 0o600))
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
	l := c.town.listen(c.town.address(), 0)
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

// short is how long the rows of this file crawl.
const short = 5 * time.Second

// partners are attacks through what colleagues and partners hand over, and through the addresses of the daemon itself.
func partners() []attack {
	return []attack{
		{
			name: "imported URI with a control character", lasts: short,
			stranger: func(c *crawl) crawlOptions {
				c.town.serve(&site{}, "www.stranger.example")
				o := crawlOptions{seeds: pagesOf(c, "www.stranger.example", 1)}
				c.prepare(o, func(f *frontier.Frontier) error {
					e := frontier.Entry{Record: frontier.Record{URI: uri.FromCanonical(c.town.url("www.stranger.example", "/a\x01b"))}}
					e.Due, e.Seed = time.Now(), o.seeds[0]
					_, err := f.Import(time.Now(), true, e)
					return err
				})
				return o
			},
			check: func(t *testing.T, c *crawl) {
				atLeast(t, c, "a\x01b", 1)
				atLeast(t, c, "stranger.example", 5)
			},
		},
		{
			name: "partner's original with a line end", lasts: short,
			stranger: func(c *crawl) crawlOptions {
				c.town.serve(&site{}, "www.stranger.example")
				o := crawlOptions{seeds: pagesOf(c, "www.stranger.example", 3)}
				c.prepare(o, func(f *frontier.Frontier) error {
					d, err := dedup.Open(f.DB(), dedup.Options{Name: uri.ReplayKey, View: f.View})
					if err != nil {
						return err
					}
					sum := digest.Of([]byte("<title>a page</title>"))
					origin := digest.Origin{URI: "http://partner.example/\nX: y", Date: time.Now(), Payload: sum}
					return d.Put(dedup.Key{Payload: sum, Status: 200, MIME: "text/html"}, origin)
				})
				return o
			},
			check: func(t *testing.T, c *crawl) { atLeast(t, c, "stranger.example", 8) },
		},
		{
			name: "seed that redirects to itself and sets a cookie", lasts: short,
			stranger: func(c *crawl) crawlOptions {
				s := &site{}
				s.set("/0", func(w http.ResponseWriter, r *http.Request) {
					http.SetCookie(w, &http.Cookie{Name: "consent", Value: fmt.Sprint(time.Now().UnixNano())})
					http.Redirect(w, r, c.town.url("www.stranger.example", "/0"), http.StatusFound)
				})
				c.town.serve(s, "www.stranger.example")
				return crawlOptions{seeds: pagesOf(c, "www.stranger.example", 1)}
			},
			check: func(t *testing.T, c *crawl) {
				atLeast(t, c, "stranger.example/0", 0)
				if n := len(c.visits("/0")) - len(c.visits("healthy.example")); n > 2*int(short/time.Second)+2 {
					t.Errorf("%d visits of a page that is due once a second, in %s", n, short)
				}
			},
		},
		{
			name: "host file that is emptied, broken and restored", lasts: short,
			stranger: func(c *crawl) crawlOptions {
				const host = "www.healthy.example"
				o := crawlOptions{hosts: map[string]string{host: "[politeness]\nmin_delay = \"20ms\"\n"}}
				path := filepath.Join(c.dir, "hosts.d", host+".toml")
				var good []byte
				change := func(after time.Duration, do func() error) {
					timer := time.AfterFunc(after, func() {
						if err := do(); err != nil {
							c.t.Error(err)
						}
						c.hangup <- syscall.SIGHUP
					})
					c.t.Cleanup(func() { timer.Stop() })
				}
				change(short/5, func() (err error) {
					if good, err = os.ReadFile(path); err != nil {
						return err
					}
					return os.WriteFile(path, nil, 0o640)
				})
				change(2*short/5, func() error { return os.WriteFile(path, []byte("[politeness"), 0o640) })
				change(3*short/5, func() error { return os.WriteFile(path, good, 0o640) })
				return o
			},
			check: func(t *testing.T, c *crawl) {
				if !strings.Contains(c.text(), "configuration refused: the last valid one stays in force") {
					t.Errorf("the broken file was not refused:\n%s", c.text())
				}
			},
		},
		intruder("page that rebinds its name to the admin address", func(r *http.Request) { r.Host = "rebound.stranger.example" }, steerToken),
		intruder("token for reading that sends an order", nil, readToken),
	}
}

const (
	steerToken = "a-token-that-may-steer-0123456789abcdef"
	readToken  = "a-token-that-may-read-0123456789abcdef"
)

// intruder sends an order to the daemon that must be refused: a pause of the crawl.
func intruder(name string, change func(*http.Request), token string) attack {
	return attack{
		name: name, lasts: short,
		stranger: func(c *crawl) crawlOptions {
			at := freeAddress(c)
			tokens := "maria operate " + steerToken + "\njan read " + readToken + "\n"
			must(c.t, os.WriteFile(filepath.Join(c.dir, "tokens"), []byte(tokens), 0o600))
			timer := time.AfterFunc(short/2, func() {
				for method, path := range map[string]string{http.MethodGet: "/status", http.MethodPost: "/pause"} {
					r, err := http.NewRequest(method, "http://"+at+api.Base+path, strings.NewReader("{}"))
					if err != nil {
						c.t.Error(err)
						return
					}
					r.Header.Set("Authorization", "Bearer "+token)
					r.Header.Set("Content-Type", "application/json")
					if change != nil {
						change(r)
					}
					answer, err := http.DefaultClient.Do(r)
					if err != nil {
						c.t.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, answer.Body)
					_ = answer.Body.Close()
					reads := method == http.MethodGet && change == nil
					if ok := answer.StatusCode == http.StatusOK; ok != reads {
						c.t.Errorf("%s %s was answered with %s", method, path, answer.Status)
					}
				}
			})
			c.t.Cleanup(func() { timer.Stop() })
			return crawlOptions{admin: fmt.Sprintf("listen = %q\ntoken_file = \"tokens\"", at)}
		},
	}
}

// freeAddress returns an address that nobody listens at.
func freeAddress(c *crawl) string {
	c.t.Helper()
	address, err := demosite.FreeAddress()
	must(c.t, err)
	return address
}

// prepare opens the store that the crawl will use and changes it.
func (c *crawl) prepare(o crawlOptions, change func(*frontier.Frontier) error) {
	c.t.Helper()
	cfg, err := daemon.LoadConfig(c.write(o), zerolog.Nop())
	must(c.t, err)
	f, err := daemon.MakeStore(c.t.Context(), cfg, time.Now(), false)
	must(c.t, err)
	if err := change(f); err != nil {
		c.t.Error(err)
	}
	must(c.t, f.Close())
}
