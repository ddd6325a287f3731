package noise

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/noise/infer"
	"github.com/arcrawl/arcrawl/uri"
)

// kindOfHost is a host with 24 pages and a front page that links to them. A page changes at random times, on average
// every two hours to eight days.
type kindOfHost struct {
	name       string
	clock      bool   // each page has a clock, and no validators
	rule       bool   // a file of the host silences the clock
	sitemap    string // "true", "false" = says each day that all pages have changed; "" = there is none
	days       bool   // the dates of the sitemap have no time of day
	feed       bool   // a feed says when pages change
	headlines  bool   // a page that changes has a new headline on the front page
	thirds     bool   // the sitemap and the headlines name each third change only
	redirected bool   // robots.txt is a redirect; it names the sitemap, which alone names each second page
	searches   bool   // each page links to searches without end
	sections   bool   // the front page links to four sections, which alone link to the pages, by headlines
	notes      bool   // next to each of them is a note that differs at each fetch

	host    string
	began   time.Time
	changes [][]time.Time // of each page, ascending; the front page is the last
	got     []map[int]bool
	asked   kindTally
}

// kindTally counts requests.
type kindTally struct{ all, again, searches, indexes int }

// kindsOfHosts are the hosts of [TestTenDaysOfEachKindOfHost].
func kindsOfHosts() []*kindOfHost {
	return []*kindOfHost{
		{name: "quiet"},
		{name: "noisy, with a rule", clock: true, rule: true},
		{name: "noisy", clock: true},
		{name: "true sitemap", sitemap: "true"},
		{name: "lying sitemap", sitemap: "false"},
		{name: "true feed", feed: true},
		{name: "headlines", headlines: true},
		{name: "sitemap of thirds", sitemap: "true", thirds: true},
		{name: "headlines of thirds", headlines: true, thirds: true},
		{name: "sitemap of days", sitemap: "true", days: true},
		{name: "redirected robots", sitemap: "true", redirected: true},
		{name: "endless searches", searches: true},
		{name: "sections", sections: true},
		{name: "sections with notes", sections: true, notes: true},
	}
}

const kindPages = 24

// kindProse is the part of each page that stays.
var kindProse = strings.Repeat("<p>The harbour office is open on all days of the week from eight to four.</p>", 5)

// begin draws when the pages change in some days; the same numbers for each kind.
func (k *kindOfHost) begin(now time.Time, days int) {
	r := rand.New(rand.NewPCG(1, 2))
	k.host, k.began = strings.NewReplacer(" ", "-", ",", "").Replace(k.name)+".example", now
	for page := range kindPages + 1 {
		mean := 2 * math.Pow(96, float64(page)/kindPages) // hours
		if page == kindPages {
			mean = 3
		}
		var at []time.Time
		for t := now.Add(-time.Hour); t.Before(now.Add(time.Duration(days) * 24 * time.Hour)); {
			at = append(at, t)
			t = t.Add(time.Duration(r.ExpFloat64() * mean * float64(time.Hour)))
		}
		k.changes, k.got = append(k.changes, at), append(k.got, map[int]bool{})
	}
}

// version returns which version of a page is shown at a time.
func (k *kindOfHost) version(page int, now time.Time) int {
	return sort.Search(len(k.changes[page]), func(i int) bool { return k.changes[page][i].After(now) }) - 1
}

// named returns which version of a page the sitemap and the headlines name.
func (k *kindOfHost) named(page int, now time.Time) int {
	v := k.version(page, now)
	if k.thirds {
		v -= v % 3
	}
	return v
}

func (k *kindOfHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now, page := time.Now(), 0
	k.asked.all++
	switch _, err := fmt.Sscanf(r.URL.Path, "/page/%d", &page); {
	case err == nil && page < kindPages:
		k.servePage(w, r, page)
	case r.URL.Path == "/":
		k.servePage(w, r, kindPages)
	case r.URL.Path == "/list.xml" && k.sitemap != "", r.URL.Path == "/feed.xml" && k.feed:
		k.asked.indexes++
		k.serveIndex(w, now)
	case k.sections && slices.Contains(kindSections(), r.URL.Path[1:]):
		k.asked.indexes++
		k.serveSection(w, slices.Index(kindSections(), r.URL.Path[1:]), now)
	case r.URL.Path == "/robots.txt" && k.redirected:
		http.Redirect(w, r, "/static/robots.txt", http.StatusMovedPermanently)
	case r.URL.Path == "/robots.txt" && k.sitemap != "", r.URL.Path == "/static/robots.txt":
		fmt.Fprintf(w, "User-agent: *\nSitemap: http://%s/list.xml\n", k.host)
	case r.URL.Path == "/search" && k.searches:
		k.asked.searches++
		w.Header().Set("Content-Type", "text/html")
		q := r.FormValue("q")
		fmt.Fprintf(w, `<p>Results for %s: <a href="/page/%d">one</a>. More: <a href="/search?q=%sa">a</a> <a href="/search?q=%[1]sb">b</a>`,
			q, len(q)%kindPages, q)
	default:
		http.NotFound(w, r)
	}
}

