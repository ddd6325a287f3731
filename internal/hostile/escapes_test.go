package hostile_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/render/chromium"
)

// escapes are attacks on the programs next to the crawl: the browser that renders pages, and the upload to a bucket.
func escapes() []attack {
	return []attack{
		leavingPage(),
		bucketServer("S3 server that never answers", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }),
		bucketServer("S3 server that keeps other bytes", func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("ETag", `"00000000000000000000000000000000"`)
			w.Header().Set("Last-Modified", "Sun, 01 Nov 2026 00:00:00 GMT")
			if r.Method == http.MethodHead || r.Method == http.MethodGet {
				w.Header().Set("Content-Length", "5")
				_, _ = io.WriteString(w, "other")
			}
		}),
		newTexts(),
	}
}

// victim listens for connections and packets on an address of its own, and counts what reaches it.
func (c *crawl) victim(reached *atomic.Int64) (address string) {
	l := c.town.listen(c.town.address(), 0)
	u, err := net.ListenPacket("udp", l.Addr().String())
	must(c.t, err)
	var serving sync.WaitGroup
	c.t.Cleanup(func() { _, _ = l.Close(), u.Close(); serving.Wait() })
	serving.Go(func() {
		for {
			k, err := l.Accept()
			if err != nil {
				return
			}
			reached.Add(1)
			_ = k.Close()
		}
	})
	serving.Go(func() {
		for buffer := make([]byte, 1500); ; {
			if _, _, err := u.ReadFrom(buffer); err != nil {
				return
			}
			reached.Add(1)
		}
	})
	return l.Addr().String()
}

// leaving is a page that tries to reach an address (_V) past the crawl, and files. Its last request says that it ran.
const leaving = `<!DOCTYPE html><link rel=preconnect href="http://_V"><link rel=dns-prefetch href="//_V"><body><script>
const attempt = f => { try { const p = f(); p && p.catch && p.catch(() => {}) } catch {} };
attempt(() => new WebSocket("ws://_V/"));
attempt(() => new EventSource("http://_V/"));
attempt(() => new WebTransport("https://_V/").ready);
attempt(() => navigator.sendBeacon("http://_V/", "x"));
attempt(() => fetch("http://_V/", {method: "POST", body: "x", mode: "no-cors"}));
attempt(() => open("http://_V/"));
attempt(() => {
	const c = new RTCPeerConnection({iceServers: [{urls: "stun:_V"}, {urls: "turn:_V?transport=tcp", username: "a", credential: "b"}]});
	c.createDataChannel("x");
	return c.createOffer().then(o => c.setLocalDescription(o));
});
for (const file of ["file:///etc/passwd", "view-source:file:///etc/passwd", "chrome://version/"]) {
	attempt(() => { const f = document.createElement("iframe"); f.src = file; document.body.append(f) });
	attempt(() => fetch(file).then(r => r.text()).then(t => document.body.append(t)));
	attempt(() => open(file));
}
setTimeout(() => { (new Image).src = "/last.png" }, 1000);
</script>`

// leavingPage is a rendered page that tries to reach the network and files past the crawl.
func leavingPage() attack {
	var reached atomic.Int64
	return attack{
		name: "rendered page that tries to leave the browser", lasts: crawlTime,
		stranger: func(c *crawl) crawlOptions {
			if _, err := chromium.Find(""); err != nil {
				c.t.Skipf("run scripts/test-deps: %v", err)
			}
			reached.Store(0)
			page := strings.ReplaceAll(leaving, "_V", c.victim(&reached))
			s := &site{}
			s.set("/0", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				_, _ = io.WriteString(w, page)
			})
			c.town.serve(s, "www.stranger.example")
			return crawlOptions{
				seeds:  pagesOf(c, "www.stranger.example", 1),
				until:  func() bool { return len(c.visits("/last.png")) > 0 },
				tables: "[scope]\nembeds_anywhere = false\nspeculative = false\n",
				hosts:  map[string]string{"www.stranger.example": "[render]\npages = \"changed\"\nkeep = \"all\"\n"},
			}
		},
		check: func(t *testing.T, c *crawl) {
			if len(c.visits("/last.png")) == 0 {
				t.Errorf("the page did not run to its end:\n%s", c.text())
			}
			if n := reached.Load(); n != 0 {
				t.Errorf("%d connections or packets left the browser", n)
			}
			for _, r := range archivetest.CheckDir(t, filepath.Join(c.dir, "warc")) {
				if strings.Contains(string(r.Block), "root:x:0") {
					t.Errorf("the %s record of %s has a file of this machine", r.Type(), r.Target())
				}
			}
		},
	}
}

