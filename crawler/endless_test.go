package crawler_test

import (
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects/scope"
	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
)

// budgetIsLifted checks that a pattern is listed with its budget, that the explanation of a URI names it, and that a
// curator can end it.
func (w *world) budgetIsLifted(host uri.Host, pattern string) {
	w.t.Helper()
	parts, shut := w.open()
	defer shut()
	list, err := parts.Traps.Patterns(host)
	if err != nil || len(list) != 1 || list[0].Key != pattern || list[0].Held == 0 {
		w.t.Errorf("budgets %+v, %v; want one of %s", list, err, pattern)
	}
	held := ""
	for _, r := range w.visits("") {
		if r.Wait.Reason == "trap:budget" {
			held = r.URI.String()
		}
	}
	why := func() string {
		q := whatif.Question{URI: uri.FromCanonical(held)}
		reasons, err := whatif.Explain(parts.Config.Current(), parts.Frontier, parts.Traps, q, time.Now())
		must(w.t, err)
		return fmt.Sprint(reasons)
	}
	if said := why(); !strings.Contains(said, "arcrawl traps release news.example '"+pattern+"'") {
		w.t.Errorf("the explanation of %s does not name the budget: %s", held, said)
	}
	due, err := spaces.Release(parts.Frontier, parts.Traps, host, pattern, time.Now())
	if err != nil || due == 0 {
		w.t.Errorf("%d URIs are due after the release, %v; want some", due, err)
	}
	if said := why(); strings.Contains(said, "endless") {
		w.t.Errorf("after the release %s waits for a budget: %s", held, said)
	}
}

// trapsOf lists the traps that a crawl has found on a host.
func (w *world) trapsOf(host uri.Host) []spaces.Trap {
	w.t.Helper()
	parts, shut := w.open()
	defer shut()
	list, err := parts.Traps.Get(host)
	must(w.t, err)
	return list
}

// The site can name more than 10^9 URIs. All real pages are found, and few of the others are requested.
func TestTrapSiteIsCrawledWithoutItsTraps(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, longPlay)
	inTown(t, "[seeds]\nuris = [\"http://maze.example/\"]\n", func(t *testing.T, w *world) {
		site := testcrawl.NewMaze(time.Now())
		w.town.Serve("maze.example", site)
		w.run(10 * time.Minute) // after a restart the crawl learns again what it had not stored
		w.run(2 * time.Hour)
		if missing := site.Missing(); len(missing) > 0 {
			t.Errorf("%d real pages were not found: %v", len(missing), missing)
		}
		byKind, all := site.Trapped()
		if all >= 200 {
			t.Errorf("%d URIs of traps were requested, want fewer than 200", all)
		}
		t.Logf("%d URIs of traps were requested: %v", all, byKind)
		found := map[spaces.Kind]int{}
		for _, trap := range w.trapsOf("maze.example") {
			found[trap.Kind]++
			t.Logf("%s %s: %s (%d visited, %d kept out)", trap.Kind, trap.Pattern, trap.Why, trap.Visited, trap.Kept)
		}
		for _, kind := range []spaces.Kind{spaces.Calendar, spaces.Growth, spaces.Facets, spaces.Session, spaces.Farm} {
			if found[kind] != 1 {
				t.Errorf("%d traps of the kind %s, want 1", found[kind], kind)
			}
		}
	})
}

// Pages that a sitemap lists are real, whatever they look like. A trap that was found on them before is released.
func TestSitemapReleasesALinkFarm(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, longPlay)
	inTown(t, "[seeds]\nuris = [\"http://maze.example/\"]\n[feeds]\nsitemaps = [\"http://maze.example/sitemap.xml\"]\nsitemap_min = \"10m\"\nsitemap_max = \"10m\"\nsitemap_initial = \"10m\"\n", func(t *testing.T, w *world) {
		site := testcrawl.NewMaze(time.Now())
		listed := "/about"
		w.town.Serve("maze.example", http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/sitemap.xml" {
				site.ServeHTTP(to, r)
				return
			}
			to.Header().Set("Content-Type", "application/xml")
			fmt.Fprintf(to, "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>http://maze.example%s</loc></url></urlset>", listed)
		}))
		farms := func() (known, released int) {
			for _, trap := range w.trapsOf("maze.example") {
				if trap.Kind == spaces.Farm {
					known++
					if trap.Released {
						released++
					}
				}
			}
			return known, released
		}
		w.run(25 * time.Minute)
		if known, released := farms(); known != 1 || released != 0 {
			t.Fatalf("%d link farms, %d of them released; want one", known, released)
		}
		before, _ := site.Trapped()
		listed = "/partners/one-of-many"
		w.run(10 * time.Minute)
		if known, released := farms(); known != 1 || released != 1 {
			t.Errorf("%d link farms, %d of them released; want one that is released", known, released)
		}
		if after, _ := site.Trapped(); after["farm"] < before["farm"]+100 {
			t.Errorf("%d pages of the farm were visited before the release and %d after it; want all that the trap kept out", before["farm"], after["farm"]-before["farm"])
		}
	})
}

