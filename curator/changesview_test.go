package curator

import (
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/browser"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// newspapersDayInABrowser plays a day and records the answers of the API for the pages that show its changes.
func newspapersDayInABrowser(t *testing.T) *recorded {
	t.Helper()
	r := newRecorded()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		toml := dayOfNews + "about = [{ uri = \"http://news.example/\", title = \"The Courier\", labels = [\"papers\"] }]\n"
		w := newWorld(t, dir, toml)
		defer w.Close()
		newspapersDay(w)
		u := url.QueryEscape(story)
		r.record(w, "status?", "names?", "me?", "new?", "new?limit=1", "new?change=headline", "new?removed=20",
			"new?change=withdrawn", "new?change=any", "new?change=any&limit=100&uri="+u, "uri?uri="+u, "why?uri="+u, "versions?uri="+u)
		r.answers[api.Base+"/me?"] = []byte(`{"name": "maria", "role": "curate", "way": "session"}`)
	})
	return r
}

// TestANewspapersDayIsSeenInABrowser looks at the list of what is new and at the history of a page, in both themes, on
// a wide and on a narrow screen. Each change is within two clicks. axe-core looks at each page.
func TestANewspapersDayIsSeenInABrowser(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	axe := foreign.Axe(t)
	site := httptest.NewServer(newspapersDayInABrowser(t))
	t.Cleanup(site.Close)
	history := "uri?u=" + url.QueryEscape(story)
	pages := map[string][]string{
		"":                   {"moved", "to http://news.example/old/harbour.html", "+3, −2 links", "What happened to the people of street 7"},
		"?change=headline":   {"Minister lied about harbour costs", "Minister was wrong about harbour costs"},
		"?change=removed-20": {"−24 words", "twice as high as announced in spring"},
		"?change=withdrawn":  {"withdrawn after 3 versions"},
		history: {
			"What changed", "headline", "−24 words", "behind a wall (consent:yahoo)", "returned", "withdrawn after 3 versions", "moved",
		},
	}
	for name, narrow := range map[string]bool{"light": false, "dark": true, "light-narrow": true, "dark-wide": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := browser.Open(t, 1280, 1100)
			if strings.HasPrefix(name, "dark") {
				p.Dark()
			}
			if narrow {
				p.Resize(390, 844)
			}
			for page, wants := range pages {
				p.Go("about:blank")
				p.Go(site.URL + "/#/" + page)
				ready := map[bool]string{true: "new", false: page}[page == ""]
				p.Wait(`document.getElementById("view").dataset.ready === ` + strconv.Quote(ready))
				text := p.Check(axe, "{}", page)
				for _, want := range wants {
					if want = strings.ReplaceAll(want, "−", `\u2212`); !strings.Contains(text, want) {
						t.Errorf("%s: the page %q does not say %q:\n%s", name, page, want, text)
					}
				}
				if page == "?change=headline" && p.Eval(`document.querySelectorAll(".headlines del, .headlines ins").length`) != "2" {
					t.Errorf("%s: the old and the new headline are not marked:\n%s", name, text)
				}
				if wide := p.Eval(`document.documentElement.scrollWidth > innerWidth`); wide != "false" {
					t.Errorf("%s: the page %q is wider than the screen", name, page)
				}
				browser.Keep(t, "changes-"+name+"-"+page, p.Screenshot())
			}
		})
	}
}