// bucketServer is a server of a bucket that breaks its promises. The daemon begins with finished files.
func bucketServer(name string, answer http.HandlerFunc) attack {
	var asked atomic.Int64
	var finished []string
	return attack{
		name: name, lasts: crawlTime,
		stranger: func(c *crawl) crawlOptions {
			c.run(crawlOptions{lasts: 2 * time.Second})
			c.healthy.Store(0)
			finished, _ = filepath.Glob(filepath.Join(c.dir, "warc", "*.warc.gz"))
			asked.Store(0)
			at := c.town.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				answer(w, r)
			}))
			secrets := filepath.Join(c.dir, "secrets")
			must(c.t, os.MkdirAll(secrets, 0o700))
			must(c.t, os.WriteFile(filepath.Join(secrets, "s3"), []byte("reader:swordfish\n"), 0o600))
			return crawlOptions{tables: fmt.Sprintf(
				"[upload]\nendpoint = \"http://%s:%d\"\nbucket = \"web-archive\"\nsecret = \"file:s3\"\n", at, c.town.port)}
		},
		check: func(t *testing.T, c *crawl) {
			if asked.Load() == 0 || len(finished) == 0 {
				t.Errorf("the server was asked %d times about %d files", asked.Load(), len(finished))
			}
			if list, err := os.ReadFile(filepath.Join(c.dir, "warc", "uploads.jsonl")); err == nil && len(list) > 0 {
				t.Errorf("files count as uploaded: %s", list)
			}
			for _, f := range finished {
				if _, err := os.Stat(f); err != nil {
					t.Error(err)
				}
			}
		},
	}
}

// newTexts is a search whose results are new texts at each visit, and name further words.
func newTexts() attack {
	return attack{
		name: "search whose results have new texts", lasts: crawlTime,
		stranger: func(c *crawl) crawlOptions {
			s, word := &site{}, atomic.Int64{}
			s.set("/search", func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprintf(w, "<title>%s</title>", r.URL.Query().Get("q"))
				for range 20 {
					fmt.Fprintf(w, "<p>%s %s <a href=/search?q=word%d>more</a> ", rand.Text(), rand.Text(), word.Add(1))
				}
			})
			c.town.serve(s, "www.stranger.example")
			search := c.town.url("www.stranger.example", "/search?q=a")
			return crawlOptions{seeds: append(pagesOf(c, "www.stranger.example", 10), search)}
		},
		check: func(t *testing.T, c *crawl) {
			for i := range 10 {
				atLeast(t, c, fmt.Sprintf("www.stranger.example:%d/%d", c.town.port, i), 1)
			}
		},
	}
}

// readersPassword is the secret of the host www.reader.example. Nothing but that host may ever see it.
const readersPassword = "pa55word-of-the-reader"

// reaching are attacks on what a site must be sent before it shows its pages.
func reaching() []attack {
	var admitted, stolen atomic.Int64
	var told atomic.Pointer[string] // everything that the daemon answered
	return []attack{{
		name: "redirects and embeds that want the password of another host", lasts: short,
		stranger: func(c *crawl) crawlOptions {
			admitted.Store(0)
			stolen.Store(0)
			told.Store(new(string))
			c.town.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "" || strings.Contains(fmt.Sprint(r.Header, r.URL), readersPassword) {
					stolen.Add(1)
				}
				_, _ = io.WriteString(w, "thanks")
			}), "www.thief.example", "thief.reader.example")
			c.town.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if _, password, _ := r.BasicAuth(); password != readersPassword {
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				admitted.Add(1)
				switch r.URL.Path {
				case "/robots.txt":
					http.NotFound(w, r)
				case "/0":
					http.Redirect(w, r, c.town.url("www.thief.example", "/landing"), http.StatusFound)
				default:
					w.Header().Set("Content-Type", "text/html")
					fmt.Fprintf(w, "<img src=%q><img src=%q>", c.town.url("www.thief.example", "/a.png"), c.town.url("thief.reader.example", "/b.png"))
				}
			}), "www.reader.example")
			secret := filepath.Join(c.dir, "secrets", "reader")
			write := func(text string) {
				if err := os.WriteFile(secret, []byte(text), 0o600); err != nil {
					c.t.Error(err)
				}
			}
			must(c.t, os.MkdirAll(filepath.Dir(secret), 0o700))
			write("reader:" + readersPassword + "\n")
			at := freeAddress(c)
			must(c.t, os.WriteFile(filepath.Join(c.dir, "tokens"), []byte("maria operate "+steerToken+"\n"), 0o600))
			timer := time.AfterFunc(short/3, func() { // a second line: the last good configuration stays in force
				write("reader:" + readersPassword + "\nreader:" + readersPassword + "\n")
				c.hangup <- syscall.SIGHUP
				time.Sleep(short / 6)
				answers := c.askEverything(at, c.town.url("www.reader.example", "/1"))
				told.Store(&answers)
			})
			c.t.Cleanup(func() { timer.Stop() })
			return crawlOptions{
				seeds: pagesOf(c, "www.reader.example", 3), admin: fmt.Sprintf("listen = %q\ntoken_file = \"tokens\"", at),
				hosts: map[string]string{"www.reader.example": "[request]\nbasic = \"file:reader\"\nsecrets_over_http = true\n"},
			}
		},
		check: func(t *testing.T, c *crawl) {
			if admitted.Load() < 5 || stolen.Load() > 0 {
				t.Errorf("the site let us in %d times; other hosts were sent the password %d times", admitted.Load(), stolen.Load())
			}
			if !strings.Contains(c.text(), "which has a line end inside the secret") {
				t.Errorf("the broken secret was not refused:\n%s", c.text())
			}
			answers := *told.Load()
			if len(answers) < 5_000 || !strings.Contains(answers, "www.reader.example") {
				t.Errorf("the daemon answered only %d bytes: %s", len(answers), answers)
			}
			c.findSecret(t, answers)
		},
	}}
}

