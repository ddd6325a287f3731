package curator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// newspaper is one whose front page is drawn.
type newspaper struct {
	uri, title string
	color      color.RGBA
	each       time.Duration // between two pictures
}

var newspapers = []newspaper{
	{"http://courier.example/", "The Courier", color.RGBA{0x16, 0x2d, 0x50, 255}, time.Hour},
	{"http://tidende.example/", "Havne\u00adtidende", color.RGBA{0xb0, 0x2a, 0x30, 255}, 2 * time.Hour},
	{"http://gazette.example/", "Island Gazette", color.RGBA{0x1c, 0x6b, 0x4a, 255}, 3 * time.Hour},
}

// front draws a front page, scale times smaller than a browser shows it. With each hour a new story is on top, and the
// others move down.
func (p newspaper) front(hour, scale int) []byte {
	m := image.NewRGBA(image.Rect(0, 0, 1280/scale, 3400/scale))
	fill := func(x, y, w, h int, c color.Color) {
		draw.Draw(m, image.Rect(x/scale, y/scale, (x+w)/scale, (y+h)/scale), image.NewUniform(c), image.Point{}, draw.Src)
	}
	gray := func(v uint8) color.Color { return color.RGBA{v, v, v, 255} }
	fill(0, 0, 1280, 3400, color.White)
	fill(0, 0, 1280, 110, p.color)
	fill(60, 36, 420, 40, color.White)
	lines := func(x, y, w, n, seed int, height, rest int, c color.Color) {
		for i := range n {
			long := w - w/10*((seed*7+i*5)%4)
			for at := 0; at < long; at += 24 + (seed+i+at)%40 { // words
				fill(x+at, y+i*(height+rest), min(18+(seed+i+at)%40-6, long-at), height, c)
			}
		}
	}
	for i, y := 0, 150; y < 3100; i++ {
		story := 100 + hour - i
		shade := uint8(60 + story*37%150)
		high := 420
		if i > 0 {
			high = 240
		}
		if i == 0 || story%2 == 0 {
			fill(60, y, 1160*2/3, high, color.RGBA{shade, uint8(200 - story*23%120), uint8(90 + story*51%140), 255})
			fill(60+40, y+high/2, 400, high/3, color.RGBA{uint8(story * 40), 90, shade, 255})
			lines(870, y, 350, 4, story+100, 30, 14, gray(25))
			lines(870, y+190, 350, 5, story, 8, 10, gray(150))
			y += high + 50
			continue
		}
		for column := range 3 {
			fill(60+column*400, y, 360, 160, color.RGBA{uint8(120 + story*17%90), shade, uint8(70 + column*60), 255})
			lines(60+column*400, y+180, 340, 2, story+column, 20, 10, gray(30))
			lines(60+column*400, y+250, 340, 4, story*3+column, 7, 8, gray(160))
		}
		y += 340
	}
	fill(0, 3280, 1280, 120, p.color)
	var out bytes.Buffer
	_ = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, m) // into memory
	return out.Bytes()
}

// frontsOf archives versions and pictures of newspapers from the evening of 2026-11-28 until 14:00 of the next day.
func frontsOf(t *testing.T, scale int) *archived {
	t.Helper()
	w := newArchived(t)
	begin := time.Date(2026, 11, 28, 18, 0, 7, 0, time.UTC)
	for i, p := range newspapers {
		for at := begin; at.Before(begin.Add(20 * time.Hour)); at = at.Add(p.each) {
			hour := int(at.Sub(begin).Hours())
			w.Now = at.Add(time.Duration(i*4) * time.Minute)
			date := w.Now
			w.add(w.Page(p.uri, archivetest.HTMLHead, fmt.Sprintf("<title>%s</title><p>%d", p.title, hour)), "text/html", 200)
			if i == 0 && at.Hour() == 9 {
				continue // it was never rendered
			}
			w.Now = date.Add(11 * time.Second)
			w.add(w.Resource(fullPage+p.uri, "image/png", p.front(hour, scale)), "image/png", 200)
		}
	}
	return w
}

const frontsTOML = everyHour + "[warc]\nprefix = \"test\"\nseries_names = [\"vault\"]\nabout = [{ series = \"vault\", embargo = \"2999-01-01\" }]\n"

// frontsWorld is a crawl with the front pages of newspapers.
func frontsWorld(t *testing.T, archive *index.Live) *world {
	t.Helper()
	files := map[string]string{}
	for _, p := range newspapers {
		name := strings.TrimSuffix(strings.TrimPrefix(p.uri, "http://"), ".example/")
		files[name] = fmt.Sprintf("host = \"%s.example\"\ntitle = %q\nlabels = [\"papers\"]\n", name, p.title)
	}
	w := newWorld(t, hostFiles(t, files), frontsTOML)
	t.Cleanup(w.Close)
	w.shows(archive)
	return w
}

