package curator

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
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

// names is a server whose clients say the name of the server that they want. told returns these names.
func names(t *testing.T) (address string, told func() []string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	archivetest.Must(t, err)
	var mu sync.Mutex
	seen := map[string]bool{}
	hello := &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		mu.Lock()
		defer mu.Unlock()
		seen[strings.TrimSuffix(h.ServerName, ".evil.test")] = true
		return nil, errors.New("heard enough")
	}}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				_ = c.SetDeadline(time.Now().Add(2 * time.Second))
				_ = tls.Server(c, hello).Handshake()
				_ = c.Close()
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); running.Wait() })
	return l.Addr().String(), func() (list []string) {
		mu.Lock()
		defer mu.Unlock()
		for name := range seen {
			list = append(list, name)
		}
		slices.Sort(list)
		return list
	}
}

// toEvil leads the names of the page testdata/tell.html to a server.
func toEvil(address string) browser.Flag {
	return browser.Flag{Name: "host-resolver-rules", Value: "MAP *.evil.test " + address}
}

// teller is the page testdata/tell.html.
func teller(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/tell.html")
	archivetest.Must(t, err)
	return string(text)
}

// tellAll opens the page in a player, lets it try everything, and returns what it told.
func tellAll(t *testing.T, more ...browser.Flag) []string {
	t.Helper()
	w := newArchived(t)
	p := w.player(engine(t), "maria")
	origin := serve(t, p)
	const page = "http://www.a.example/"
	head := htmlHead + "\r\nLink: <https://head-preconnect.evil.test/>; rel=preconnect"
	at := stamp(w.add(w.Page(page, head, teller(t)), "text/html", 200))
	var secrets atomic.Int64
	ticket := p.o.Tickets.Issue("maria", access.Curate, page, at, true, w.Now)
	d := framed(t, fmt.Sprintf("%s/open/%s/%s/%s", origin, ticket, at, page), &secrets)
	address, told := names(t)
	b := browser.Open(t, 300, 200, append(more, toEvil(address))...)
	b.Go(d.URL + framedSignIn)
	b.Frame(`window.told`)(`void window.leave()`)
	time.Sleep(5 * time.Second)
	list := told()
	for _, host := range b.Requests() { // also requests that failed before a connection
		if name, ok := strings.CutSuffix(host, ".evil.test"); ok && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// TestAnArchivedPageTellsNoServerAnything plays a page that tries each way in which a page can make a browser tell a
// server something, by the name of the server at least. The same page says a lot without our policy; otherwise this
// test says nothing.
func TestAnArchivedPageTellsNoServerAnything(t *testing.T) {
	t.Parallel()
	slow.Unraced(t, browser.Races)
	free := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, _ *http.Request) {
		to.Header().Set("Content-Type", "text/html")
		_, _ = to.Write([]byte(teller(t)))
	}))
	t.Cleanup(free.Close)
	address, told := names(t)
	b := browser.Open(t, 300, 200, toEvil(address))
	b.Go(free.URL)
	b.Wait(`window.told`)
	time.Sleep(time.Second)
	for _, way := range []string{
		"preconnect.page", "preconnect.frame", "frame.page", "frame.frame", "static-preconnect",
		"fetch.page", "speculation-prefetch.page", "socket.page", "worker-fetch.frame", "css.page",
	} {
		if list := told(); !slices.Contains(list, way) {
			t.Errorf("without our policy, %s says nothing: %q", way, list)
		}
	}
	if list := tellAll(t); len(list) > 0 {
		t.Errorf("the archived page told %q", list)
	}
}

// TestWhatAnArchivedPageTellsInOtherBrowsers plays the same page in a browser that does not know Connection-Allowlist:
// its script can have servers connected to whose names it chooses, and sends no request.
func TestWhatAnArchivedPageTellsInOtherBrowsers(t *testing.T) {
	t.Parallel()
	slow.Unraced(t, browser.Races)
	got := tellAll(t, browser.Flag{Name: "disable-features", Value: "site-per-process,Translate,ConnectionAllowlists"})
	want := []string{"frame.frame", "preconnect-crossorigin.frame", "preconnect.frame"}
	if !slices.Equal(got, want) {
		t.Errorf("the page told %q, want %q", got, want)
	}
}
