package render_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/render"
)

const hour = time.Hour

// TestTheTextDecidesInACrawl crawls for twelve days with change.of = "rendered". A browser that needs no time shows a
// text after each visit. If the source has another token at each fetch, the page is not visited ever more often for its
// tokens. If the source is the shell of an application, and never changes, the page is visited about as often as its
// text changes. A first rendering says nothing, as there is none to compare it with. robots.txt and pages of other
// settings are not rendered.
func TestTheTextDecidesInACrawl(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		page     testcrawl.Page
		text     time.Duration // how often it changes
		settings string
	}{
		"source-differs": {
			testcrawl.Page{Every: 40 * 24 * hour, Token: true, Size: 2000},
			72 * hour,
			"[[wait]]\nmime = \".*\"\nrule = \"classic\"\ninitial = \"12h\"\n[change]\nof = \"rendered\"\n" + changed,
		},
		"source-same": {
			testcrawl.Page{Every: 400 * 24 * hour, Size: 2000},
			24 * hour,
			"[[wait]]\nmime = \".*\"\nrule = \"learned\"\n[change]\nof = \"rendered\"\n[render]\npages = \"every 1h\"\n",
		},
		"source-decides": {testcrawl.Page{Every: 40 * 24 * hour}, 24 * hour, changed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var got string
			synctest.Test(t, func(t *testing.T) { got = crawl(t, dir, c.settings, c.page, c.text) })
			want, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
			if err != nil && name != "source-decides" {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the crawl differs (-expected +played):\n%s", diff)
			}
			log, err := os.ReadFile(filepath.Join(dir, "crawl.log"))
			if err != nil || strings.Contains(string(log), "rendered:changed") != (len(want) > 0) {
				t.Errorf("%v, crawl.log is\n%s", err, log)
			}
		})
	}
}

// crawl crawls a page for twelve days. It returns a line for each visit that was rendered: the wait by its source, and
// what the text decided, which changes every so often.
func crawl(t *testing.T, dir, settings string, page testcrawl.Page, every time.Duration) string {
	const address = "http://app.example/"
	text := "[operator]\nname = \"Test\"\ncontact = \"https://library.example/\"\n[seeds]\nuris = [\"" + address + "\"]\n" +
		"[feeds]\nusual_sitemap = false\n[dedup]\nmin_size = \"0B\"\n" + settings
	c := testcrawl.Load(t, dir, text)
	site := testcrawl.NewTown(time.Now())
	defer site.Close()
	if err := site.Set(address, page); err != nil {
		t.Fatal(err)
	}
	parts := testcrawl.Open(t, c, testcrawl.Options{Dir: dir, Dial: site.Dial, Log: zerolog.Nop()})
	defer testcrawl.Close(t, parts)
	var told strings.Builder
	parts.FreeSpace = func() (int64, error) { return 1 << 40, nil }
	parts.Rendered = render.Aspect{}
	parts.Observe = func(r crawler.Report) {
		facts, ok := r.Rendered.(*render.Facts)
		if !ok || r.URI.String() != address {
			return
		}
		s := c.For(config.About{URI: r.URI, Hops: r.Hops, ContentType: r.Type, Now: r.Finished})
		shown := digest.Of([]byte(strconv.Itoa(int(r.Finished.Sub(testcrawl.Epoch) / every))))
		_, err := parts.Frontier.Revise(r.Finished, r.URI, func(record *frontier.Record) bool {
			state := facts.Decide(record, config.Own[noise.Options](&s).Rules.Whole(shown), &s)
			fmt.Fprintf(&told, "wait %v (%s) {text %s: wait %v, %d versions}\n", r.Wait.Interval.Round(time.Second),
				r.Wait.Reason, state, record.Due.Sub(r.Finished).Round(time.Second), record.Versions)
			return true
		})
		if err != nil {
			t.Error(err)
		}
	}
	crawling := crawler.New(parts)
	if _, err := crawling.AddSeeds(time.Now()); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithTimeout(t.Context(), 12*24*hour)
	defer end()
	if err := crawling.Run(ctx); err != nil {
		t.Error(err)
	}
	return told.String()
}