// signedIn serves the window of a world to somebody who has signed in.
func signedIn(t *testing.T, w *world) *httptest.Server {
	t.Helper()
	window := w.window.Handler(access.Options{})
	site := httptest.NewServer(http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		if r.URL.Path == api.Base+"/me" {
			_, _ = io.WriteString(to, `{"name": "maria.the.curator@library.example", "role": "curate", "way": "session"}`)
			return
		}
		window.ServeHTTP(to, r)
	}))
	t.Cleanup(site.Close)
	return site
}

// TestFrontPagesAreSeenInABrowser looks at front pages as a curator does: from the menu, by links and by keys, in both
// themes, on a wide and on a narrow screen. axe-core looks at each page.
func TestFrontPagesAreSeenInABrowser(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	axe := foreign.Axe(t)
	w := frontsWorld(t, frontsOf(t, 1).live)
	for i, c := range []api.Capture{
		{At: time.Date(2026, 11, 29, 7, 0, 9, 0, time.UTC), Change: &api.Change{Kinds: []string{"headline", "text"}, Headlines: []string{"Ferries stay in the harbour", "First ferry leaves after the storm"}}},
		{At: time.Date(2026, 11, 29, 12, 0, 9, 0, time.UTC), Change: &api.Change{Kinds: []string{"links", "pictures"}}},
	} {
		c.URI, c.Host, c.Kind = newspapers[0].uri, "courier.example", api.CaptureChanged
		_, err := w.curation.changes.store.Add(c, c.At.Add(time.Duration(i)*time.Second))
		must(t, err)
	}
	site := signedIn(t, w)
	(&fakeBrowser{picture: newspapers[0].front(15, 1)}).opens(w)
	for name, narrow := range map[string]bool{"light": false, "dark": false, "light-narrow": true, "dark-narrow": true} {
		t.Run(name, func(t *testing.T) {
			p := browser.Open(t, 1280, 1000)
			if strings.HasPrefix(name, "dark") {
				p.Dark()
			}
			if narrow {
				p.Resize(390, 844)
			}
			look := func(what string) {
				t.Helper()
				p.Wait(`[...document.querySelectorAll("main img")].every((i) => i.complete && i.naturalWidth || i.loading === "lazy" && !i.complete)`)
				p.Check(axe, "{}", what)
				browser.Keep(t, "fronts-"+name+"-"+what, p.Screenshot())
			}
			p.Go(site.URL + "/#/")
			p.ClickOn(`[...document.querySelectorAll("header nav a")].find((a) => a.textContent === "Front pages")`)
			p.Says("Sunday, 29 November 2026")
			p.Says("The Courier")
			p.Says("14 versions, 1")
			p.Says("First ferry leaves after the storm")
			p.Wait(`document.querySelectorAll(".film img")[1].naturalWidth === 400`)
			look("strips")
			p.Eval(`document.querySelector(".film").focus()`)
			p.Eval(`(() => { const key = (k) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true })); key("ArrowRight"); key("ArrowRight"); key("ArrowRight"); key("ArrowDown") })()`)
			if got := p.Eval(`document.activeElement.firstElementChild.alt`); !strings.Contains(got, "Island Gazette at 03:08") {
				t.Errorf("the keys lead to %s", got)
			}
			if name == "light" { // others see the picture that was made
				p.Click("Make a picture")
				p.Says("made later")
			}
			p.Click("Side by side")
			p.Wait(`document.querySelectorAll(".abreast img").length === 3`)
			p.Eval(`(() => { const r = document.querySelector("main input[type=range]"); r.value = 540; r.dispatchEvent(new Event("input")) })()`)
			p.Says("since 08:04")
			p.Wait(`location.hash.includes("t=540")`)
			look("side")
			p.Click("Film strips")
			p.ClickOn(`document.querySelectorAll(".film input[type=checkbox]")[3]`)
			p.ClickOn(`document.querySelectorAll(".film input[type=checkbox]")[4]`)
			p.Click("Compare 06:04 with 08:04")
			p.Says("2026-11-29 06:04")
			p.Wait(`document.querySelectorAll(".stage img").length === 2 && [...document.querySelectorAll(".stage img")].every((i) => i.naturalWidth === 800)`)
			p.Says("% of the picture is new")
			p.Wait(`document.querySelectorAll(".marks .changed").length > 0 && document.querySelectorAll(".marks .moved").length > 0`)
			look("slider")
			p.Click("Next change")
			p.Click("Film strip")
			p.Says("Sunday, 29 November 2026")
			p.ClickOn(`document.querySelector(".calendar td a")`)
			p.Says("Saturday, 28 November 2026")
			p.Says("3 versions, 3 pictures")
		})
	}
}

