package wacz

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// player is a page with the service worker of wabac.js, which plays the collection "test" below /w/test/.
const player = `<!doctype html><body style="margin:0"><script>
async function load(file, noCache) {
	await navigator.serviceWorker.register("/sw.js");
	const worker = (await navigator.serviceWorker.ready).active;
	const added = new Promise((loaded, failed) => {
		navigator.serviceWorker.onmessage = e => {
			if (e.data.msg_type == "collAdded") loaded("loaded");
			if (e.data.error) failed(new Error(e.data.error));
		};
	});
	worker.postMessage({msg_type: "addColl", name: "test", file: {sourceUrl: file, noCache}});
	return added;
}
function play(stamp, uri) {
	const frame = document.createElement("iframe");
	frame.style = "border:0;width:200px;height:100px;display:block";
	frame.src = "/w/test/" + stamp + "mp_/" + uri;
	document.body.append(frame);
}
</script>`

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

// wanted is one capture, and the payload that `arcrawl cat` prints for it.
type wanted struct {
	Stamp string    `json:"stamp"` // 17 digits
	URI   string    `json:"uri"`
	Sums  [2]string `json:"sums"` // SHA-256 of the payload, and of the payload in its content coding (cat --raw)
}

// everyCapture returns all captures of an archive, as `arcrawl cat` prints them.
func everyCapture(t *testing.T, l *archivetest.Archive) (all []wanted) {
	t.Helper()
	library, err := captures.OpenLibrary(t.Context(), l.Dir, captures.Options{}, noFinding)
	archivetest.Must(t, err)
	var lines strings.Builder
	_, err = index.Build(t.Context(), l.Files(), index.Options{Milliseconds: true}, &lines, noFinding)
	archivetest.Must(t, err)
	seen := map[string]bool{}
	for line := range strings.Lines(lines.String()) {
		e, err := index.ParseEntry(line)
		archivetest.Must(t, err)
		if seen[e.URL] || !strings.HasPrefix(e.URL, "http") { // the other records are about no page
			continue
		}
		seen[e.URL] = true
		captures, err := library.History(e.URL)
		archivetest.Must(t, err)
		for _, c := range captures {
			w := wanted{Stamp: index.Stamp(c.Date, true), URI: c.URL}
			for i, decode := range []bool{true, false} {
				p, err := library.Payload(t.Context(), c, decode)
				archivetest.Must(t, err)
				b, err := io.ReadAll(p)
				archivetest.Must(t, errors.Join(err, p.Close()))
				sum := sha256.Sum256(b)
				w.Sums[i] = hex.EncodeToString(sum[:])
			}
			all = append(all, w)
		}
	}
	archivetest.Must(t, library.Close())
	return all
}

// replayed is a script that plays captures and returns those whose payload differs. The modifier id_ asks for the
// payload without changes for replay; wabac.js then removes gzip and brotli, and leaves deflate and zstd.
//
// For a package, wabac.js redirects to an address with the package's hash, in which it cuts the date to a second. So
// the captures are asked for by addresses with both.
const replayed = `(async all => {
	const wrong = [];
	const first = await fetch("/w/test/id_/" + all[0].uri);
	const pack = first.url.match("/w/test/(:[0-9a-f]+/)")?.[1] ?? "";
	const play = async c => {
		const answer = await fetch("/w/test/" + pack + c.stamp + "id_/" + c.uri);
		const body = await answer.arrayBuffer();
		const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", body));
		const hex = [...sum].map(b => b.toString(16).padStart(2, "0")).join("");
		if (!c.sums.includes(hex)) wrong.push(c.stamp + " " + c.uri + " " + answer.status + ": " + new TextDecoder().decode(body).slice(-60));
	};
	for (let i = 0; i < all.length; i += 16) await Promise.all(all.slice(i, i + 16).map(play));
	return wrong;
})(%s)`

