package curator

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
)

const htmlHead = archivetest.HTMLHead

// player serves the archive. tokens are the names of the tokens in force.
func (w *archived) player(engine string, tokens ...string) *player {
	w.T.Helper()
	return newPlayer(playerOptions{
		Archive: w.reader, Engine: engine, Tickets: newTickets(), Names: func() []string { return tokens },
		Now: func() time.Time { return w.Now }, Log: zerolog.Nop(),
	})
}

// askPlayer requests a path of the player without a browser, as the worker does.
func askPlayer(p http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.URL.Opaque = path
	if own, ok := p.(*player); ok && strings.HasPrefix(path, "/raw/") {
		r.Header.Set(workerHeader, own.o.Tickets.WorkerKey())
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	got := httptest.NewRecorder()
	p.ServeHTTP(got, r)
	return got
}

// framed is a page with the frame of a version, behind the guard of the API. secrets counts answers of the API that
// left the guard.
func framed(t *testing.T, frame string, secrets *atomic.Int64) *httptest.Server {
	t.Helper()
	token := access.Token{Name: "maria", Role: access.Operate, Secret: "0123456789abcdef0123456789abcdef"}
	player, _, _ := strings.Cut(strings.TrimPrefix(frame, "http://"), "/")
	guarded := access.Guard(http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/") {
			secrets.Add(1)
			_, _ = io.WriteString(to, `{"secret":"yes"}`)
			return
		}
		to.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(to, `<!doctype html><title>dashboard</title><body style="margin:0"><iframe id="f" sandbox="allow-scripts allow-same-origin allow-forms" src="%s" width=300 height=200 style="border:0;display:block"></iframe>`, frame)
	}), access.Options{
		Tokens: func() []access.Token { return []access.Token{token} },
		Frames: func(*http.Request) string { return "http://" + player },
	})
	site := httptest.NewServer(guarded)
	t.Cleanup(site.Close)
	return site
}

// serve serves a player under the name localhost: the dashboard is under 127.0.0.1.
func serve(t *testing.T, p http.Handler) string {
	t.Helper()
	site := httptest.NewServer(p)
	t.Cleanup(site.Close)
	return strings.Replace(site.URL, "127.0.0.1", "localhost", 1)
}

// engine returns the folder of the engine, as the package arcrawl-replay installs it.
func engine(t *testing.T) string { t.Helper(); return filepath.Dir(foreign.ReplayWorker(t)) }

const framedSignIn = "/?token=0123456789abcdef0123456789abcdef"

// picture returns a PNG of one colour.
func picture(t *testing.T, c color.RGBA) string {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 100, 100))
	draw.Draw(m, m.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
	var b strings.Builder
	archivetest.Must(t, png.Encode(&b, m))
	return b.String()
}

// TestAVersionIsShownWhileItsFileIsOpen shows four visits of a page in Chromium: two versions, a revisit of the first
// and a 304 of the second. All are in a WARC file that is still open.
func TestAVersionIsShownWhileItsFileIsOpen(t *testing.T) {
	t.Parallel()
	slow.Unraced(t, browser.Races)
	w := newArchived(t)
	red := color.RGBA{200, 10, 20, 255}
	text := func(word string) string {
		return `<!doctype html><body style="margin:0"><img src="/red.png" style="display:block"><p id=word>` + word
	}
	const page = "http://www.a.example/"
	first := w.Page(page, htmlHead, text("one"))
	w.add(w.Page(page+"red.png", "HTTP/1.1 200 OK\r\nContent-Type: image/png", picture(t, red)), "image/png", 200)
	second := w.Page(page, htmlHead, text("two"))
	third := w.Revisit(page, htmlHead, first)
	fourth := w.NotModified(page, second)
	stamps := []string{
		stamp(w.add(first, "text/html", 200)), stamp(w.add(second, "text/html", 200)),
		stamp(w.add(third, index.RevisitMIME, 200)), stamp(w.add(fourth, index.RevisitMIME, 304)),
	}
	if open, err := filepath.Glob(filepath.Join(w.Dir, "*.open")); err != nil || len(open) != 1 {
		t.Fatalf("open files: %q, %v", open, err)
	}
	p := w.player(engine(t), "maria")
	origin := serve(t, p)
	b := browser.Open(t, 300, 200)
	for i, want := range []string{"one", "two", "one", "two"} {
		var secrets atomic.Int64
		d := framed(t, fmt.Sprintf("%s/open/%s/%s/%s", origin, p.o.Tickets.Issue("maria", access.Curate, page, stamps[i], true, w.Now), stamps[i], page), &secrets)
		b.Go(d.URL + framedSignIn)
		frame := b.Frame(`location.pathname.startsWith("/w/") && document.getElementById("word") && document.images[0].naturalWidth == 100`)
		if got := frame(`document.getElementById("word").textContent`); got != strconv.Quote(want) {
			t.Errorf("visit %d of %s says %s, want %q", i+1, stamps[i], got, want)
		}
		if got := color.RGBAModel.Convert(b.Screenshot().At(50, 50)); got != red {
			t.Errorf("visit %d has the color %v where the picture is, want %v", i+1, got, red)
		}
	}
	for _, host := range b.Requests() {
		if !strings.HasPrefix(host, "127.0.0.1:") && !strings.HasPrefix(host, "localhost:") {
			t.Errorf("the browser asked %s", host)
		}
	}
}