// TestTheFilmStripOfADay asks for months and days. A picture belongs to the version before it.
func TestTheFilmStripOfADay(t *testing.T) {
	t.Parallel()
	w := frontsWorld(t, frontsOf(t, 8).live)
	u := url.QueryEscape(newspapers[0].uri)
	if got := get[api.Fronts](w, "/api/v1/fronts"); len(got.Pages) != 3 || got.Pages[0].Title != "Havne\u00adtidende" {
		t.Errorf("the pages are %+v", got)
	}
	month := get[FrontMonth](w, "/api/v1/fronts/month?uri="+u)
	want := []FrontDayCount{{"2026-11-28", 6, 6}, {"2026-11-29", 14, 13}}
	if month.Month != "2026-11" || month.Last != "2026-11-29" || !slices.Equal(month.Days, want) {
		t.Errorf("the month is %+v, want %+v", month, want)
	}
	day := get[FrontDay](w, "/api/v1/fronts/day?uri="+u+"&day=2026-11-29")
	if len(day.Frames) != 14 || day.Before == nil || day.Before.Picture != "20261128230018" {
		t.Fatalf("the day is %+v", day)
	}
	for i, f := range day.Frames {
		at := fmt.Sprintf("20261129%02d0007", i)
		picture := fmt.Sprintf("20261129%02d0018", i)
		if i == 9 {
			picture = ""
		}
		if f.At != at || f.Picture != picture || f.Late {
			t.Errorf("frame %d is %+v, want %s and %s", i, f, at, picture)
		}
	}
	small := w.serve("GET", api.Base+"/picture?rendered=true&size=thumb&at="+day.Frames[3].Picture+"&uri="+u, "")
	c, _, err := image.DecodeConfig(bytes.NewReader(small))
	if err != nil || c.Width != 160 || c.Height != 425 || len(small) > 60_000 {
		t.Errorf("a small picture has %d bytes, %d × %d, %v", len(small), c.Width, c.Height, err)
	}
	if files := w.curation.shots.small.files; len(files) != 1 {
		t.Errorf("%d small pictures are kept, want 1", len(files))
	}
}

// TestPicturesUnderAnEmbargoAreForCurators has pictures in a series under an embargo, and without one.
func TestPicturesUnderAnEmbargoAreForCurators(t *testing.T) {
	t.Parallel()
	a := newArchived(t)
	p := newspapers[0]
	a.add(a.Page(p.uri, archivetest.HTMLHead, "free"), "text/html", 200)
	free := a.add(a.Resource(fullPage+p.uri, "image/png", p.front(1, 8)), "image/png", 200)
	a.Series = "vault"
	a.Now = a.Now.Add(time.Hour)
	a.add(a.Page(p.uri, archivetest.HTMLHead, "closed"), "text/html", 200)
	closed := a.add(a.Resource(fullPage+p.uri, "image/png", p.front(2, 8)), "image/png", 200)
	only := newspapers[1].uri
	a.add(a.Resource(fullPage+only, "image/png", p.front(3, 8)), "image/png", 200)
	w := frontsWorld(t, a.live)
	u := "uri=" + url.QueryEscape(p.uri)
	for role, want := range map[access.Role]struct {
		pages, frames int
		differ        bool
	}{
		access.Read: {1, 1, false}, access.Curate: {2, 2, true},
	} {
		as := func(path string) *httptest.ResponseRecorder { return w.as(role, path) }
		var pages api.Fronts
		var day FrontDay
		var month FrontMonth
		must(t, json.Unmarshal(as("fronts").Body.Bytes(), &pages))
		must(t, json.Unmarshal(as("fronts/day?"+u).Body.Bytes(), &day))
		must(t, json.Unmarshal(as("fronts/month?"+u).Body.Bytes(), &month))
		if len(pages.Pages) != want.pages || len(day.Frames) != want.frames || len(month.Days) != 1 ||
			month.Days[0].Pictures != want.frames {
			t.Errorf("%s sees %+v, %+v and %+v", role, pages, day, month)
		}
		for _, size := range []string{"", "&size=thumb", "&size=sheet"} {
			open := as("picture?rendered=true&" + u + "&at=" + stamp(free) + size)
			if open.Code != http.StatusOK {
				t.Errorf("%s does not get the free picture%s: %d %s", role, size, open.Code, open.Body)
			}
			nearest := as("picture?rendered=true&" + u + "&at=" + stamp(closed) + size)
			if differ := open.Body.String() != nearest.Body.String(); differ != want.differ {
				t.Errorf("%s gets the picture under the embargo%s: %v, want %v", role, size, differ, want.differ)
			}
		}
	}
}