// servePage answers with a page, or with 304.
func (k *kindOfHost) servePage(w http.ResponseWriter, r *http.Request, page int) {
	now := time.Now()
	v := k.version(page, now)
	w.Header().Set("Content-Type", "text/html")
	if !k.clock {
		tag := fmt.Sprintf(`"%d-%d"`, page, v)
		if page == kindPages && k.headlines {
			tag = fmt.Sprintf(`"%x"`, k.headlinesAt(now))
		}
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	k.asked.again += countIf(k.got[page][v])
	k.got[page][v] = true
	fmt.Fprintf(w, "<title>Page %d</title><h1>Page %[1]d</h1><p>This is version %d of the text.</p>%s", page, v, kindProse)
	if page == kindPages {
		k.frontPage(w, now)
	}
	if k.clock {
		fmt.Fprintf(w, `<span id="clock">%s</span>`, now.Format(time.TimeOnly))
	}
	if k.searches {
		fmt.Fprintf(w, `<a href="/search?q=%d">related</a>`, page)
	}
}

func kindSections() []string { return []string{"politics", "sport", "culture", "town"} }

// serveSection writes each fourth page with its headline.
func (k *kindOfHost) serveSection(w http.ResponseWriter, section int, now time.Time) {
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<title>Section %d</title>%s", section, kindProse)
	for page := section; page < kindPages; page += len(kindSections()) {
		fmt.Fprintf(w, `<a href="/page/%d"><h2>%s</h2>`, page, k.headline(page, now))
		if k.notes {
			fmt.Fprintf(w, "<p>Read by about %d people so far</p>", now.Unix()%1000)
		}
		fmt.Fprint(w, "</a>")
	}
}

func (k *kindOfHost) headline(page int, now time.Time) string {
	return fmt.Sprintf("News of today and of yesterday, number %d", k.named(page, now))
}

// frontPage writes the links of the front page.
func (k *kindOfHost) frontPage(w http.ResponseWriter, now time.Time) {
	if k.feed {
		fmt.Fprint(w, `<link rel="alternate" type="application/atom+xml" href="/feed.xml">`)
	}
	if k.sections {
		for _, s := range kindSections() {
			fmt.Fprintf(w, `<a href="/%s">%[1]s</a>`, s)
		}
		return
	}
	for page := range kindPages {
		headline := "The news of the day"
		if k.headlines {
			headline = k.headline(page, now)
		}
		if !k.redirected || page%2 == 0 {
			fmt.Fprintf(w, `<a href="/page/%d">%s</a>`, page, headline)
		}
	}
}

// headlinesAt returns a number that differs whenever the front page does.
func (k *kindOfHost) headlinesAt(now time.Time) (n int) {
	for page := range kindPages {
		n += k.named(page, now)
	}
	return n + k.version(kindPages, now)
}

// serveIndex writes the sitemap or the feed.
func (k *kindOfHost) serveIndex(w http.ResponseWriter, now time.Time) {
	w.Header().Set("Content-Type", "application/xml")
	begin, one, end := "<urlset>", "<url><loc>http://%s/page/%d</loc><lastmod>%s</lastmod></url>", "</urlset>"
	if k.feed {
		begin, end = `<feed xmlns="http://www.w3.org/2005/Atom">`, "</feed>"
		one = `<entry><id>%[2]d</id><link href="http://%[1]s/page/%[2]d"/><updated>%[3]s</updated></entry>`
	}
	fmt.Fprint(w, begin)
	for page := range kindPages {
		at := k.changes[page][k.named(page, now)]
		if k.sitemap == "false" {
			at = now.Truncate(24 * time.Hour).Add(time.Duration(page) * time.Minute)
		}
		form := time.RFC3339
		if k.days {
			form = time.DateOnly
		}
		fmt.Fprintf(w, one, k.host, page, at.Format(form))
	}
	fmt.Fprint(w, end)
}

// captured returns how many of the versions of a time were fetched while they were shown.
func (k *kindOfHost) captured(from, to time.Time) (got, all int) {
	for page, list := range k.changes {
		for v, at := range list {
			if at.After(from) && at.Before(to) {
				all++
				got += countIf(k.got[page][v])
			}
		}
	}
	return got, all
}

func countIf(is bool) int {
	if is {
		return 1
	}
	return 0
}

// noWindow shows nothing.
type noWindow struct{}

func (noWindow) Observe(crawler.Report) {}
func (noWindow) Tick(time.Time) error   { return nil }

// TestTenDaysOfEachKindOfHost crawls hosts of each kind for ten days with the rule learned. It compares the share of
// the versions that were captured with the one that reports say, and counts requests that found nothing new.
func TestTenDaysOfEachKindOfHost(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, "it plays ten days of a crawl")
	kinds := kindsOfHosts()
	told := playKinds(t, kinds)
	t.Logf("%-19s %8s %8s %6s  %-20s %6s %8s %7s", "host", "requests", "versions", "share", "told (bounds)", "again", "searches", "indexes")
	share := map[string]float64{}
	for _, k := range kinds {
		got, all := k.captured(testcrawl.Epoch.Add(24*time.Hour), testcrawl.Epoch.Add((kindDays-1)*24*time.Hour))
		truth, is := float64(got)/float64(all), told[uri.Host(k.host)].Captured()
		low, high := is.Range()
		t.Logf("%-19s %8d %8d %6.3f  %-20s %6d %8d %7d", k.name, k.asked.all, all, truth,
			fmt.Sprintf("%.3f (%.2f to %.2f)", is.Share(), low, high), k.asked.again, k.asked.searches, k.asked.indexes)
		if !is.Known() || truth < low || truth > high || math.Abs(truth-is.Share()) > 0.12 {
			t.Errorf("%s: %.3f of the versions were captured, and reports say %.3f", k.name, truth, is.Share())
		}
		share[k.name] = truth
	}
	quiet := kinds[0]
	for _, k := range kinds[1:] {
		least, most := share[quiet.name]-0.08, quiet.asked.all*5/4
		switch {
		case k.thirds, k.days:
			most = quiet.asked.all * 3 / 2
		case k.sections && !k.notes:
			most = quiet.asked.all * 3 / 4
		case k.sitemap == "true":
			least, most = share[quiet.name]+0.05, quiet.asked.all*3/4
		case k.feed, k.headlines:
			least = share[quiet.name] + 0.05
		case k.searches:
			most += quiet.asked.all / 5
		}
		if share[k.name] < least || k.asked.all-k.asked.indexes > most {
			t.Errorf("%s: %.3f of the versions were captured by %d requests, %d of them to indexes; want %.3f by %d",
				k.name, share[k.name], k.asked.all, k.asked.indexes, least, most)
		}
	}
}

