package curator

import (
	"bytes"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/demosite"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/warcout"
)

const (
	courier  = "http://courier.example/"
	liveblog = courier + "live.html"
	demoDay  = 6 * time.Minute // the demo plays an hour in about a minute
)

// demoBegins is nine hours after the beginning of every bubble.
var demoBegins = time.Date(2000, 1, 1, 9, 0, 0, 0, time.UTC)

// frontPictures returns how Chromium shows the front page of the demo in each second of its day.
func frontPictures(t *testing.T) (pictures [][]byte) {
	t.Helper()
	var age atomic.Int64
	now := func() time.Time { return demoBegins.Add(time.Duration(age.Load()) * time.Second) }
	site := demosite.New(demoBegins).Handler(now)
	served := httptest.NewServer(site)
	t.Cleanup(served.Close)
	p := browser.Open(t, 1280, 900)
	var last string
	var picture bytes.Buffer
	for ; now().Before(demoBegins.Add(demoDay)); age.Add(1) {
		got := httptest.NewRecorder()
		site.ServeHTTP(got, httptest.NewRequest(http.MethodGet, courier, nil))
		if got.Body.String() != last {
			last = got.Body.String()
			p.Go(served.URL)
			high, err := strconv.ParseInt(p.Eval(`document.documentElement.scrollHeight`), 10, 64)
			must(t, err)
			p.Resize(1280, high)
			picture.Reset()
			must(t, png.Encode(&picture, p.Screenshot()))
		}
		pictures = append(pictures, bytes.Clone(picture.Bytes()))
	}
	return pictures
}

// question returns a request for the API, as the dashboard sends it.
func question(path string, parameters ...string) string {
	q := url.Values{}
	for i := 0; i < len(parameters); i += 2 {
		q.Set(parameters[i], parameters[i+1])
	}
	return path + "?" + q.Encode()
}

// demo is the day of the demo, as the API answers.
type demo struct {
	*recorded
	gone  []api.Capture // the changes of an article that is withdrawn, newest first
	grown api.Capture   // the last change of the liveblog
	strip []Frame       // the front page
}

// demoInABrowser crawls the demo for its day, with pictures of each version of the front page. It records the answers
// of the API for what a curator sees of that.
func demoInABrowser(t *testing.T) (d demo) {
	t.Helper()
	pictures, dir := frontPictures(t), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(demoBegins))
		toml := string(demosite.Config("courier.example", "127.0.0.1:1", "", "")) +
			"about = [{ uri = \"" + courier + "\", title = \"The Harrowmere Courier\", labels = [\"papers\"] }]\n"
		w := newWorld(t, dir, toml)
		defer w.Close()
		w.Town.Serve("courier.example", demosite.New(time.Now()).Handler(time.Now))
		w.Every = 10 * time.Second
		w.Run(demoDay)
		synctest.Wait()
		w.indexed()
		for _, v := range versionsOf(w, courier) {
			_, err := w.Parts.Archive.WriteResource(time.Now(), warcout.Resource{
				URI: fullPage + courier, Date: v.Date.Add(time.Second), ContentType: "image/png",
				Content: pictures[int(v.Date.Sub(demoBegins).Seconds())],
			})
			w.Must(err)
		}
		w.indexed()
		d = recordTheDemo(w)
	})
	return d
}

// versionsOf returns the versions of a page that differ from the one before, newest first.
func versionsOf(w *world, page string) (list []Version) {
	w.Helper()
	for _, v := range get[Versions](w, api.Base+"/"+question("versions", "uri", page)).Versions {
		if v.Changed {
			list = append(list, v)
		}
	}
	return list
}

// indexed lets the pages show what the crawl has archived so far.
func (w *world) indexed() {
	w.Helper()
	folder := w.Parts.Config.Current().Storage.WARC
	w.Must(w.Parts.Archive.Seal(time.Now()))
	ignored := func(warc.Finding) error { return nil }
	path := filepath.Join(folder, index.FileName)
	_, err := index.WriteFile(w.Context(), []string{folder}, index.Options{}, path, ignored)
	w.Must(err)
	live, err := index.OpenLive(w.Context(), folder, nil, ignored)
	w.Must(err)
	w.Cleanup(func() { _ = live.Close() })
	w.shows(live)
}

// recordTheDemo records the answers for the pages that TestTheDemosDayIsSeenByMenusAndLinks opens.
func recordTheDemo(w *world) demo {
	w.Helper()
	r := newRecorded()
	r.record(w, "status?", "names?", "new?", "new?limit=1", "new?kind=first", "new?change=headline", "new?removed=20",
		"new?change=withdrawn", "new?change=text", "new?change=links", "fronts?")
	r.answers[api.Base+"/me?"] = []byte(`{"name": "maria", "role": "curate", "way": "session"}`)
	gone := get[api.New](w, api.Base+"/new?change=withdrawn").Captures[0].URI
	for _, page := range []string{gone, courier, liveblog} {
		r.record(w, question("uri", "uri", page), question("why", "uri", page), question("versions", "uri", page),
			history(page))
	}
	d := demo{recorded: r, gone: get[api.New](w, api.Base+"/"+history(gone)).Captures}
	d.grown = get[api.New](w, api.Base+"/"+history(liveblog)).Captures[0]
	r.record(w, question("compare", "at", d.grown.At.Format(index.DateLayout), "before", d.grown.Change.Before,
		"uri", liveblog, "what", "text"))
	day := question("fronts/day", "day", demoBegins.Format(time.DateOnly), "uri", courier)
	for _, month := range []string{"", "2000-01"} {
		r.record(w, question("fronts/month", "month", month, "uri", courier), day)
	}
	d.strip = get[FrontDay](w, api.Base+"/"+day).Frames
	for _, f := range d.strip {
		for _, size := range []string{"thumb", "sheet"} {
			r.record(w, question("picture", "at", f.Picture, "rendered", "true", "size", size, "uri", courier))
		}
	}
	before, last := d.strip[len(d.strip)-2], d.strip[len(d.strip)-1]
	r.record(w, question("fronts/moved", "at", last.Picture, "before", before.Picture, "before_late", "false",
		"before_uri", courier, "late", "false", "uri", courier))
	return d
}

