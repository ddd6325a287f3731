package crawler_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/internal/town"
)

// A sitemap is looked for where no robots.txt names one, so that articles are found that only a sitemap lists.
func TestSitemapIsFoundWithoutRobotsTxt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		robots *town.Page
		toml   string
		found  int
	}{
		{"no robots.txt", nil, "[feeds]\nusual_sitemap = true\n", 10},
		{"a robots.txt without a sitemap", &town.Page{Type: "text/plain", Body: "User-agent: *\nDisallow: /private/\n"}, "[feeds]\nusual_sitemap = true\n", 10},
		{"a robots.txt that names another one", &town.Page{Type: "text/plain", Body: "Sitemap: /other.xml\n"}, "[feeds]\nusual_sitemap = true\n", 0},
		{"not wanted", nil, "[feeds]\nusual_sitemap = false\n", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, dir, "[seeds]\nuris = [\"http://news.example/\"]\n"+c.toml)
				defer w.town.Close()
				w.set("http://news.example/", town.Page{Links: []string{"http://other.example/"}})
				w.set("http://other.example/", town.Page{})
				if c.robots != nil {
					w.set("http://news.example/robots.txt", *c.robots)
				}
				var list strings.Builder
				for i := range 10 {
					page := fmt.Sprintf("http://news.example/article/%d", i)
					w.set(page, town.Page{})
					fmt.Fprintf(&list, "<url><loc>%s</loc></url>", page)
				}
				w.set("http://news.example/sitemap.xml", town.Page{
					Type: "application/xml",
					Body: "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>" + list.String() + "</urlset>",
				})
				w.run(time.Hour)
				found := 0
				for i := range 10 {
					found += min(1, len(w.visits(fmt.Sprintf("/article/%d", i))))
				}
				if found != c.found {
					t.Errorf("%d articles were found, want %d", found, c.found)
				}
				if elsewhere := w.visits("other.example/sitemap.xml"); len(elsewhere) > 0 {
					t.Error("a sitemap was looked for on a host that is out of scope")
				}
			})
		})
	}
}