// askEverything asks the daemon whatever it may be asked about a page, and returns all answers: the addresses that must
// answer, and each of the OpenAPI document.
func (c *crawl) askEverything(at, page string) string {
	var told bytes.Buffer
	name := strings.TrimSuffix(strings.TrimPrefix(page, "http://"), "/1")
	host, about := url.PathEscape(name), "?uri="+url.QueryEscape(page)
	for _, path := range []string{
		api.Base + "/status", api.Base + "/config", api.Base + "/hosts", api.Base + "/hosts/" + host, api.Base + "/uri" + about,
		api.Base + "/why" + about, api.Base + "/why-not" + about, api.Base + "/reports/headers", "/metrics", "/", "/feed.atom",
	} {
		answer, status := c.ask(at, path)
		if told.WriteString(answer); status >= http.StatusBadRequest {
			c.t.Errorf("GET %s was answered with %d", path, status)
		}
	}
	var documented struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	document, _ := c.ask(at, "/openapi.json")
	if err := json.Unmarshal([]byte(document), &documented); err != nil {
		c.t.Errorf("read the OpenAPI document: %v", err)
	}
	asked, answered := 0, 0
	for path, methods := range documented.Paths {
		if methods["get"] == nil {
			continue
		}
		asked++
		answer, status := c.ask(at, strings.ReplaceAll(path, "{host}", host)+about+"&host="+url.QueryEscape(name)+"&q=reader")
		if told.WriteString(answer); status < http.StatusBadRequest {
			answered++
		}
	}
	if answered < 20 {
		c.t.Errorf("%d of %d requests of the OpenAPI document were answered", answered, asked)
	}
	return told.String()
}

// ask sends one GET request to the daemon, and returns the first MiB of the answer.
func (c *crawl) ask(at, path string) (answer string, status int) {
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Second) // some answers are streams without end
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at+path, nil)
	if err != nil {
		c.t.Error(err)
		return "", 0
	}
	r.Header.Set("Authorization", "Bearer "+steerToken)
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Errorf("GET %s: %v", path, err)
		return "", 0
	}
	defer got.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(got.Body, 1<<20)) // what came before the time was over
	return string(text), got.StatusCode
}

// findSecret fails the test if the log, an answer, a file or a record has the password, as it is or encoded.
func (c *crawl) findSecret(t *testing.T, told string) {
	t.Helper()
	encoded := base64.StdEncoding.EncodeToString([]byte("reader:" + readersPassword))
	look := func(where, text string) {
		if strings.Contains(text, readersPassword) || strings.Contains(text, encoded) {
			t.Errorf("%s has the password", where)
		}
	}
	look("the log", c.text())
	look("an answer of the daemon", told)
	for _, r := range archivetest.CheckDir(t, filepath.Join(c.dir, "warc")) {
		look("the "+r.Type()+" record of "+r.Target(), string(r.Block))
	}
	err := filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "/secrets/") {
			return err
		}
		text, err := os.ReadFile(path)
		look(path, string(text))
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
