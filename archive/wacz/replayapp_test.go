package wacz

import (
	"image/color"
	"path/filepath"
	"testing"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestReplayWebPageShowsRevisits replays a package with ReplayWeb.page and its user interface. The last visit of the
// page was answered with 304. One of its two pictures is a revisit of a picture under another URI.
func TestReplayWebPageShowsRevisits(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	red, blue := color.RGBA{200, 10, 20, 255}, color.RGBA{10, 20, 200, 255}
	l := withPictures(t, red, blue)
	pack := filepath.Join(t.TempDir(), "archive.wacz")
	packedAs(t, pack, l.Files(), Options{})
	const style = "width:200px;height:100px;display:block"
	address := foreign.Replay(t, pack, "http://www.a.example/", l.Now.Format(index.DateLayout), style)
	p := browser.Open(t, 200, 100)
	p.Go(address)
	p.Wait(`replayed() && [...replayed().images].filter(i => i.complete && i.naturalWidth == 100).length == 2`)
	if got := p.Eval(`replayed().getElementById("word").textContent`); got != `"first"` {
		t.Errorf("the page says %s", got)
	}
	shows(t, p.Screenshot(), red, blue)
}
