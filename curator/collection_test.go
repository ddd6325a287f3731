package curator

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// stocked returns a frontier with URIs on two hosts.
func stocked(t *testing.T, n int) *frontier.Frontier {
	t.Helper()
	f, err := frontier.Open(frontier.Options{Dir: t.TempDir(), Now: now, Compactors: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	var list []frontier.Entry
	for i := range n {
		r := frontier.Record{URI: uri.FromCanonical(fmt.Sprintf("http://www.a.example/Elections/%d", i))}
		r.Due, r.Versions = now, 2
		if i%2 == 1 {
			r.URI = uri.FromCanonical(fmt.Sprintf("http://elections.example/x.y/%d", i))
		}
		list = append(list, frontier.Entry{Record: r})
		if len(list) == 1000 || i == n-1 {
			if _, err := f.Import(now, false, list...); err != nil {
				t.Fatal(err)
			}
			list = nil
		}
	}
	return f
}

// TestSearchFindsPartsOfHostsAndPaths searches texts, among them characters of regular expressions and whole URIs.
func TestSearchFindsPartsOfHostsAndPaths(t *testing.T) {
	t.Parallel()
	f := stocked(t, 400)
	for _, c := range []struct {
		q           searchQuery
		hosts, uris int
	}{
		{searchQuery{Text: " ELECTIONS "}, 1, 400},
		{searchQuery{Text: "/elections/1"}, 0, 55},
		{searchQuery{Text: "x.y"}, 0, 200},
		{searchQuery{Text: "x+y"}, 0, 0},
		{searchQuery{Text: "elections", Host: "www.a.example"}, 0, 200},
		{searchQuery{Text: "http://www.a.example/Elections/12"}, 0, 6},
		{searchQuery{Text: "(["}, 0, 0},
		{searchQuery{Text: "a" + strings.Repeat("ö", 150)}, 0, 0},
		{searchQuery{Text: "\xff"}, 0, 0},
	} {
		c.q.Limit = 500
		got, err := search(f, none(t), c.q, func() time.Time { return now })
		if err != nil || len(got.Hosts) != c.hosts || len(got.URIs) != c.uris || got.Next != "" {
			t.Errorf("%+v finds %q and %d URIs, next %q, %v; want %d and %d", c.q, got.Hosts, len(got.URIs), got.Next, err, c.hosts, c.uris)
		}
	}
	got, err := search(f, none(t), searchQuery{Text: "http://www.a.example/Elections/12", Limit: 1}, func() time.Time { return now })
	if err != nil || len(got.URIs) != 1 || got.URIs[0].URI != "http://www.a.example/Elections/12" {
		t.Errorf("a whole URI finds %+v, %v first", got.URIs, err)
	}
	more, err := search(f, none(t), searchQuery{
		Text: "http://www.a.example/Elections/12", Limit: 500, Cursor: got.Next,
	}, func() time.Time { return now })
	if err != nil || len(more.URIs) != 6 || more.Next != "" {
		t.Errorf("behind it are %+v, next %q, %v", more.URIs, more.Next, err)
	}
}

// TestSearchFindsTitlesOfAnyAge searches titles that only the frontier knows, because the captures are older than the
// list of captures.
func TestSearchFindsTitlesOfAnyAge(t *testing.T) {
	t.Parallel()
	f := stocked(t, 100)
	r := frontier.Record{URI: uri.FromCanonical("http://www.a.example/id/4711")}
	r.Due, r.Versions, r.Title = now, 1, "Bürgerschaftswahl: Ergebnisse"
	if _, err := f.Import(now, false, frontier.Entry{Record: r}); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"bürgerschaftsWAHL": r.Title, "ergeb": r.Title, "wahl: erg": r.Title, "4711": r.Title, "Bundestag": "",
	} {
		got, err := search(f, none(t), searchQuery{Text: text, Limit: 50}, func() time.Time { return now })
		found := ""
		if len(got.URIs) == 1 {
			found = got.URIs[0].Title
		}
		if err != nil || found != want || len(got.URIs) > 1 {
			t.Errorf("%q finds %+v, %v", text, got.URIs, err)
		}
	}
	elsewhere, err := search(f, none(t), searchQuery{Text: "ergeb", Host: "elections.example", Limit: 50}, func() time.Time { return now })
	if err != nil || len(elsewhere.URIs) > 0 {
		t.Errorf("on another host there are %+v, %v", elsewhere.URIs, err)
	}
}

// none returns a store of captures that is empty.
func none(t *testing.T) *captureStore {
	t.Helper()
	s, err := openCaptures("")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestASearchEndsAfterItsTime continues a search that takes too long, until every URI was found once.
func TestASearchEndsAfterItsTime(t *testing.T) {
	t.Parallel()
	const n = 3000
	f := stocked(t, n)
	clock := now
	slow := func() time.Time { clock = clock.Add(time.Second); return clock }
	found, answers := map[string]bool{}, 0
	for q := (searchQuery{Text: "example", Limit: 500}); ; answers++ {
		got, err := search(f, none(t), q, slow)
		if err != nil || answers > n {
			t.Fatal(err, answers)
		}
		for _, u := range got.URIs {
			found[u.URI] = true
		}
		if q.Cursor = got.Next; got.Next == "" {
			break
		}
	}
	if len(found) != n || answers < 2 {
		t.Errorf("%d answers found %d URIs, want %d in several", answers, len(found), n)
	}
}

// TestTitlesAndURIsShareTheTimeOfASearch searches many captures and URIs on a machine that is so slow that each look
// at the clock finds it 40 ms later.
func TestTitlesAndURIsShareTheTimeOfASearch(t *testing.T) {
	t.Parallel()
	f := stocked(t, 4000)
	listed, err := openCaptures(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		r := crawler.Report{URI: uri.FromCanonical(fmt.Sprintf("http://www.a.example/%d", i)), Finished: now, Title: "one"}
		r.Verdict.State, r.Status = evaluators.Changed, 200
		listed.Add(r)
	}
	clock := now
	slow := func() time.Time { clock = clock.Add(40 * time.Millisecond); return clock }
	got, err := search(f, listed, searchQuery{Text: "nowhere", Limit: 100}, slow)
	if took := clock.Sub(now); err != nil || got.Next == "" || took > 200*time.Millisecond {
		t.Errorf("the search took %v; next %q, %v", took, got.Next, err)
	}
	if err := listed.Close(); err != nil {
		t.Error(err)
	}
}

// TestASiteHasItsSeedsFeedsAndSettings describes a host with a seed that was visited and one that was not.
func TestASiteHasItsSeedsFeedsAndSettings(t *testing.T) {
	t.Parallel()
	text := "[operator]\nname = \"Test Library\"\ncontact = \"https://library.example/crawler\"\n[politeness]\nmin_delay = \"7s\"\n" +
		"[seeds]\nuris = [\"http://elections.example/\", \"http://elections.example/x.y/1\", \"http://other.example/\"]\n" +
		"about = [{ uri = \"http://elections.example/x.y/1\", title = \"One\", owner = \"maria\" }]\n[feeds]\nuris = [\"http://elections.example/rss\"]\n"
	c := testcrawl.Load(t, t.TempDir(), text)
	s, err := siteOf(c, stocked(t, 4), none(t), "elections.example", func() time.Time { return now })
	if err != nil || len(s.Seeds) != 3 || s.About.Owners[0] != "maria" {
		t.Fatalf("%+v, %v", s, err)
	}
	if front, one, feed := s.Seeds[0], s.Seeds[1], s.Seeds[2]; front.Kind != "front page" || front.Due != nil || one.About.Title != "One" || one.About.Owners[0] != "maria" ||
		one.Due == nil || one.Versions != 2 || feed.Kind != "feed or sitemap" {
		t.Errorf("the seeds are %+v", s.Seeds)
	}
	if len(s.Settings) != 1 || s.Settings[0].Key != "politeness.min_delay" || s.Settings[0].Origin != c.Path+":5" {
		t.Errorf("the settings are %+v", s.Settings)
	}
}

// TestASiteHasTheFeedsThatItsPagesName crawls a page that names a feed, and looks at the site and its queue.
func TestASiteHasTheFeedsThatItsPagesName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	archive := newArchived(t)
	picture := archive.Page("http://news.example/", "HTTP/1.1 200 OK\r\nContent-Type: image/png", "\x89PNG\r\n\x1a\n")
	picture.URI = "urn:fullPage:" + picture.URI
	archive.add(picture, "image/png", http.StatusOK)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.Close()
		w.shows(archive.live)
		w.Set("http://news.example/", testcrawl.Page{
			Body: `<title>News</title><link rel="alternate" type="application/rss+xml" href="/feed.xml"><p>news</p>`,
		})
		w.Set("http://news.example/feed.xml", testcrawl.Page{Every: time.Hour, Lists: 5, Type: "application/rss+xml"})
		w.Run(3 * time.Hour)
		site := get[SiteDetails](w, "/api/v1/hosts/news.example/site")
		if len(site.Seeds) != 2 || !site.Complete {
			t.Fatalf("the site is %+v, want its front page and the feed", site)
		}
		if front, feed := site.Seeds[0], site.Seeds[1]; front.Kind != "front page" || front.Title != "News" || front.Found ||
			feed.Kind != "feed" || !feed.Found || feed.URI != "http://news.example/feed.xml" || feed.Due == nil {
			t.Errorf("front page and feed are %+v", site.Seeds)
		}
		if site.Picture == nil || site.Picture.URI != "http://news.example/" || site.Picture.At != stamp(picture) {
			t.Errorf("the picture of the rendered front page is %+v, want the one of %s", site.Picture, stamp(picture))
		}
		queue := get[api.Queue](w, "/api/v1/hosts/news.example/queue?q=example%2F&sort=uri")
		if titled := slices.ContainsFunc(queue.URIs, func(x api.Waiting) bool { return x.Title == "News" }); !titled {
			t.Errorf("the queue has no title: %+v", queue.URIs)
		}
	})
}
