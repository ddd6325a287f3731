package demosite

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
)

// begin has a fraction of a second and is not at the start of a minute, like a real one.
var begin = time.Date(2026, time.March, 3, 9, 14, 31, 250_000_000, time.UTC)

// ask requests a path of the site at a time after its beginning. Extra are header names and values.
func ask(s *Site, path string, age time.Duration, extra ...string) *http.Response {
	r := httptest.NewRequest(http.MethodGet, "http://courier.example"+path, nil)
	for i := 0; i+1 < len(extra); i += 2 {
		r.Header.Set(extra[i], extra[i+1])
	}
	w := httptest.NewRecorder()
	s.Handler(func() time.Time { return begin.Add(age) }).ServeHTTP(w, r)
	return w.Result()
}

func text(t *testing.T, res *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// everything lists each fixed path and some articles and pictures, of the stock and of later.
func everything(s *Site) []string {
	paths := []string{"/nothing.html", "/articles/", "/images/9999.png"}
	for path := range fixed {
		paths = append(paths, path)
	}
	for number := 1; number <= stock+8; number += 6 {
		st := s.story(number, 0)
		paths = append(paths, st.Path(), st.Picture(), st.LargePicture())
	}
	slices.Sort(paths)
	return paths
}

func TestTheSameMomentGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	one, two := New(begin), New(begin)
	for _, path := range everything(one) {
		for _, age := range []time.Duration{-time.Hour, 33 * time.Second, 26 * time.Hour} {
			a := ask(one, path, age)
			ask(one, path, age+time.Minute) // another moment in between leaves no trace
			b := ask(two, path, age+300*time.Millisecond)
			if diff := cmp.Diff(a.Header, b.Header); diff != "" || a.StatusCode != b.StatusCode || text(t, a) != text(t, b) {
				t.Errorf("%s at %v: two answers: %d and %d, headers %s", path, age, a.StatusCode, b.StatusCode, diff)
			}
		}
	}
}

// TestRhythmCountsItsMoments compares the count with a walk through the moments.
func TestRhythmCountsItsMoments(t *testing.T) {
	t.Parallel()
	wobbling := rhythm{every: 45 * time.Second, wobble: 9 * time.Second, salt: 7}
	for _, r := range []rhythm{headlines, wobbling, {every: time.Minute}} {
		come := 0
		for age := time.Duration(0); age < 3*time.Hour; age += time.Second {
			for r.moment(come+1) <= age {
				come++
			}
			if got := r.count(age); got != come {
				t.Fatalf("%+v: count(%v) = %d, but %d moments have come", r, age, got, come)
			}
		}
	}
}

func TestValidators(t *testing.T) {
	t.Parallel()
	s := New(begin)
	article := s.story(stock, 0)
	tests := []struct {
		name         string
		path         string
		etag, dated  bool
		byETag, byIM int // status of a conditional request
	}{
		{"the front page has none", "/", false, false, 200, 200},
		{"the ticker has none", "/ticker.html", false, false, 200, 200},
		{"a section is dated only", "/world/", false, true, 200, 304},
		{"the about page has both", "/about.html", true, true, 304, 304},
		{"an article has both", article.Path(), true, true, 304, 304},
		{"a picture has both", article.Picture(), true, true, 304, 304},
		{"the style sheet has both", "/style.css", true, true, 304, 304},
		{"the feed has both", "/feed.xml", true, true, 304, 304},
		{"the archive has a tag and sends itself all the same", "/archive.html", true, false, 200, 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			const age = 3*time.Second + 100*time.Millisecond // no change of anything for some seconds
			res := ask(s, tt.path, age)
			etag, modified := res.Header.Get("ETag"), res.Header.Get("Last-Modified")
			if (etag != "") != tt.etag || (modified != "") != tt.dated {
				t.Fatalf("GET %s: ETag %q, Last-Modified %q", tt.path, etag, modified)
			}
			byETag := ask(s, tt.path, age, "If-None-Match", etag)
			byIM := ask(s, tt.path, age, "If-Modified-Since", modified)
			if byETag.StatusCode != tt.byETag || byIM.StatusCode != tt.byIM {
				t.Errorf("GET %s: %d by ETag and %d by date, want %d and %d", tt.path, byETag.StatusCode, byIM.StatusCode, tt.byETag, tt.byIM)
			}
			if byETag.StatusCode == http.StatusNotModified && (text(t, byETag) != "" || byETag.Header.Get("ETag") != etag) {
				t.Errorf("the 304 of %s has a body, or not the ETag %s", tt.path, etag)
			}
		})
	}
}