// TestReplayEngineShowsEveryVersion plays every capture of an archive with the engine of ReplayWeb.page, from the WARC
// files and from a package. Each must have the payload that `arcrawl cat` prints.
func TestReplayEngineShowsEveryVersion(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	worker := foreign.ReplayWorker(t)
	l := archivetest.Versioned(t)
	all := everyCapture(t, l)
	if want := 7*archivetest.VisitsOfVersions + archivetest.Versions; len(all) != want {
		t.Fatalf("the archive has %d captures, want %d", len(all), want)
	}
	pack, whole := filepath.Join(t.TempDir(), "archive.wacz"), filepath.Join(t.TempDir(), "archive.warc.gz")
	packedAs(t, pack, l.Files(), Options{})
	join(t, whole, l.Files())
	for name, file := range map[string]string{"archive.warc.gz": whole, "archive.wacz": pack} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			enginePlays(t, worker, file, all, true)
		})
	}
}

// enginePlays plays captures of an archive with the engine of ReplayWeb.page. Each must have the wanted payload. With
// its cache, the engine takes the body of another record with the same payload digest, whatever its framing.
func enginePlays(t *testing.T, worker, file string, all []wanted, cache bool) {
	t.Helper()
	text, err := json.Marshal(all)
	archivetest.Must(t, err)
	name := filepath.Base(file)
	p := browser.Open(t, 200, 100)
	p.Go(serve(t, worker, name, file))
	if got := p.Eval(fmt.Sprintf("load(%q, %t)", "/"+name, !cache)); got != `"loaded"` {
		t.Fatalf("the loaded collection is %s", got)
	}
	var wrong []string
	archivetest.Must(t, json.Unmarshal([]byte(p.Eval(fmt.Sprintf(replayed, text))), &wrong))
	for i, w := range wrong {
		t.Errorf("capture %d of %d that differ, of %d: %s", i+1, len(wrong), len(all), w)
	}
}

// TestReplayToolsFindOddURIs plays captures of URIs with characters and parameters that keys often treat wrongly, with
// the engine of ReplayWeb.page from a package, and with pywb.
func TestReplayToolsFindOddURIs(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	l := archivetest.New(t)
	for i, target := range []string{
		"/i;jsessionid=0123456789ABCDEF0123456789abcdef?y=1", "/j;jsessionid=0123456789abcdef0123456789abcdef",
		"/a|b", "/a[1]", "/[x]/y?z[0]=1|2", "/q?a-b=1&a=2", "/q?a[]=1&a=0", "/caf%C3%A9?q=%C3%A9", "/%7Bcurly%7D", "/a%7Cc",
		"/a%5B2%5D", "/UPPER/Case?Q=R", "/a//b/", "/semi;colon=1", "/plus+plus?x=a+b", "/tick%60%22", "/star*(1)!'~", "/a^b?^",
		"/%25", "/a%2Fb", "/a%3Fb", "/?", "/x?&", "/x?a&&b=", "/q?mysid=0123456789abcdef0123456789abcdef&b=1", "/b?\\",
	} {
		u, err := uri.Parse("http://odd.example" + target)
		archivetest.Must(t, err)
		l.Page(u.String(), archivetest.HTMLHead, fmt.Sprintf("<!doctype html><title>%d</title>", i))
	}
	l.Seal()
	all := everyCapture(t, l)
	t.Run("wabac", func(t *testing.T) {
		t.Parallel()
		pack := filepath.Join(t.TempDir(), "archive.wacz")
		packedAs(t, pack, l.Files(), Options{})
		enginePlays(t, foreign.ReplayWorker(t), pack, all, true)
	})
	t.Run("pywb", func(t *testing.T) {
		t.Parallel()
		var lines strings.Builder
		_, err := index.Build(t.Context(), l.Files(), index.Options{}, &lines, noFinding)
		archivetest.Must(t, err)
		pywbPlays(t, foreign.Pywb(t, l.Dir, archivetest.Save(t, "index.cdxj", []byte(lines.String()))), all, false)
	})
}