// For a URI of a trap, the explanation names the trap, the command that releases it, and the line that enables traps.
func TestExplainNamesTheTrap(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir(), "[seeds]\nuris = [\"http://news.example/\"]\n[scope]\ntraps = true\n")
	parts, shut := w.open()
	defer shut()
	q := whatif.Question{URI: uri.FromCanonical("http://news.example/a/a/a/b")}
	reasons, err := whatif.Explain(parts.Config.Current(), parts.Frontier, parts.Traps, q, time.Now())
	must(t, err)
	last := reasons[len(reasons)-1]
	if last.Opinion != scope.Rejects || last.Rule != "scope.traps" || !strings.HasSuffix(last.Where, "arcrawl.toml:8") ||
		!strings.Contains(last.Why, "a trap of the kind repeats") || !strings.Contains(last.Why, "arcrawl traps release news.example '") {
		t.Errorf("last reason %+v; want the trap, its release and the line", last)
	}
}

var noisyShare = flag.Int("noisy", 20, "percentage of the pages of TestNoiseAndSearchesTakeFewRequests that are noisy")

// newspaper returns a newspaper in a town of its own, and the paths of its articles. Its front page and sections change
// every few hours and have no validators, and its articles rarely change and have one.
func newspaper(t *testing.T, site string) (*testcrawl.Town, []string) {
	t.Helper()
	of := testcrawl.NewTown(time.Now())
	set := func(path string, p testcrawl.Page) {
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
			set(path, testcrawl.Page{ETag: "honest", Every: []time.Duration{0, 0, 0, 20 * day, 3 * day}[a%5]})
		}
		set(sections[s], testcrawl.Page{Every: time.Duration(4+s) * time.Hour, Links: slices.Clone(articles[20*s:])})
	}
	set("/", testcrawl.Page{Every: time.Hour, Links: sections})
	return of, articles
}

// TestNoiseAndSearchesTakeFewRequests crawls a newspaper in a town. A fifth of its pages differ at each request, and
// each page links to searches without end, which bring a new text each time. Searches take at most 5 % of the requests,
// whole downloads of nothing new at most 30 %, and no article is missed. The flag -noisy sets another share of pages;
// with more noise the downloads have no bound.
func TestNoiseAndSearchesTakeFewRequests(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, longPlay)
	inTown(t, "[[wait]]\nmime = \".*\"\nrule = \"learned\"\n[seeds]\nuris = [\"http://news.example/\"]\n", func(t *testing.T, w *world) {
		of, articles := newspaper(t, "http://news.example")
		defer of.Close()
		site := &testcrawl.Noisy{Site: of, Found: articles, Share: *noisyShare, Search: true, Texts: true}
		w.town.Serve("news.example", site)
		w.run(3 * 24 * time.Hour)
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
		w.budgetIsLifted("news.example", "/search?q")
	})
}

