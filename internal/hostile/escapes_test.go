package hostile_test

import (
	"crypto/rand"
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
	"time"

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
	at, port := c.town.address(), freePort(c)
	l := c.town.listen(at, port)
	u, err := net.ListenPacket("udp", l.Addr().String())
	if err != nil {
		c.t.Fatal(err)
	}
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
			if err := os.MkdirAll(secrets, 0o700); err != nil {
				c.t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(secrets, "s3"), []byte("reader:swordfish\n"), 0o600); err != nil {
				c.t.Fatal(err)
			}
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
