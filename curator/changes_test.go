package curator

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
)

// paper returns a page of a newspaper.
func paper(headline string, paragraphs ...string) testcrawl.Page {
	return testcrawl.Page{Body: `<!DOCTYPE html><html lang="en"><head><title>` + headline + ` | The Courier</title></head>
<body><header><nav><a href="/world/">World</a> <a href="/city/">City</a></nav></header><main><article><h1>` + headline +
		"</h1><p>" + strings.Join(paragraphs, "</p>\n<p>") + "</p></article></main><footer>The Courier</footer></body></html>"}
}

const (
	live   = "http://news.example/live.html"
	story  = "http://news.example/harbour.html"
	first  = "The council voted on Tuesday to close the old harbour, and nobody on the quay was surprised by it."
	second = "The minister said that he had been wrong about the costs, which are now thought to be twice as high as announced in spring."
	third  = "Work begins in March, if the weather allows it, and ends in the autumn of the year after."
)

// from returns a page that is shown from an hour on.
func from(hour int, p testcrawl.Page) testcrawl.Page {
	p.From = time.Duration(hour)*time.Hour - 30*time.Minute
	return p
}

// blog returns a liveblog with an entry for each hour, the newest on top.
func blog(hour int) testcrawl.Page {
	var b strings.Builder
	for ; hour >= 7; hour-- {
		fmt.Fprintf(&b, "<section><h3><time>%02d:14:05</time></h3><p>The water is %d centimetres above the quay of the old harbour now.</p></section>", hour, 10*hour)
	}
	return testcrawl.Page{Body: "<title>Storm | The Courier</title><body><main><article><h1>Storm</h1>" + b.String() + "</article></main></body>"}
}

// newspapersDay plays a day of a newspaper: the headline of a story is softened, a paragraph goes, a wall comes, the
// story is withdrawn and returns with a paragraph less. A liveblog grows, and the front page turns over.
func newspapersDay(w *world) {
	w.Helper()
	w.Set(story, paper("Minister lied about harbour costs", first, second, third))
	w.Set(story, from(2, paper("Minister was wrong about harbour costs", first, second, third)))
	w.Set(story, from(4, paper("Minister was wrong about harbour costs", first, third)))
	w.Set(story, from(6, testcrawl.Page{Body: `<html><title>Consent</title><form action="/v2/collectConsent"></form></html>`}))
	w.Set(story, from(8, paper("Minister was wrong about harbour costs", first, third)))
	w.Set(story, from(10, testcrawl.Page{Status: 410, Body: "<title>Gone</title><p>This page is gone.</p>"}))
	w.Set(story, from(11, paper("Minister was wrong about harbour costs", first)))
	w.Set(story, from(15, testcrawl.Page{Status: 301, Location: "http://news.example/old/harbour.html"}))
	w.Set(live, blog(8))
	w.Set(live, from(12, blog(11)))
	w.Set(live, from(18, blog(17)))
	entry := func(n int) string {
		return fmt.Sprintf(`<article><h2><a href="/story-%d.html">What happened to the people of street %d</a></h2></article>`, n, n)
	}
	front := func(entries ...int) testcrawl.Page {
		var b strings.Builder
		for _, n := range entries {
			b.WriteString(entry(n))
		}
		return testcrawl.Page{Body: "<title>The Courier</title><body><main>" + b.String() + "</main></body>"}
	}
	w.Set("http://news.example/", front(1, 2, 3, 4, 5, 6))
	w.Set("http://news.example/", from(3, front(7, 8, 9, 3, 4, 5, 6)))
	w.Run(24*time.Hour - time.Minute)
	synctest.Wait()
}

// dayOfNews is a configuration for [newspapersDay]. All answers of the story confirm that it is gone.
var dayOfNews = strings.Replace(everyHour, `uris = [`, `uris = ["`+story+`", "`+live+`", `, 1)

// dropped archives no change.
func dropped(api.Capture, string) error { return nil }

// TestWhatChangedIsArchivedIfACuratorAsks plays a day with warc.changes: each change is a note about its version.
func TestWhatChangedIsArchivedIfACuratorAsks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, t.TempDir(), strings.Replace(dayOfNews, "[seeds]", "[warc]\nchanges = true\n\n[seeds]", 1))
		var notes []api.Capture
		about := map[string]int{}
		w.curation.archive = func(series, uri, record string, content []byte) error {
			var note api.Capture
			w.Must(json.Unmarshal(content, &note))
			if uri != "urn:change:"+note.URI || series != "" {
				t.Errorf("a note of %s is named %s, of the series %q", note.URI, uri, series)
			}
			if note.URI == story {
				notes = append([]api.Capture{note}, notes...)
				about[record]++
			}
			_, err := w.Parts.Archive.WriteNote(time.Now(), series, uri, record, "application/json", content)
			return err
		}
		newspapersDay(w)
		told := get[api.New](w, "/api/v1/new?change=any&limit=500&uri="+story).Captures
		if got, want := kindsOf(notes), kindsOf(told); !slices.Equal(got, want) || len(about) < 4 {
			t.Errorf("the archive has %q about the records %v, and the page %q", got, about, want)
		}
		w.Must(w.curation.close(time.Now()))
		w.Close()
	})
}

