package hostile_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

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
			at := fmt.Sprintf("127.0.0.1:%d", freePort(c))
			tokens := "maria operate " + steerToken + "\njan read " + readToken + "\n"
			if err := os.WriteFile(filepath.Join(c.dir, "tokens"), []byte(tokens), 0o600); err != nil {
				c.t.Fatal(err)
			}
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

// freePort returns a port of 127.0.0.1 that nobody listens on.
func freePort(c *crawl) int {
	c.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		c.t.Fatal(err)
	}
	_ = l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// prepare opens the store that the crawl will use and changes it.
func (c *crawl) prepare(o crawlOptions, change func(*frontier.Frontier) error) {
	c.t.Helper()
	cfg, err := daemon.LoadConfig(c.write(o), zerolog.Nop())
	if err != nil {
		c.t.Fatal(err)
	}
	f, err := daemon.MakeStore(c.t.Context(), cfg, time.Now(), false)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := change(f); err != nil {
		c.t.Error(err)
	}
	if err := f.Close(); err != nil {
		c.t.Fatal(err)
	}
}
