package admin

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/town"
)

// TestPagesThatDifferAtEachFetchAreListed crawls a page with a clock, one with a token and one that never changes. The
// first two are listed with what second looks found.
func TestPagesThatDifferAtEachFetchAreListed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		toml := strings.Replace(everyHour, "initial = \"1h\"\nmin = \"1h\"\nmax = \"1h\"", "rule = \"learned\"", 1)
		w := newWorld(t, dir, toml)
		defer w.close()
		w.set("http://news.example/", town.Page{Links: []string{"/clock", "/token", "/still"}})
		w.set("http://news.example/clock", town.Page{Clock: true, Size: 2000})
		w.set("http://news.example/token", town.Page{Token: true, Size: 2000})
		w.set("http://news.example/still", town.Page{})
		w.run(6 * time.Hour)

		found := map[string]string{}
		for _, p := range get[api.Noise](w, "/api/v1/noise?host=NEWS.example").Pages {
			kind, _, _ := strings.Cut(p.Why, ":")
			found[p.URI] = kind
			if p.Visits < 6 || p.Versions < 6 || p.LastVisit == nil {
				t.Errorf("%s: %+v, want its visits and versions", p.URI, p)
			}
		}
		if len(found) != 2 || found["http://news.example/clock"] != "restless" || found["http://news.example/token"] != "noisy" {
			t.Errorf("the pages %v are listed, want the clock as restless and the token as noisy", found)
		}
		if other := get[api.Noise](w, "/api/v1/noise?host=other.example"); len(other.Pages) > 0 || other.Next != "" {
			t.Errorf("another host: %+v", other)
		}
		rules := post[api.IgnoreProposal](w, "/api/v1/ignore/suggest", api.IgnorePage{URI: "http://news.example/clock"})
		if len(rules.Rules) > 0 || !strings.Contains(rules.Problem, "index.live") {
			t.Errorf("without an index: %+v, want the reason why there is no rule", rules)
		}
	})
}
