package crawler_test

import (
	"flag"
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/demosite"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/town"
)

var noisyShare = flag.Int("noisy", 20, "percentage of the pages of TestNoiseAndSearchesTakeFewRequests that are noisy")

// newspaper returns a newspaper in a town of its own, and the paths of its articles. Its front page and sections change
// every few hours and have no validators, and its articles rarely change and have one.
func newspaper(t *testing.T, site string) (*town.Town, []string) {
	t.Helper()
	of := town.New(time.Now())
	set := func(path string, p town.Page) {
		t.Helper()
		p.Size = 3000
		must(t, of.Set(site+path, p))
	}
	const day = 24 * time.Hour
	var sections, articles []string
	for s := range 6 {
		sections = append(sections, fmt.Sprintf("/section%d", s))
		for a := range 20 {
			path := fmt.Sprintf("/section%d/article%d.html", s, a)
			articles = append(articles, path)
			set(path, town.Page{ETag: "honest", Every: []time.Duration{0, 0, 0, 20 * day, 3 * day}[a%5]})
		}
		set(sections[s], town.Page{Every: time.Duration(4+s) * time.Hour, Links: slices.Clone(articles[20*s:])})
	}
	set("/", town.Page{Every: time.Hour, Links: sections})
	return of, articles
}

// noisyWorld is a site with noise and searches without end, and how long it is crawled.
type noisyWorld struct {
	name     string
	settings string
	lasts    time.Duration
	site     func(*testing.T) (site *town.Noisy, stop func())
}

var noisyWorlds = []noisyWorld{
	{"newspaper in a town", "", 3 * 24 * time.Hour, func(t *testing.T) (*town.Noisy, func()) {
		of, articles := newspaper(t, "http://news.example")
		return &town.Noisy{Site: of, Found: articles}, of.Close
	}},
	{"site of the demo", `min = "2s"
max = "2m"
[politeness]
delay_factor = 5.0
min_delay = "200ms"
max_delay = "1s"
[retry]
first = "5s"
max = "1m"
[robots]
wait = "30s"
forbidden_wait = "30s"
`, 20 * time.Minute, func(*testing.T) (*town.Noisy, func()) {
		return &town.Noisy{
			Site:  demosite.New(time.Now()).Handler(time.Now),
			Own:   regexp.MustCompile(`<span class="clock">[^<]*</span>`),
			Found: []string{"/world/", "/city/", "/sport/", "/about.html", "/archive.html"},
		}, func() {}
	}},
}

// TestNoiseAndSearchesTakeFewRequests crawls a newspaper in a town, and the site of the demo. A fifth of their pages
// differ at each request, and each page links to searches without end, which bring a new text each time. Searches take
// at most 5 % of the requests, whole downloads of nothing new at most 30 %, and no article is missed. The flag -noisy
// sets another share of pages; with more noise the downloads have no bound.
func TestNoiseAndSearchesTakeFewRequests(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, longPlay)
	for _, web := range noisyWorlds {
		t.Run(web.name, func(t *testing.T) {
			t.Parallel()
			inTown(t, "[[wait]]\nmime = \".*\"\nrule = \"learned\"\n"+web.settings+
				"[seeds]\nuris = [\"http://news.example/\"]\n", func(t *testing.T, w *world) {
				site, stop := web.site(t)
				defer stop()
				site.Share, site.Search, site.Texts = *noisyShare, true, true
				w.town.Serve("news.example", site)
				w.run(web.lasts)
				got := site.Tally()
				t.Logf("%d requests: %d for searches, %d for noisy pages; %d whole downloads of nothing new",
					got.All, got.Search, got.Noise, got.Same)
				if got.All < 1000 || *noisyShare > 0 && got.Noise == 0 || got.Search < 20 {
					t.Errorf("%+v: too few requests to say anything", got)
				}
				if 20*got.Search > got.All {
					t.Errorf("%d of %d requests were for searches, want at most 5 %%", got.Search, got.All)
				}
				if *noisyShare <= 20 && 10*got.Same > 3*got.All {
					t.Errorf("%d of %d requests brought a whole page and nothing new, want at most 30 %%", got.Same, got.All)
				}
				for _, path := range site.Found {
					if len(w.visits(path)) == 0 {
						t.Errorf("%s was not visited", path)
					}
				}
			})
		})
	}
}