// TestValidatorsNeverLie asks every second with the validators of the second before: 304 exactly when nothing changed.
func TestValidatorsNeverLie(t *testing.T) {
	t.Parallel()
	s := New(begin)
	for _, path := range []string{"/world/", "/sport/", "/feed.xml", "/live.html", s.story(stock+1, 0).Path(), s.story(stock+2, 0).Path()} {
		var body, etag, modified string
		for age := time.Duration(0); age < 5*time.Minute; age += time.Second {
			res := ask(s, path, age)
			now := text(t, res)
			if res.StatusCode != http.StatusOK {
				continue // not published yet
			}
			want := http.StatusOK
			if now == body {
				want = http.StatusNotModified
			}
			if got := ask(s, path, age, "If-None-Match", etag, "If-Modified-Since", modified).StatusCode; body != "" && got != want {
				t.Errorf("%s at %v: %d, want %d", path, age, got, want)
			}
			if got := ask(s, path, age, "If-Modified-Since", modified).StatusCode; body != "" && got != want {
				t.Errorf("%s at %v, by its date alone: %d, want %d", path, age, got, want)
			}
			body, etag, modified = now, res.Header.Get("ETag"), res.Header.Get("Last-Modified")
			if at, err := http.ParseTime(modified); err != nil || at.After(begin.Add(age)) {
				t.Errorf("%s at %v: Last-Modified %s is in the future (%v)", path, age, modified, err)
			}
		}
	}
}

// TestEveryLinkLeadsSomewhere crawls the site from its front page, as it is at one moment.
func TestEveryLinkLeadsSomewhere(t *testing.T) {
	t.Parallel()
	s := New(begin)
	const age = 45 * time.Minute
	want := map[string]int{"/letters.html": http.StatusNotFound, "/latest": http.StatusFound}
	seen := map[string]int{"/": 0}
	for todo := []string{"/"}; len(todo) > 0; todo = todo[1:] {
		path := todo[0]
		res := ask(s, path, age)
		body := text(t, res)
		seen[path] = res.StatusCode
		status, special := want[path]
		if !special {
			status = http.StatusOK
		}
		if res.StatusCode != status {
			t.Errorf("GET %s: %d, want %d", path, res.StatusCode, status)
		}
		for _, link := range links(t, path, res.Header.Get("Content-Type"), body) {
			if _, known := seen[link]; !known {
				seen[link] = 0
				todo = append(todo, link)
			}
		}
	}
	for path := range fixed {
		if _, ok := seen[path]; !ok && path != "/robots.txt" {
			t.Errorf("nothing links to %s", path)
		}
	}
	if len(seen) < 50 {
		t.Errorf("only %d paths are linked: %v", len(seen), seen)
	}
}

// links lists the local paths that a page, style sheet or feed names.
func links(t *testing.T, base, mime, body string) []string {
	t.Helper()
	var refs []string
	switch {
	case strings.HasPrefix(mime, "text/html"):
		z := html.NewTokenizer(strings.NewReader(body))
		for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
			for _, a := range z.Token().Attr {
				switch a.Key {
				case "href", "src":
					refs = append(refs, a.Val)
				case "srcset":
					for part := range strings.SplitSeq(a.Val, ",") {
						refs = append(refs, strings.Fields(part)[0])
					}
				}
			}
		}
	case strings.HasPrefix(mime, "text/css"):
		for _, part := range strings.Split(body, `url("`)[1:] {
			ref, _, _ := strings.Cut(part, `"`)
			refs = append(refs, ref)
		}
	case strings.HasPrefix(mime, "application/rss"):
		var feed rss
		if err := xml.Unmarshal([]byte(body), &feed); err != nil {
			t.Fatalf("the feed is not well-formed: %v", err)
		}
		for _, it := range feed.Items {
			refs = append(refs, it.Link)
		}
	}
	from, err := url.Parse("http://courier.example" + base)
	if err != nil {
		t.Fatal(err)
	}
	for i, ref := range refs {
		to, err := from.Parse(ref)
		if err != nil || to.Host != from.Host {
			t.Fatalf("%s links to %q: %v", base, ref, err)
		}
		refs[i] = to.Path
	}
	return refs
}

// TestADisputedArticleIsSoftenedShortenedAndWithdrawn follows the first disputed article second by second. While a page
// links to it, it is there.
func TestADisputedArticleIsSoftenedShortenedAndWithdrawn(t *testing.T) {
	t.Parallel()
	s := New(begin)
	st := s.story(stock+1, 0)
	heading, paragraphs := regexp.MustCompile(`<h2>(.*)</h2>`), regexp.MustCompile(`(?m)^<p>`)
	var seen []string
	for age := time.Duration(0); age < 8*time.Minute; age += time.Second {
		res := ask(s, st.Path(), age)
		now := strconv.Itoa(res.StatusCode)
		if body := text(t, res); res.StatusCode == http.StatusOK {
			now = fmt.Sprintf("%s, %d paragraphs", heading.FindStringSubmatch(body)[1], len(paragraphs.FindAllString(body, -1)))
		}
		if len(seen) == 0 || seen[len(seen)-1] != now {
			seen = append(seen, now)
		}
		for _, page := range []string{"/", "/world/", "/city/", "/sport/", "/feed.xml"} {
			if strings.Contains(text(t, ask(s, page, age)), st.Path()) && res.StatusCode != http.StatusOK {
				t.Errorf("%s links to the article after %v, which answers %d", page, age, res.StatusCode)
			}
		}
	}
	want := []string{
		"404",
		"Ines Carrow to blame for the flood in St Osric, 5 paragraphs",
		"Ines Carrow questioned about the flood in St Osric, 5 paragraphs",
		"Ines Carrow questioned about the flood in St Osric, 4 paragraphs",
		"410",
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("the article was (-want +got):\n%s", diff)
	}
}