// kindsOf returns the kinds of changes, the oldest first.
func kindsOf(list []api.Capture) (all []string) {
	for _, c := range slices.Backward(list) {
		all = append(all, strings.Join(c.Change.Kinds, "+"))
	}
	return all
}

// TestANewspapersDayIsToldAsChanges plays a day and asks what changed: in the list, by kind, after a restart, and in
// the files.
func TestANewspapersDayIsToldAsChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, dayOfNews)
		closeOnce := sync.OnceFunc(func() {
			w.Must(w.curation.close(time.Now()))
			w.Close()
		})
		defer closeOnce()
		newspapersDay(w)
		all := get[api.New](w, "/api/v1/new?change=any&limit=500&uri="+story).Captures
		want := []string{"headline", "text", "wall", "returned", "withdrawn", "returned+text", "moved"}
		if got := kindsOf(all); !slices.Equal(got, want) {
			t.Fatalf("the changes are %q, want %q", got, want)
		}
		slices.Reverse(all)
		if c := all[0].Change; !slices.Equal(c.Headlines, []string{
			"Minister lied about harbour costs", "Minister was wrong about harbour costs",
		}) || c.Before == "" {
			t.Errorf("the headline: %+v", c)
		}
		if c := all[1].Change; c.Words != (api.ChangeSize{Removed: 24}) || len(c.First) != 1 || c.First[0].Text != second {
			t.Errorf("the paragraph: %+v", c)
		}
		if c := all[2].Change; c.Wall != "consent:yahoo" {
			t.Errorf("the wall: %+v", c)
		}
		if c := all[4]; c.Change.Earlier != 3 || c.Title == "" {
			t.Errorf("withdrawn: %+v %+v", c, c.Change)
		}
		if c := all[6].Change; c.To != "http://news.example/old/harbour.html" {
			t.Errorf("moved: %+v", c)
		}
		front := get[api.New](w, "/api/v1/new?change=links").Captures
		turned := api.ChangeSize{Removed: 2, Added: 3}
		if len(front) != 1 || front[0].Change.Links != turned || len(front[0].Change.Came) != 3 {
			t.Errorf("the front page: %+v", front)
		}
		grown := get[api.New](w, "/api/v1/new?change=any&limit=500&uri="+live).Captures
		if got := kindsOf(grown); !slices.Equal(got, []string{"text", "text"}) {
			t.Fatalf("the changes of the liveblog are %q", got)
		}
		newest := []api.ChangePart{{Text: "The water is 170 centimetres above the quay of the old harbour now.", Added: true}}
		c := grown[0].Change
		if c.Sentences != (api.ChangeSize{Added: 12}) || c.Words.Removed > 0 || !slices.Equal(c.First, newest) {
			t.Errorf("the liveblog: %+v", c)
		}
		for query, want := range map[string]int{
			"change=headline": 1, "removed=20": 1, "change=withdrawn&host=news.example": 1, "change=any&host=other.example": 0,
			"change=any&since=2000-01-01T09:00:00Z": 5, "change=any&since=2001-01-01T09:00:00Z": 0, "change=any&limit=2": 2,
			"change=any&before=2000-01-01T03:00:00Z": 1, "change=any&after=2000-01-01T14:00:00Z": 2, "change=any&label=x": 0,
		} {
			if got := get[api.New](w, "/api/v1/new?"+query).Captures; len(got) != want {
				t.Errorf("%s selects %d changes, want %d: %q", query, len(got), want, kindsOf(got))
			}
		}
		list := get[api.New](w, "/api/v1/new?limit=500").Captures
		joined := 0
		for _, c := range list {
			if c.Change != nil {
				joined++
			}
		}
		if joined != 10 {
			t.Errorf("the list of what is new has %d changes of 10: %+v", joined, list)
		}
		feed := string(w.serve("GET", "/feed.atom?change=any", ""))
		for _, want := range []string{
			"&lt;del&gt;Minister lied about harbour costs&lt;/del&gt;", "text (−24 +0 words), version 3 of " + story,
			"links (−2 +3)", "&lt;ins&gt;What happened to the people of street 7&lt;/ins&gt;", "withdrawn after 3 versions",
			"New captures, change any",
		} {
			if !strings.Contains(feed, want) {
				t.Errorf("the feed does not say %q:\n%s", want, feed)
			}
		}
		closeOnce()

		again := newWorld(t, dir, dayOfNews)
		defer again.Close()
		if got := kindsOf(get[api.New](again, "/api/v1/new?change=any&limit=500&uri="+story).Captures); !slices.Equal(got, want) {
			t.Errorf("after a restart the changes are %q, want %q", got, want)
		}
		if files, err := os.ReadDir(filepath.Join(dir, changesFolder)); err != nil || len(files) != 1 || files[0].Name() != "2000-01-01.jsonl" {
			t.Errorf("the files are %v, %v", files, err)
		}
	})
}

