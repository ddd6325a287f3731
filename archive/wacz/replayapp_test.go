package wacz

import (
	"fmt"
	"image/color"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// embedded is a page with ReplayWeb.page's own element, which shows only the replay.
const embedded = `<!doctype html><body style="margin:0"><script src="/ui.js"></script>
<replay-web-page source="/archive.wacz" url="%s" ts="%s" replaybase="/replay/" embed="replayonly" nosandbox
	style="width:200px;height:100px;display:block"></replay-web-page>
` + foreign.Replayed

// TestReplayWebPageShowsRevisits replays a package with ReplayWeb.page and its user interface. The last visit of the
// page was answered with 304. One of its two pictures is a revisit of a picture under another URI.
func TestReplayWebPageShowsRevisits(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	app := foreign.ReplayApp(t)
	red, blue := color.RGBA{200, 10, 20, 255}, color.RGBA{10, 20, 200, 255}
	l := withPictures(t, red, blue)
	pack := filepath.Join(t.TempDir(), "archive.wacz")
	packedAs(t, pack, l.Files(), Options{})
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, embedded, "http://www.a.example/", l.Now.Format(index.DateLayout))
		case "/ui.js", "/replay/ui.js":
			http.ServeFile(w, r, filepath.Join(app, "ui.js"))
		case "/replay/sw.js":
			http.ServeFile(w, r, filepath.Join(app, "sw.js"))
		case "/archive.wacz":
			http.ServeFile(w, r, pack)
		default:
			http.NotFound(w, r) // archived URIs are never requested from this server
		}
	}))
	t.Cleanup(site.Close)
	p := browser.Open(t, 200, 100)
	p.Go(site.URL)
	p.Wait(`replayed() && [...replayed().images].filter(i => i.complete && i.naturalWidth == 100).length == 2`)
	if got := p.Eval(`replayed().getElementById("word").textContent`); got != `"first"` {
		t.Errorf("the page says %s", got)
	}
	shows(t, p.Screenshot(), red, blue)
}