const kindDays = 10

// playKinds crawls hosts for ten days, and returns what was counted of each.
func playKinds(t *testing.T, kinds []*kindOfHost) map[uri.Host]evaluators.Day {
	t.Helper()
	toml := "[operator]\nname = \"Test Library\"\ncontact = \"https://library.example/crawler\"\n" +
		"[[wait]]\nmime = \".*\"\nrule = \"learned\"\n[seeds]\nuris = ["
	told, dir := map[uri.Host]evaluators.Day{}, t.TempDir()
	for _, k := range kinds {
		k.begin(testcrawl.Epoch, kindDays)
		toml += fmt.Sprintf("\"http://%s/\", ", k.host)
		if k.rule {
			const file = "[change]\nmode = \"scrubbed\"\nscrub_css = [\"#clock\"]\n"
			folder := filepath.Join(dir, "hosts.d")
			if os.MkdirAll(folder, 0o750) != nil || os.WriteFile(filepath.Join(folder, k.host+".toml"), []byte(file), 0o600) != nil {
				t.Fatal("the file of the host could not be written")
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		w := testcrawl.NewWorld(t, dir, toml+"]\n")
		defer w.Close()
		w.Parts.NoiseFinder = infer.Finder{}
		w.Crawler, w.Window = crawler.New(w.Parts), noWindow{}
		w.AddSeeds()
		for _, k := range kinds {
			w.Town.Serve(k.host, k)
		}
		w.Run(kindDays * 24 * time.Hour)
		w.Must(w.Parts.Daily.Each("", time.Time{}, time.Time{}, func(at hosts.HostDay, d evaluators.Day) error {
			told[at.Host] = told[at.Host].Plus(d)
			return nil
		}))
	})
	return told
}
