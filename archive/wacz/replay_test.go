package wacz

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/foreign"
)

// player is a page with the service worker of wabac.js, which plays the collection "test" below /w/test/.
const player = `<!doctype html><body style="margin:0"><script>
async function load(file) {
	await navigator.serviceWorker.register("/sw.js");
	const worker = (await navigator.serviceWorker.ready).active;
	const added = new Promise((loaded, failed) => {
		navigator.serviceWorker.onmessage = e => {
			if (e.data.msg_type == "collAdded") loaded("loaded");
			if (e.data.error) failed(new Error(e.data.error));
		};
	});
	worker.postMessage({msg_type: "addColl", name: "test", file: {sourceUrl: file}});
	return added;
}
function play(stamp, uri) {
	const frame = document.createElement("iframe");
	frame.style = "border:0;width:200px;height:100px;display:block";
	frame.src = "/w/test/" + stamp + "mp_/" + uri;
	document.body.append(frame);
}
</script>`

// TestReplayEngineShowsRevisits replays a page with ReplayWeb.page's engine in Chromium. The last visit of the page was
// answered with 304. One of its pictures is a revisit of a picture under another URI.
func TestReplayEngineShowsRevisits(t *testing.T) {
	t.Parallel()
	worker := foreign.ReplayWorker(t)
	red, blue := color.RGBA{200, 10, 20, 255}, color.RGBA{10, 20, 200, 255}
	l := withPictures(t, red, blue)
	pack := filepath.Join(t.TempDir(), "archive.wacz")
	packedAs(t, pack, l.Files(), Options{})
	for name, file := range map[string]string{"archive.warc.gz": l.Files()[0], "archive.wacz": pack} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := browser.Open(t, 200, 100)
			p.Go(serve(t, worker, name, file))
			if got := p.Eval(fmt.Sprintf("load(%q)", "/"+name)); got != `"loaded"` {
				t.Fatalf("the loaded collection is %s", got)
			}
			p.Eval(fmt.Sprintf(`play(%q, "http://www.a.example/")`, l.Now.Format(index.DateLayout)))
			p.Wait(`frames[0] && [...frames[0].document.images].filter(i => i.complete && i.naturalWidth == 100).length == 2`)
			if got := p.Eval(`frames[0].document.getElementById("word").textContent`); got != `"first"` {
				t.Errorf("the page says %s", got)
			}
			shows(t, p.Screenshot(), red, blue)
		})
	}
}

// withPictures returns an archive of a page and its two pictures. The page was visited twice, the second time with a
// 304. The second picture is a revisit.
func withPictures(t *testing.T, first, second color.RGBA) *archivetest.Archive {
	t.Helper()
	l := archivetest.New(t)
	pictureHead := "HTTP/1.1 200 OK\r\nContent-Type: image/png"
	page := l.Page("http://www.a.example/", archivetest.HTMLHead, `<!doctype html><body style="margin:0"><img src="/red.png" style="float:left"><img src="/copy.png"><p id="word">first`)
	l.Page("http://www.a.example/red.png", pictureHead, picture(t, first))
	original := l.Page("http://b.example/blue.png", pictureHead, picture(t, second))
	l.Revisit("http://www.a.example/copy.png", pictureHead, original)
	l.NotModified("http://www.a.example/", page)
	l.Seal()
	return l
}

// shows checks that a screenshot has the two pictures side by side.
func shows(t *testing.T, shot image.Image, first, second color.RGBA) {
	t.Helper()
	for _, want := range []struct {
		what  string
		x     int
		color color.RGBA
	}{{"the picture itself", 50, first}, {"the picture that is a revisit", 150, second}} {
		if got := color.RGBAModel.Convert(shot.At(want.x, 50)); got != want.color {
			t.Errorf("%s is %v on the screenshot, want %v", want.what, got, want.color)
		}
	}
}

// picture returns a PNG of one colour, 100 by 100 pixels.
func picture(t *testing.T, c color.RGBA) string {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 100, 100))
	draw.Draw(m, m.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
	var b bytes.Buffer
	archivetest.Must(t, png.Encode(&b, m))
	return b.String()
}

// serve serves the player, its worker and the archive on the loopback, and returns the address.
func serve(t *testing.T, worker, name, file string) string {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, player)
		case "/sw.js":
			http.ServeFile(w, r, worker)
		case "/" + name:
			http.ServeFile(w, r, file)
		default:
			http.NotFound(w, r) // archived URIs are never requested from this server
		}
	}))
	t.Cleanup(site.Close)
	return site.URL
}
