package chromium_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/render/chromium"
)

// sentinel listens on loopback, and counts what reaches it.
type sentinel struct {
	tcp, udp string
	reached  atomic.Int64
}

func listen(t *testing.T) *sentinel {
	t.Helper()
	s := new(sentinel)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = l.Close(), u.Close() })
	s.tcp, s.udp = l.Addr().String(), u.LocalAddr().String()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.reached.Add(1)
			_ = c.Close()
		}
	}()
	go func() {
		for {
			if _, _, err := u.ReadFrom(make([]byte, 1500)); err != nil {
				return
			}
			s.reached.Add(1)
		}
	}()
	return s
}

// escapes is a page that tries to reach a server in each way that is no request of the page. _T and _U are addresses.
const escapes = `<!DOCTYPE html><link rel=dns-prefetch href="//_T"><link rel=preconnect href="http://_T">
<link rel=preconnect href="https://_T" crossorigin><meta http-equiv=x-dns-prefetch-control content=on>
<a id=a href="/left" ping="http://_T/ping">x</a><a href="//prefetched.example">y</a>
<script>
const quietly = f => { try { const p = f(); p && p.catch && p.catch(() => {}) } catch {} };
quietly(() => new WebSocket("ws://_T/socket"));
quietly(() => new WebSocket("wss://_T/socket"));
quietly(() => new EventSource("http://_T/events"));
quietly(() => navigator.sendBeacon("http://_T/beacon", "x"));
quietly(() => new WebTransport("https://_T/transport").ready);
quietly(() => fetch("http://_T/post", {method: "POST", body: "x", mode: "no-cors"}));
for (const p of ["file:///etc/passwd", "chrome://version", "ftp://_T/x", "view-source:http://_T/"]) {
	quietly(() => fetch(p));
	quietly(() => { const f = document.createElement("iframe"); f.src = p; document.body.append(f) });
	quietly(() => { const i = new Image; i.src = p });
	quietly(() => open(p));
}
quietly(() => {
	const c = new RTCPeerConnection({iceServers: [{urls: "stun:_U"}, {urls: "turn:_T?transport=tcp", username: "a", credential: "b"}]});
	c.createDataChannel("x");
	c.onicecandidate = e => { if (e.candidate) document.body.append(e.candidate.candidate) };
	return c.createOffer().then(o => c.setLocalDescription(o));
});
quietly(() => a.click());
setTimeout(() => { (new Image).src = "/last.png" }, 1000);
</script>`