// TestScriptsNeedAHostNameOfTheirOwn shows a page whose scripts do not run: with its style and picture, and also not in
// a frame that has the address of a page with scripts in its own.
func TestScriptsNeedAHostNameOfTheirOwn(t *testing.T) {
	t.Parallel()
	slow.Unraced(t, browser.Races)
	w := newArchived(t)
	p := w.player(engine(t), "maria")
	origin := serve(t, p)
	const page = "http://www.a.example/"
	trick := page + "w/6b023080-" + strings.Repeat("0", 32) + "1/20261121090000mp_/http://www.a.example/x"
	run := `<script>document.title = "ran"; document.documentElement.dataset.ran = "yes"</script><img src="/no.png" onerror="document.title = 'ran'">`
	at := stamp(w.add(w.Page(page, htmlHead, `<!doctype html><title>still</title><link rel=stylesheet href="/s.css"><p>text<img src="/red.png">`+
		`<iframe src="`+trick+`"></iframe><a href="javascript:void(document.title='ran')">x</a>`+run), "text/html", 200))
	w.add(w.Page(trick, htmlHead, `<!doctype html><title>still</title>`+run), "text/html", 200)
	w.add(w.Page(page+"s.css", "HTTP/1.1 200 OK\r\nContent-Type: text/css", "p { color: rgb(1, 2, 3) }"), "text/css", 200)
	w.add(w.Page(page+"red.png", "HTTP/1.1 200 OK\r\nContent-Type: image/png", picture(t, color.RGBA{200, 10, 20, 255})), "image/png", 200)
	var secrets atomic.Int64
	titles := func(scripts bool) string {
		ticket := p.o.Tickets.Issue("maria", access.Curate, page, at, scripts, w.Now)
		d := framed(t, fmt.Sprintf("%s/open/%s/%s/%s", origin, ticket, at, page), &secrets)
		b := browser.Open(t, 300, 200)
		b.Go(d.URL + framedSignIn)
		frame := b.Frame(`location.pathname.startsWith("/w/") && document.images[0]?.naturalWidth == 100 && ` +
			`getComputedStyle(document.querySelector("p")).color === "rgb(1, 2, 3)" && frames[0]?.document.readyState === "complete" && frames[0].document.title`)
		frame(`document.links[0].click()`)
		time.Sleep(500 * time.Millisecond)
		return frame(`document.title + " " + frames[0].document.title`)
	}
	if got := titles(false); got != `"still still"` {
		t.Errorf("without a host name of its own the page and its frame are %s", got)
	}
	if got := titles(true); got != `"ran ran"` {
		t.Errorf("with a host name of its own the page and its frame are %s", got)
	}
}

// TestWhichHostNamesAreApart asks whether browsers would share the cookies of the dashboard with archived pages.
func TestWhichHostNamesAreApart(t *testing.T) {
	t.Parallel()
	assets := t.TempDir()
	archivetest.Must(t, os.WriteFile(filepath.Join(assets, engineFile), nil, 0o600))
	const here, everywhere = "127.0.0.1:8473", "0.0.0.0:8473"
	for _, c := range []struct {
		site   playerAddress
		host   string
		shares bool
	}{
		{playerAddress{Listen: here}, "127.0.0.1:8471", false},
		{playerAddress{Listen: here}, "localhost:8471", false},
		{playerAddress{Listen: here}, "[::1]:8471", false},
		{playerAddress{Listen: everywhere, TLS: true}, "crawler.library.example:8471", true},
		{playerAddress{Listen: everywhere, TLS: true}, "localhost:8471", true},
		{playerAddress{Listen: everywhere, TLS: true, URL: "https://replay.library.example:8473/"}, "crawler.library.example:8471", false},
		{playerAddress{Listen: here, URL: "https://CRAWLER.library.example/replay"}, "crawler.library.example", true},
	} {
		c.site.Engine = assets
		origin, problem := c.site.Origin(c.host)
		if got := sharesCookies(c.host, origin); got != c.shares || problem != "" {
			t.Errorf("%s and %s share cookies: %t, want %t; %s", c.host, origin, got, c.shares, problem)
		}
	}
}