// history returns the request for all changes of a page.
func history(page string) string {
	return question("new", "change", "any", "limit", "100", "uri", page)
}

// sight is something that a curator sees after at most two clicks from the home page.
type sight struct {
	name   string
	clicks []string // JavaScript that finds what is clicked, or chosen in a menu
	says   []string
}

// chosen is a click on an entry of a menu of the page What is new.
func chosen(menu, value string) string {
	return `(() => { const s = document.querySelector("select[name=` + menu + `]"); if (!s) return null; s.value = "` + value +
		`"; s.dispatchEvent(new Event("change")); return s })()`
}

// clicked is a click on the first link with a text, in a part of the page.
func clicked(in, text string) string {
	return `[...document.querySelectorAll("` + in + ` a")].find((a) => a.textContent.trim() === ` + strconv.Quote(text) + `)`
}

// itemOf is a click on a link of what is new about a page with a title.
func itemOf(title, link string) string {
	return `[...document.querySelectorAll(".stream > li")].find((li) => li.innerText.includes(` + strconv.Quote(title) + `))?.querySelector("` + link + `")`
}

// sights returns what happens in the demo on its day.
func (d demo) sights() []sight {
	withdrawn, shortened, softened := d.gone[0].Change, d.gone[1].Change, d.gone[2].Change
	old, mild := softened.Headlines[0], softened.Headlines[1]
	end := fmt.Sprintf("withdrawn after %d versions", withdrawn.Earlier)
	cut := fmt.Sprintf("\u2212%d words", shortened.Words.Removed)
	entry := d.grown.Change.First[0].Text
	fronts := clicked("header nav", "Front pages")
	return []sight{
		{"published", []string{chosen("kind", "first")}, []string{"Fabian Oke to blame for the flood in Ferrymans Row", "first capture"}},
		{"softened", []string{chosen("change", "headline")}, []string{old, mild}},
		{"shortened", []string{chosen("change", "removed-20")}, []string{cut, shortened.First[0].Text}},
		{"withdrawn", []string{chosen("change", "withdrawn")}, []string{mild, end}},
		{"life", []string{chosen("change", "withdrawn"), itemOf(mild, ".what > a")}, []string{end, cut, old, mild, "first capture"}},
		{"liveblog", []string{chosen("change", "text")}, []string{
			"Storm over Harrowmere", fmt.Sprintf("+%d words", d.grown.Change.Words.Added), entry,
		}},
		{"entries", []string{chosen("change", "text"), itemOf("Storm over Harrowmere", ".see a")}, []string{"lines differ", entry}},
		{"links", []string{chosen("change", "links")}, []string{"+1, \u22121 link"}},
		{"strip", []string{fronts}, []string{"Saturday, 1 January 2000", fmt.Sprintf("%d versions, %[1]d pictures", len(d.strip))}},
		{"slider", []string{fronts, `[...document.querySelectorAll(".film a")].at(-1)`}, []string{"% of the picture is new"}},
		{"side", []string{fronts, clicked("main", "Side by side")}, []string{"The Harrowmere Courier since 09:05"}},
	}
}

// TestTheDemosDayIsSeenByMenusAndLinks crawls the demo while an article is published, its headline softened, a
// paragraph removed, and the article withdrawn, while a liveblog grows and the front page turns over. A curator sees
// each of these within two clicks from the home page, in both themes, on a wide and on a narrow screen. axe-core looks
// at each page.
func TestTheDemosDayIsSeenByMenusAndLinks(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	axe := foreign.Axe(t)
	d := demoInABrowser(t)
	site := httptest.NewServer(d)
	t.Cleanup(site.Close)
	for name, narrow := range map[string]bool{"light": false, "dark": false, "light-narrow": true, "dark-narrow": true} {
		t.Run(name, func(t *testing.T) {
			p := browser.Open(t, 1280, 1000)
			if strings.HasPrefix(name, "dark") {
				p.Dark()
			}
			if narrow {
				p.Resize(390, 844)
			}
			for _, s := range d.sights() {
				p.Go("about:blank")
				p.Go(site.URL + "/#/")
				for _, click := range s.clicks {
					p.ClickOn(click)
					p.Wait(`document.getElementById("view").dataset.ready === location.hash.slice(2)`)
				}
				for _, text := range s.says {
					p.Says(text)
				}
				p.Eval(`unseen = (i) => (({ top, left }) => top > innerHeight || left > innerWidth)(i.getBoundingClientRect()); 0`)
				p.Wait(`[...document.querySelectorAll("main img")].every((i) => i.complete && i.naturalWidth || unseen(i))`)
				browser.Keep(t, "day-"+name+"-"+s.name, p.Screenshot())
				p.Check(axe, "{}", s.name)
			}
		})
	}
}