// TestABrowserReachesNothing shows a page that tries to reach a server past the interception, in a network namespace
// and without one.
func TestABrowserReachesNothing(t *testing.T) {
	slow.Test(t)
	for name, o := range map[string]chromium.Options{"with a namespace": {}, "without a namespace": {NoNamespace: true}} {
		t.Run(name, func(t *testing.T) {
			s := listen(t)
			b := browser(t, o)
			page := site + "/escapes.html"
			text := strings.NewReplacer("_T", s.tcp, "_U", s.udp).Replace(escapes)
			f := &files{content: map[string]string{page: text}}
			r, err := b.Render(t.Context(), chromium.Job{URI: page, Answer: f.answer, Limit: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			if n := s.reached.Load(); n != 0 {
				t.Errorf("%d connections or packets reached the server", n)
			}
			if !found(t, r)[site+"/last.png"] {
				t.Errorf("the page did not run to its end: %v", r.Found)
			}
			if strings.Contains(r.Text, "candidate:") && !strings.Contains(r.Text, ".local ") {
				t.Errorf("WebRTC named addresses: %s", r.Text)
			}
			for _, uri := range f.asked {
				if !strings.HasPrefix(uri, "http://") && !strings.HasPrefix(uri, "https://") {
					t.Errorf("%s was asked for", uri)
				}
			}
			if r.Refused < 3 {
				t.Errorf("%d requests were refused, want the beacon, the POST and the events", r.Refused)
			}
			if o.NoNamespace {
				return
			}
			devices, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/dev", b.PID()))
			if err != nil || !b.Namespace() {
				t.Skipf("the system permits no network namespace: %v", err)
			}
			for _, line := range strings.Split(strings.TrimSpace(string(devices)), "\n")[2:] {
				fields := strings.Fields(line)
				if len(fields) < 10 || fields[1] != "0" || fields[9] != "0" {
					t.Errorf("an interface of the browser has sent or received something: %s", line)
				}
			}
		})
	}
}

// TestHostilePagesAreBounded shows pages that would not end, one after the other in the same browser. Each ends, and
// what is after the attack is still found. A busy machine has two minutes for a page.
func TestHostilePagesAreBounded(t *testing.T) {
	slow.Test(t)
	b := browser(t, chromium.Options{})
	for _, c := range []struct {
		name, html string
		check      func(t *testing.T, r chromium.Result, f *files)
	}{
		{"windows, dialogs and downloads", `<script>
			for (let i = 0; i < 30; i++) open("/window" + i);
			alert(1); confirm(2); prompt(3); print();
			onbeforeunload = () => "stay";
			for (let i = 0; i < 5; i++) { const a = document.createElement("a"); a.href = "/file" + i; a.download = "x"; document.body.append(a); a.click() }
			fetch("/last.json")</script>`, nil},
		{"a page that goes elsewhere", `<meta http-equiv=refresh content="0;url=/elsewhere.html"><script>let n = 0; setInterval(() => { if (n++ < 100) location = "/again" + n }, 20); setTimeout(() => fetch("/last.json"), 300)</script>`, func(t *testing.T, r chromium.Result, f *files) {
			for _, uri := range f.asked {
				if strings.Contains(uri, "/again") || strings.Contains(uri, "/elsewhere") {
					t.Errorf("%s was answered", uri)
				}
			}
		}},
		{"endless redirects", `<script>fetch("/r/0").catch(() => fetch("/last.json"))</script>`, func(t *testing.T, r chromium.Result, f *files) {
			if n := len(f.asked); n > 50 {
				t.Errorf("%d requests", n)
			}
		}},
		{"ten thousand requests", `<script>fetch("/last.json"); for (let i = 0; i < 10000; i++) fetch("/n" + i).catch(() => {})</script>`, func(t *testing.T, r chromium.Result, f *files) {
			// A page that the limit ends has not made all its requests yet. Chromium itself refuses the requests of a page
			// that has thousands of them open; on an idle machine these are half.
			if len(f.asked) > 200 || r.Dropped == 0 || !r.Late && r.Dropped < 1000 {
				t.Errorf("%d requests were answered and %d dropped, want 200 and the rest", len(f.asked), r.Dropped)
			}
		}},
		{"replaced functions", `<form name=title></form><img name=body><script>
			scrollBy = () => { throw 1 }; requestIdleCallback = setTimeout = () => {};
			Array.prototype[Symbol.iterator] = () => { throw 2 };
			fetch("/last.json")</script>`, nil},
		{"a very deep and broken document", `<script>fetch("/last.json")</script>` + strings.Repeat("<div>", 5000) + "<a href=/deep>", nil},
	} {
		page := site + "/attack.html"
		f := &files{content: map[string]string{page: "<!DOCTYPE html><body>" + c.html}}
		answer := func(ctx context.Context, q chromium.Request) chromium.Answer {
			if strings.Contains(q.URI, "/r/") {
				f.mu.Lock()
				f.content[q.URI] = "302 " + q.URI + "0"
				f.mu.Unlock()
			}
			return f.answer(ctx, q)
		}
		job := chromium.Job{URI: page, Answer: answer, Limit: time.Minute, Grace: time.Minute, MaxRequests: 200}
		r, err := b.Render(t.Context(), job)
		// Once Chromium aborted a page that followed the one with ten thousand requests.
		if err != nil && strings.Contains(err.Error(), "net::ERR_ABORTED") {
			t.Logf("%s: once more after: %v", c.name, err)
			r, err = b.Render(t.Context(), job)
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !found(t, r)[site+"/last.json"] {
			t.Errorf("%s: the request after the attack was not found: %d found", c.name, len(r.Found))
		}
		if c.check != nil {
			c.check(t, r, f)
		}
	}
}

// TestACrashCostsOnePage ends the browser in three ways. Each time the next page is rendered by another process.
func TestACrashCostsOnePage(t *testing.T) {
	slow.Test(t)
	b := browser(t, chromium.Options{Memory: 400 << 20})
	healthy := func() {
		t.Helper()
		f := &files{content: map[string]string{site + "/": `<script>fetch("/a.json")</script>`}}
		r, err := b.Render(t.Context(), chromium.Job{URI: site + "/", Answer: f.answer, Limit: time.Minute})
		if err != nil || !found(t, r)[site+"/a.json"] {
			t.Fatalf("the healthy page: %v, %v", r.Found, err)
		}
	}
	hungry := &files{content: map[string]string{
		site + "/hungry": `<script>const all = []; setInterval(() => all.push(new Uint8Array(40 << 20).fill(1)), 20)</script>`,
	}}
	_, err := b.Render(t.Context(), chromium.Job{URI: site + "/hungry", Answer: hungry.answer, Limit: time.Minute})
	if !errors.Is(err, chromium.ErrMemory) {
		t.Errorf("a page that takes all memory: %v", err)
	}
	healthy()
	killed := func(context.Context, chromium.Request) chromium.Answer {
		_ = syscall.Kill(b.PID(), syscall.SIGKILL)
		return chromium.Answer{Status: http.StatusOK}
	}
	if _, err := b.Render(t.Context(), chromium.Job{URI: site + "/killed", Answer: killed, Limit: time.Minute}); err == nil {
		t.Error("a page whose browser was killed was rendered")
	}
	healthy()
}

// TestAMinerIsEnded shows a page that never stops to compute.
func TestAMinerIsEnded(t *testing.T) {
	slow.Test(t)
	b := browser(t, chromium.Options{})
	f := &files{content: map[string]string{site + "/miner": `<script>setTimeout(() => { for (;;); }, 10)</script>`}}
	began := time.Now()
	_, err := b.Render(t.Context(), chromium.Job{URI: site + "/miner", Answer: f.answer, Limit: time.Second, Grace: 4 * time.Second})
	if err == nil || time.Since(began) > time.Minute {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
}