// Three pages show the time, and three never change. From the second day on the host's accounts have no version, and
// three URIs count among their kind.
func TestRestlessPagesCountInNoEstimate(t *testing.T) {
	t.Parallel()
	inTown(t, `[[wait]]
mime = ".*"
rule = "learned"
[seeds]
uris = ["http://mixed.example/"]
`, func(t *testing.T, w *world) {
		w.set("http://mixed.example/", testcrawl.Page{Links: []string{"/c1", "/c2", "/c3", "/s1", "/s2", "/s3"}})
		for _, name := range []string{"1", "2", "3"} {
			w.set("http://mixed.example/c"+name, testcrawl.Page{Clock: true})
			w.set("http://mixed.example/s"+name, testcrawl.Page{})
		}
		w.run(3 * 24 * time.Hour)

		parts, done := w.open()
		defer done()
		var kin float64
		for _, path := range []string{"/c1", "/s1"} {
			r, ok, err := parts.Frontier.Get(uri.FromCanonical("http://mixed.example" + path))
			if err != nil || !ok || r.Restless != (path == "/c1") {
				t.Fatalf("%s: known %v, restless %v, %v", path, ok, r.Restless, err)
			}
			if r.Restless && (r.Memory != "" || r.Rate > 0.1 || len(r.Look) > 40) {
				t.Errorf("%s keeps %d bytes of memory, %d of looks and the rate %v", path, len(r.Memory), len(r.Look), r.Rate)
			}
			if r.Restless {
				continue
			}
			relatives, err := parts.Similar.Get(r.URI.Host(), rate.Memory(r.Memory).Kind())
			must(t, err)
			kin = relatives.URIs
		}
		if kin != 3 {
			t.Errorf("%v URIs count among the kind of a page that never changes, want 3", kin)
		}
		later := testcrawl.Epoch.Add(24 * time.Hour)
		var sum evaluators.Day
		err := parts.Daily.Each("mixed.example", later, later.Add(48*time.Hour), func(_ hosts.HostDay, d evaluators.Day) error {
			sum = sum.Plus(d)
			return nil
		})
		if err != nil || sum.Requests < 6 || sum.Seen > 0 || sum.Versions > 1 {
			t.Errorf("the accounts of later days: %+v, %v", sum, err)
		}
	})
}

// teasers is a site with a front page and an article, which both change every two hours. Between versions a noisy site
// differs at each request: in a paragraph that readers see.
type teasers struct {
	noisy bool
	mu    sync.Mutex       // guards the fields below
	seen  map[string][]int // the version that each request got, by path
}

func (s *teasers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Path == "/robots.txt" {
		http.NotFound(w, r)
		return
	}
	version := int(time.Since(testcrawl.Epoch) / (2 * time.Hour))
	s.seen[r.URL.Path] = append(s.seen[r.URL.Path], version)
	fmt.Fprintf(w, "<h1>Version %d</h1><a href=/news/today>today</a>%s", version, strings.Repeat("<p>the text of the page</p>", 100))
	if s.noisy {
		fmt.Fprintf(w, "<p class=teaser>number %d</p>", len(s.seen[r.URL.Path]))
	}
}

// captured returns how many versions of a page were sent since it was called last.
func (s *teasers) captured(path string) (versions, requests int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := s.seen[path]
	s.seen[path] = nil
	return len(slices.Compact(slices.Clone(got))), len(got)
}

// A front page differs at each fetch, so it is restless. A curator accepts a rule that silences it. A day later as many
// versions of it are captured as of a front page without noise. Another page of the host is visited once a day before,
// and is freed in the same way.
func TestAFrontPageIsFreedByARuleThatSilencesIt(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, mode := range []string{"strict", "scrubbed"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			inTown(t, "[[wait]]\nmime = \".*\"\nrule = \"learned\"\n[seeds]\nuris = [\"http://quiet.example/\", \"http://noisy.example/\"]\n", func(t *testing.T, w *world) {
				quiet, noisy := &teasers{seen: map[string][]int{}}, &teasers{seen: map[string][]int{}, noisy: true}
				w.town.Serve("quiet.example", quiet)
				w.town.Serve("noisy.example", noisy)
				both := func(path string) (n, of int) {
					of, _ = quiet.captured(path)
					n, requests := noisy.captured(path)
					t.Logf("%s: %d versions of the noisy page by %d requests, %d of the quiet page", path, n, requests, of)
					return n, of
				}
				w.run(day)
				both("/")
				both("/news/today")
				w.run(2 * day) // of 24 versions
				if n, _ := both("/"); n < 12 || n > 17 {
					t.Errorf("%d versions of a restless front page are captured in two days, want 16", n)
				}
				if n, _ := both("/news/today"); n != 2 {
					t.Errorf("%d versions of a restless article are captured in two days, want 2", n)
				}
				last := w.visits("noisy.example/")
				if why := last[len(last)-1].Wait.Why(); !strings.HasPrefix(why, "restless: differs") {
					t.Errorf("the reason is %q", why)
				}
				w.host("noisy.example.toml", "[change]\nmode = \""+mode+"\"\nscrub_css = [\"p.teaser\"]\n")
				w.run(day)
				both("/")
				both("/news/today")
				w.run(4 * day)
				for _, path := range []string{"/", "/news/today"} {
					if n, of := both(path); 10*n < 9*of || of < 24 {
						t.Errorf("%s: %d versions are captured with the rule, and %d of a quiet page", path, n, of)
					}
				}
			})
		})
	}
}
