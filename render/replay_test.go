package render_test

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"image"
	"image/color"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/render"
)

// square returns a picture of one colour.
func square(fill string) string {
	return `<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100"><rect width="100" height="100" fill="` + fill + `"/></svg>`
}

// galleryFiles are a page whose pictures are all placed by scripts, each in another way.
var galleryFiles = map[string]string{
	"/robots.txt": "User-agent: *\nDisallow:\n",
	"/": `<!DOCTYPE html><title>gallery</title><style>* { margin: 0 } #all > * { float: left; width: 100px; height: 100px }</style>` +
		`<div id="all"></div><p style="position: absolute; top: 200px">Gallery</p><script type="module" src="/app.js"></script>`,
	"/app.js": `import {place} from "./place.js";
const list = await (await fetch("/list.json")).json();
list.forEach((p, i) => setTimeout(() => place(p, i), 50 * i));`,
	"/place.js": `const all = document.getElementById("all");
export function place(p, i) {
	const e = document.createElement(i == 3 ? "div" : i == 1 ? "x-picture" : "img");
	all.append(e);
	if (i == 0) e.src = p;
	if (i == 1) e.attachShadow({mode: "open"}).innerHTML = '<img width=100 height=100 src="' + p + '">';
	if (i == 2) new IntersectionObserver((seen, o) => { if (seen[0].isIntersecting) { e.src = p; o.disconnect() } }).observe(e);
	if (i == 3) document.head.insertAdjacentHTML("beforeend", '<link rel=stylesheet href="/late.css">');
}`,
	"/list.json":  `["/red.svg", "/green.svg", "/blue.svg", "/yellow.svg"]`,
	"/late.css":   `#all > div { background: url(/yellow.svg) }`,
	"/red.svg":    square("#c80a14"),
	"/green.svg":  square("#0ac814"),
	"/blue.svg":   square("#0a14c8"),
	"/yellow.svg": square("#c8c80a"),
}

// galleryColors are the colours of the pictures, from left to right.
var galleryColors = []color.RGBA{{200, 10, 20, 255}, {10, 200, 20, 255}, {10, 20, 200, 255}, {200, 200, 10, 255}}

func gallery(w http.ResponseWriter, r *http.Request) {
	text, ok := galleryFiles[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	kind := map[string]string{
		".js": "text/javascript", ".json": "application/json", ".svg": "image/svg+xml", ".txt": "text/plain", ".css": "text/css",
	}[path.Ext(r.URL.Path)]
	if kind == "" {
		kind = "text/html"
	}
	w.Header().Set("Content-Type", kind)
	_, _ = io.WriteString(w, text)
}

// picture returns a screenshot of a page as soon as it has the pictures of the gallery.
func picture(t *testing.T, what, address string) image.Image {
	t.Helper()
	p := browser.Open(t, 400, 100)
	p.Go(address)
	var shot image.Image
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		shot = p.Screenshot()
		missing := slices.IndexFunc(galleryColors, func(c color.RGBA) bool {
			return color.RGBAModel.Convert(shot.At(100*slices.Index(galleryColors, c)+50, 50)) != c
		})
		if missing < 0 {
			return shot
		}
	}
	t.Fatalf("%s lacks a picture: at the middles of the pictures are %v, %v, %v and %v",
		what, shot.At(50, 50), shot.At(150, 50), shot.At(250, 50), shot.At(350, 50))
	return nil
}