// join writes the files one after the other into a new one.
func join(t *testing.T, to string, files []string) {
	t.Helper()
	var all []byte
	for _, f := range files {
		all = append(all, archivetest.Read(t, f)...)
	}
	archivetest.Must(t, os.WriteFile(to, all, 0o644))
}

// TestPywbShowsEveryVersion plays every capture of an archive with pywb, with the index of a package, with one of
// whole seconds, as the daemon keeps it, and with the indexes that pywb's and py-wacz's indexers make. Each must have
// the payload that `arcrawl cat` prints. The captures of one URI within one second are left out: pywb compares dates
// by the second, whatever the index has.
func TestPywbShowsEveryVersion(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	l := archivetest.Versioned(t)
	all := slices.DeleteFunc(everyCapture(t, l), func(c wanted) bool { return strings.Contains(c.URI, "/moment") })
	ours := func(milliseconds bool) func(t *testing.T) string {
		return func(t *testing.T) string {
			t.Helper()
			var lines strings.Builder
			_, err := index.Build(t.Context(), l.Files(), index.Options{Milliseconds: milliseconds}, &lines, noFinding)
			archivetest.Must(t, err)
			return lines.String()
		}
	}
	theirs := func(program string, options ...string) func(t *testing.T) string {
		return func(t *testing.T) string {
			t.Helper()
			out, errs, err := foreign.Program(t, program, slices.Concat(options, l.Files())...)
			if err != nil {
				t.Fatalf("%s: %v\n%s", program, err, errs)
			}
			lines := strings.SplitAfter(out, "\n")
			slices.Sort(lines)
			return strings.Join(lines, "")
		}
	}
	for name, make := range map[string]func(t *testing.T) string{
		"milliseconds": ours(true), "seconds": ours(false),
		"cdx-indexer": theirs("cdx-indexer", "--cdxj"), "cdxj-indexer": theirs("cdxj-indexer"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			player := foreign.Pywb(t, l.Dir, archivetest.Save(t, "index.cdxj", []byte(make(t))))
			pywbPlays(t, player, all, name == "milliseconds")
		})
	}
}

// pywbPlays plays captures with pywb. Each must have the wanted payload.
func pywbPlays(t *testing.T, player string, all []wanted, milliseconds bool) {
	t.Helper()
	for _, c := range all {
		stamp := c.Stamp
		if !milliseconds {
			stamp = stamp[:len(index.DateLayout)]
		}
		if status, b := load(t, player+stamp+"id_/"+c.URI); !c.is(b) {
			t.Errorf("%s %s: %s %.80q", c.Stamp, c.URI, status, b)
		}
	}
	t.Logf("pywb played %d captures", len(all))
}

// is reports whether a payload is the wanted one.
func (w wanted) is(payload []byte) bool {
	sum := sha256.Sum256(payload)
	return slices.Contains(w.Sums[:], hex.EncodeToString(sum[:]))
}

