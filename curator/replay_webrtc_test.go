package curator

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// peer is a page whose script asks a STUN server for a way out, as WebRTC does before it sends data.
const peer = `<!doctype html><p id=word>calm<script>
(async () => {
	const c = new RTCPeerConnection({ iceServers: [{ urls: "stun:%s" }] });
	c.createDataChannel("x");
	await c.setLocalDescription(await c.createOffer());
})().catch(() => {}).then(() => setTimeout(() => { window.tried = true }, 2000));
</script>`

// barePeer is a page that does the same with what a new frame has, in which no script has removed anything.
const barePeer = `<!doctype html><p>calm<img src="/ran.png"><script>
onload = () => {
	document.body.append(document.createElement("iframe"));
	const c = new window[0].RTCPeerConnection({ iceServers: [{ urls: "stun:%s" }] });
	c.createDataChannel("x");
	c.createOffer().then((o) => c.setLocalDescription(o));
};
</script>`

// stun is a server that answers nothing and counts packets.
func stun(t *testing.T) (address string, packets func() int64) {
	t.Helper()
	l, err := net.ListenPacket("udp4", "127.0.0.1:0")
	archivetest.Must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	var n atomic.Int64
	go func() {
		for b := make([]byte, 1500); ; n.Add(1) {
			if _, _, err := l.ReadFrom(b); err != nil {
				return
			}
		}
	}()
	return l.LocalAddr().String(), n.Load
}

// TestAnArchivedPageHasNoWebRTC plays a page that looks for a way out with WebRTC. The same page sends packets when a
// server sends it without our policy; otherwise this test says nothing.
func TestAnArchivedPageHasNoWebRTC(t *testing.T) {
	t.Parallel()
	slow.Unraced(t, browser.Races)
	w := newArchived(t)
	assets := engine(t)
	control, sent := stun(t)
	page := fmt.Sprintf(peer, control)
	free := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, _ *http.Request) {
		to.Header().Set("Content-Type", "text/html")
		_, _ = to.Write([]byte(page))
	}))
	t.Cleanup(free.Close)
	b := browser.Open(t, 300, 200)
	b.Go(free.URL)
	b.Wait(`window.tried`)
	for range 100 { // the browser sends in its own time
		if sent() > 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if sent() == 0 {
		t.Skip("this browser sends nothing by WebRTC to an address of this machine")
	}

	server, leaked := stun(t) // of its own: packets of the first page are late
	p := w.player(assets, "maria")
	origin := serve(t, p)
	at := stamp(w.add(w.Page("http://www.a.example/", htmlHead, fmt.Sprintf(peer, server)), "text/html", 200))
	var secrets atomic.Int64
	ticket := p.o.Tickets.Issue("maria", access.Curate, "http://www.a.example/", at, true, w.Now)
	d := framed(t, fmt.Sprintf("%s/open/%s/%s/http://www.a.example/", origin, ticket, at), &secrets)
	b.Go("about:blank")
	b.Go(d.URL + framedSignIn)
	b.Frame(`window.tried`)
	if n := leaked(); n > 0 {
		t.Errorf("the archived page has sent %d packets", n)
	}

	const bare = "http://b.example/"
	at = stamp(w.add(w.Page(bare, htmlHead, fmt.Sprintf(barePeer, server)), "text/html", 200))
	ticket = p.o.Tickets.Issue("maria", access.Curate, bare, at, true, w.Now)
	asked := make(chan bool, 10)
	origin = serve(t, http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		p.ServeHTTP(to, r)
		if strings.HasSuffix(r.URL.Path, "/ran.png") {
			asked <- true
		}
	}))
	d = framed(t, fmt.Sprintf("%s/open/%s/%s/%s", origin, ticket, at, bare), &secrets)
	b.Go("about:blank")
	b.Go(d.URL + framedSignIn)
	<-asked
	time.Sleep(5 * time.Second) // Chromium may end the page for what it tries
	if n := leaked(); n > 0 {
		t.Errorf("the archived page has sent %d packets from a new frame", n)
	}
}