// TestARenderedPageLooksTheSameInReplay crawls a page over HTTP/2. Scripts place all its pictures. Its archive is
// replayed with ReplayWeb.page, and looks as the live page. warcio reads all records, with what the browser added.
func TestARenderedPageLooksTheSameInReplay(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	foreign.ReplayApp(t) // or the test is skipped
	site := httptest.NewUnstartedServer(http.HandlerFunc(gallery))
	site.EnableHTTP2 = true
	site.StartTLS()
	t.Cleanup(site.Close)
	live := httptest.NewServer(http.HandlerFunc(gallery)) // without TLS, for a browser that does not know the root
	t.Cleanup(live.Close)
	root := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: site.Certificate().Raw}))
	l := daemontest.StartIn(t, t.TempDir(), []func() daemon.Wing{render.Wing}, func(_, main string) string {
		main = regexp.MustCompile(`uris = \[.*\]`).ReplaceAllString(main, fmt.Sprintf("uris = [%q]", site.URL+"/"))
		return main + "\n[render]\npages = \"changed\"\nkeep = \"all\"\nlimit = \"1m\"\n[tls]\nroots = ['''" + root + "''']\n"
	}, func(_, main string) string { return strings.Replace(main, "[fetch]\n", "[fetch]\nhttp = \"2\"\n", 1) })
	wanted := []string{"urn:fullPage:" + site.URL + "/", site.URL + "/yellow.svg"}
	lacks := func(all string) bool {
		return slices.ContainsFunc(wanted, func(uri string) bool { return !strings.Contains(all, uri+"\n") })
	}
	for end := time.Now().Add(2 * time.Minute); lacks(l.Archived(t)); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the page was not rendered in time; archive: %s\n%s", l.Archived(t), l.Text())
		}
	}
	if err := l.End(); err != nil {
		t.Fatal(err)
	}
	file, stamp := oneFile(t, filepath.Join(l.Dir, "warc"), site.URL+"/")
	shown := foreign.Replay(t, file, site.URL+"/", stamp, "width:400px;height:100px;display:block")
	inReplay, alive := picture(t, "the replay", shown), picture(t, "the live page", live.URL)
	different, first := 0, image.Point{}
	for x := range 400 {
		for y := range 100 {
			if inReplay.At(x, y) != alive.At(x, y) {
				if different++; different == 1 {
					first = image.Pt(x, y)
				}
			}
		}
	}
	if different > 0 {
		t.Errorf("%d of 40,000 pixels differ from the live page, the first one at %v", different, first)
	}
}

// oneFile returns a file with all records of a folder, and the time of the capture of a page in it. It checks the
// records with warcio, and that what a server sent came over HTTP/2.
func oneFile(t *testing.T, folder, page string) (file, stamp string) {
	t.Helper()
	for _, r := range archivetest.CheckDir(t, folder) {
		if over := r.Header.Values("WARC-Protocol"); r.Type() == "response" && !slices.Contains(over, "h2") {
			t.Errorf("%s came over %q", r.Target(), over)
		}
	}
	parts, err := filepath.Glob(filepath.Join(folder, "*.warc.gz"))
	if err != nil || len(parts) == 0 {
		t.Fatalf("the archive has no file: %v", err)
	}
	kinds := map[string]string{}
	for _, r := range foreign.Records(t, parts...) {
		if len(r.Errors) > 0 || r.ComputedBlock != r.BlockDigest {
			t.Errorf("warcio about %s: %v; block digest %s, computed %s", r.Target, r.Errors, r.BlockDigest, r.ComputedBlock)
		}
		if r.Type == "resource" {
			kinds[strings.TrimSuffix(r.Target, page)] = r.ContentType
		}
		if r.Type == "response" && r.Target == page {
			stamp = strings.NewReplacer("-", "", ":", "", "T", "", "Z", "").Replace(r.Date)[:14]
		}
	}
	for kind, want := range map[string]string{"urn:text:": "text/plain", "urn:dom:": "text/html", "urn:fullPage:": "image/png"} {
		if !strings.HasPrefix(kinds[kind], want) {
			t.Errorf("warcio sees %s with the type %q, want %s", kind+page, kinds[kind], want)
		}
	}
	var all bytes.Buffer
	for _, part := range parts {
		b, err := os.ReadFile(part)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	file = filepath.Join(t.TempDir(), "archive.warc.gz")
	daemontest.Write(t, file, all.String())
	return file, stamp
}