// load returns what is at an address, also if the body is shorter than its Content-Length, as in a truncated capture.
func load(t *testing.T, address string) (status string, body []byte) {
	t.Helper()
	client := &http.Client{
		Timeout:       time.Minute,
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Get(address)
	archivetest.Must(t, err)
	defer answer.Body.Close() //nolint:errcheck // nothing was written
	body, err = io.ReadAll(answer.Body)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	return answer.Status, body
}

// TestOtherProgramsAcceptTheArchive lets programs check the digests and the form of an archive with versions, revisits,
// cut responses and all codings. Each must also find the fault in a file whose payload was changed.
func TestOtherProgramsAcceptTheArchive(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	l := archivetest.Versioned(t)
	response := archivetest.Response("bad", "http://www.a.example/", archivetest.HTMLHead, "<p>one</p>")
	bad := archivetest.Save(t, "bad.warc.gz",
		archivetest.Zipped(t, archivetest.Info, strings.Replace(response, "<p>one</p>", "<p>two</p>", 1)))
	good, broken := filepath.Join(t.TempDir(), "good.wacz"), filepath.Join(t.TempDir(), "broken.wacz")
	packedAs(t, good, l.Files(), Options{})
	text := archivetest.Read(t, good)
	at := len(text) / 3 // in a WARC file
	archivetest.Must(t, os.WriteFile(broken, []byte(text[:at]+string(text[at]^1)+text[at+1:]), 0o600))
	for _, c := range []struct {
		program   string
		args      []string
		good, bad []string
		known     string // what it says of the versions of one page, and why that is no fault
		why       string
	}{
		{
			"warcio",
			[]string{"check"},
			l.Files(),
			[]string{bad},
			"payload digest failed",
			"it takes the digest of a chunked body with its chunks, against WARC/1.1, 6.3.2",
		},
		{
			"jwarc",
			[]string{"validate"},
			l.Files(),
			[]string{bad},
			"invalid HTTP header Content-Length",
			"it does not know that a body with WARC-Truncated is shorter than its Content-Length",
		},
		{"wacz", []string{"validate", "-f"}, []string{good}, []string{broken}, "", ""},
		{
			"jwat",
			nil,
			l.Files(),
			[]string{bad},
			"Incorrect payload digest",
			"it takes the digest of a chunked body with its chunks, as warcio does",
		},
		{"solrwayback", nil, l.Files(), []string{bad}, "", ""},
	} {
		t.Run(c.program, func(t *testing.T) {
			t.Parallel()
			want := 0
			if c.known != "" {
				want = archivetest.Versions
			}
			out, errs, err := foreign.Program(t, c.program, slices.Concat(c.args, c.good)...)
			out += errs
			known := strings.Count(out, c.known)
			if c.known == "" {
				known = 0
			}
			if all := strings.Count(out, "failed"); err != nil && want == 0 || known != want || all > want {
				t.Errorf("%s says %q %d times, want %d (%s), and %d other faults: %v\n%s",
					c.program, c.known, known, want, c.why, all-known, err, out)
			}
			if out, _, err := foreign.Program(t, c.program, slices.Concat(c.args, c.bad)...); err == nil {
				t.Errorf("%s finds no fault in %s\n%s", c.program, c.bad, out)
			}
		})
	}
}

// TestAnotherIndexerFindsTheSameCaptures compares our index of an archive with the one of py-wacz's indexer: key,
// second, URI, media type, status, digest, and the place of each capture.
func TestAnotherIndexerFindsTheSameCaptures(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	l := archivetest.Versioned(t)
	captures := func(text string) map[string]bool {
		all := map[string]bool{}
		for line := range strings.Lines(text) {
			e, err := index.ParseEntry(strings.TrimSpace(line))
			archivetest.Must(t, err)
			if !strings.HasPrefix(e.URL, "http") { // the other records are about no page
				continue
			}
			all[strings.Join([]string{
				e.Key, e.Timestamp, e.URL, e.MIME, e.Status, e.Digest, e.Filename,
				strconv.FormatInt(e.Offset, 10), strconv.FormatInt(e.Length, 10),
			}, " ")] = true
		}
		return all
	}
	var ours strings.Builder
	_, err := index.Build(t.Context(), l.Files(), index.Options{}, &ours, func(f warc.Finding) error { return &f })
	archivetest.Must(t, err)
	out, errs, err := foreign.Program(t, "cdxj-indexer", l.Files()...)
	if err != nil {
		t.Fatalf("cdxj-indexer: %v\n%s", err, errs)
	}
	a, b := captures(ours.String()), captures(out)
	for line := range maps.Keys(a) {
		if !b[line] {
			t.Errorf("only we have     %s", line)
		}
	}
	for line := range maps.Keys(b) {
		if !a[line] {
			t.Errorf("only it has      %s", line)
		}
	}
	if len(a) == 0 {
		t.Error("there are no captures")
	}
	t.Logf("both have %d captures", len(a))
}