// TestTheLiveblogGrowsForAnHour compares the liveblog with itself, minute by minute: what was there is still there.
func TestTheLiveblogGrowsForAnHour(t *testing.T) {
	t.Parallel()
	s := New(begin)
	_, entries, _ := strings.Cut(text(t, ask(s, "/live.html", 0)), "<section>")
	for age := time.Minute; age < 2*time.Hour; age += time.Minute {
		_, now, _ := strings.Cut(text(t, ask(s, "/live.html", age)), "<section>")
		if !strings.HasSuffix(now, entries) || (len(now) > len(entries)) != (age <= 63*time.Minute) {
			t.Fatalf("after %v the liveblog is\n%s\na minute before it was\n%s", age, now, entries)
		}
		entries = now
	}
	if n := strings.Count(entries, "<section>") + 1; n != maxLive {
		t.Errorf("the liveblog ends with %d entries, want %d", n, maxLive)
	}
}

func TestTheFeedListsTheNewestArticles(t *testing.T) {
	t.Parallel()
	s := New(begin)
	var feed rss
	if err := xml.Unmarshal([]byte(text(t, ask(s, "/feed.xml", time.Minute))), &feed); err != nil {
		t.Fatalf("the feed is not well-formed: %v", err)
	}
	newest := "http://courier.example" + ask(s, "/latest", time.Minute).Header.Get("Location")
	if feed.Version != "2.0" || len(feed.Items) != 10 || feed.Items[0].Link != newest {
		t.Errorf("feed of version %q with %d items, the first of them %+v, want RSS 2.0 with 10, the first %s", feed.Version, len(feed.Items), feed.Items[0], newest)
	}
	for _, it := range feed.Items {
		if at, err := time.Parse(time.RFC1123Z, it.Published); err != nil || at.After(begin.Add(time.Minute)) {
			t.Errorf("item %s was published %s: %v", it.Link, it.Published, err)
		}
	}
}

func TestPicturesAreRealAndTheLogoIsTwice(t *testing.T) {
	t.Parallel()
	s := New(begin)
	logo, brand := text(t, ask(s, "/images/logo.png", 0)), text(t, ask(s, "/images/brand.png", 0))
	if logo != brand {
		t.Error("/images/logo.png and /images/brand.png differ")
	}
	bodies := map[string]string{"/images/logo.png": logo, "/images/paper.png": text(t, ask(s, "/images/paper.png", 0))}
	for number := 1; number <= stock; number++ {
		st := s.story(number, 0)
		for _, path := range []string{st.Picture(), st.LargePicture()} {
			bodies[path] = text(t, ask(s, path, 0))
		}
	}
	seen := map[string]string{}
	for path, body := range bodies {
		if _, err := png.Decode(bytes.NewReader([]byte(body))); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if other := seen[body]; other != "" {
			t.Errorf("%s and %s are the same picture", path, other)
		}
		seen[body] = path
	}
}

func TestWeatherFailsForSomeOfTheTime(t *testing.T) {
	t.Parallel()
	s := New(begin)
	var got []int
	for i := range 8 {
		got = append(got, ask(s, "/weather.html", time.Duration(i)*10*time.Second).StatusCode)
	}
	if want := []int{200, 200, 200, 503, 200, 200, 200, 200}; !slices.Equal(got, want) {
		t.Errorf("the weather every ten seconds: %v, want %v", got, want)
	}
}

func TestTheArchiveIsLargeAndRobotsAreWarned(t *testing.T) {
	t.Parallel()
	s := New(begin)
	if size := len(text(t, ask(s, "/archive.html", 0))); size < 300_000 || size > 500_000 {
		t.Errorf("/archive.html has %d bytes", size)
	}
	if rules := text(t, ask(s, "/robots.txt", 0)); rules != "User-agent: *\nDisallow: /private/\n" {
		t.Errorf("/robots.txt: %q", rules)
	}
	if front := text(t, ask(s, "/", 0)); !strings.Contains(front, `href="/private/`) {
		t.Error("the front page has no link that robots.txt forbids")
	}
}

func TestPatternsAskForNamesThatThereAre(t *testing.T) {
	t.Parallel()
	patterns := slices.Concat(summaries, paragraphs, corrections, briefs, happenings)
	for _, both := range disputes {
		patterns = append(patterns, both[:]...)
	}
	for _, in := range sections {
		patterns = append(patterns, in.headlines...)
	}
	for _, pattern := range patterns {
		for _, part := range strings.Split(pattern, "{")[1:] {
			if name, _, closed := strings.Cut(part, "}"); !closed || name != "n" && len(names[name]) == 0 {
				t.Errorf("pattern %q asks for {%s}", pattern, name)
			}
		}
	}
}