// TestTooManyVersionsAreCountedAndLeftOut lets more versions come at once than can wait.
func TestTooManyVersionsAreCountedAndLeftOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u, err := uri.Parse(story)
		if err != nil {
			t.Fatal(err)
		}
		store, err := openChanges(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		full, unread, begin := 0, 0, make(chan struct{})
		count, told := func() { full++ }, func(n int) { unread = n }
		c := &comparer{store: store, now: time.Now, full: count, unread: told, keep: dropped}
		c.note = func(v crawler.Report) api.Capture {
			<-begin
			return api.Capture{URI: v.URI.String(), At: v.Finished, Change: &api.Change{Kinds: []string{"text"}}}
		}
		v := crawler.Report{URI: u, Versions: 2, Type: "text/html", Archived: &crawler.Archived{}}
		for range maxUncompared + 100 {
			c.Observe(v)
		}
		close(begin)
		synctest.Wait()
		time.Sleep(time.Minute)
		if left := c.Uncompared(); full != 1 || left < 99 || left > 100 {
			t.Errorf("%d versions were left out, said %d times", left, full)
		}
		if n := len(store.latest()); n != maxCaptures {
			t.Errorf("%d changes are in memory, want %d", n, maxCaptures)
		}
		begin = make(chan struct{})
		for range 3 { // one is being compared, two wait
			c.Observe(v)
		}
		synctest.Wait()
		time.AfterFunc(time.Second, func() { close(begin) })
		if err := c.Close(); err != nil || unread != 2 {
			t.Errorf("after the end %d versions were not compared, want 2; %v", unread, err)
		}
	})
}

// TestChangesAreListedAndRebuiltFromTheArchive plays a day, lists its changes without a daemon, removes them, makes
// them again from the archive, and lists them again.
func TestChangesAreListedAndRebuiltFromTheArchive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, dayOfNews, func(o *admin.Options) { o.Dir = o.Config().Config.Storage.State })
		newspapersDay(w)
		w.Must(w.curation.close(time.Now()))
		w.Close()
		run := func(do func(c *changesCommand, out *strings.Builder) error) string {
			t.Helper()
			c := changesCommand{now: time.Now, since: "1999-12"}
			c.Config = w.Path("arcrawl.toml")
			var out strings.Builder
			w.Must(do(&c, &out))
			return out.String()
		}
		list := func(change func(c *changesCommand)) string {
			return run(func(c *changesCommand, out *strings.Builder) error {
				change(c)
				return c.run(t.Context(), out, io.Discard)
			})
		}
		all := list(func(*changesCommand) {})
		for _, want := range []string{
			"2000-01-01 02:00:02  " + story + "\n    headline\n    − Minister lied about harbour costs\n    + Minister was wrong",
			"    text (−24 +0 words)\n    [−The minister said", "wall (consent:yahoo)", "withdrawn after 3 versions",
			"moved to http://news.example/old/harbour.html", "links (−2 +3)\n    + What happened to the people of street 7  http://news.example/story-7.html",
		} {
			if !strings.Contains(all, want) {
				t.Errorf("the list does not say %q:\n%s", want, all)
			}
		}
		for want, change := range map[int]func(c *changesCommand){
			1:  func(c *changesCommand) { c.kind, c.JSON = "headline", true },
			2:  func(c *changesCommand) { c.kind, c.JSON = "returned", true },
			0:  func(c *changesCommand) { c.host, c.JSON = "other.example", true },
			10: func(c *changesCommand) { c.host, c.JSON = "news.example", true },
			7:  func(c *changesCommand) { c.uri, c.JSON = story, true },
		} {
			if got := list(change); strings.Count(got, "\n") != want {
				t.Errorf("%d lines, want %d:\n%s", strings.Count(got, "\n"), want, got)
			}
		}
		w.Must(os.RemoveAll(w.curation.changes.store.dir))
		rebuild := func(c *changesCommand, out *strings.Builder) error { return c.rebuild(t.Context(), out, io.Discard) }
		if said := run(rebuild); said != "10 changes in 1 day\n" {
			t.Errorf("rebuild said %q", said)
		}
		again := list(func(*changesCommand) {})
		if again != all {
			t.Errorf("after the rebuild the changes are\n%s\nwant\n%s", again, all)
		}
		run(func(c *changesCommand, out *strings.Builder) error {
			c.host = "other.example"
			return rebuild(c, out)
		})
		if got := list(func(*changesCommand) {}); got != all {
			t.Errorf("a rebuild of another host changed the changes to\n%s", got)
		}
	})
}
