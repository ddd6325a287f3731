package noise

import (
	"flag"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/routetest"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// newWorld opens a crawl and a window with the requests of this package.
func newWorld(t *testing.T, dir, toml string) *testcrawl.World {
	t.Helper()
	w := testcrawl.NewWorld(t, dir, toml)
	r := w.Parts
	window, err := admin.New(admin.Options{
		Crawler: w.Crawler, Frontier: r.Frontier, Trust: r.Reputation, Accounts: r.Daily,
		Traps: r.Traps, FreeSpace: r.FreeSpace, Dir: dir,
		Config: func() admin.Loaded { return admin.Loaded{Config: r.Config.Current(), At: w.Started} }, Now: time.Now,
		Version: "test", Workers: 50, Log: r.Log, Extensions: []admin.Extension{extension(nil)},
	})
	w.Must(err)
	w.Window, w.Handler = window, window.Handler(access.Options{})
	w.AddSeeds()
	return w
}

var update = flag.Bool("update", false, "rewrite the file that is generated from the code")

// TestTheOpenAPIDocumentIsFresh compares openapi.json with the routes. The flag -update rewrites the file.
func TestTheOpenAPIDocumentIsFresh(t *testing.T) {
	t.Parallel()
	routetest.OpenAPI(t, "openapi.json", routes(nil), true, *update, "../", "answers.go")
}

// TestPagesThatDifferAtEachFetchAreListed crawls pages with a clock, one with a token and one that never changes. The
// last one is not listed. The others are, with what second looks found, and with the rule that would silence a page.
func TestPagesThatDifferAtEachFetchAreListed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		toml := strings.Replace(testcrawl.EveryHour, "rule = \"classic\"\ninitial = \"1h\"\nmin = \"1h\"\nmax = \"1h\"", "rule = \"learned\"", 1)
		w := newWorld(t, dir, toml)
		defer w.Close()
		w.Set("http://news.example/", testcrawl.Page{Links: []string{"/clock", "/short", "/token", "/still"}})
		w.Set("http://news.example/short", testcrawl.Page{Clock: true})
		w.Set("http://news.example/clock", testcrawl.Page{Clock: true, Size: 2000})
		w.Set("http://news.example/token", testcrawl.Page{Token: true, Size: 2000})
		w.Set("http://news.example/still", testcrawl.Page{})
		w.Run(6 * time.Hour)

		found := map[string]string{}
		for _, p := range testcrawl.Get[Noise](w, "/api/v1/noise?host=NEWS.example").Pages {
			kind, _, _ := strings.Cut(p.Why, ":")
			found[p.URI] = kind
			clock := strings.HasSuffix(p.URI, "/clock")
			rule := ScrubRule{Kind: "scrub_css", Rule: "i.clock"}
			if clock != (len(p.Rules) == 1 && p.Rules[0] == rule && strings.HasSuffix(p.Why, ": scrub_css = ['i.clock']")) {
				t.Errorf("%s: %+v, want the rule that silences it", p.URI, p)
			}
			if why := testcrawl.Get[api.Why](w, "/api/v1/why?uri="+url.QueryEscape(p.URI)); why.Noise != p.Why {
				t.Errorf("why says %q of %s, want %q", why.Noise, p.URI, p.Why)
			}
			if p.Visits < 6 || p.Versions < 6 || p.LastVisit == nil {
				t.Errorf("%s: %+v, want its visits and versions", p.URI, p)
			}
		}
		want := map[string]string{
			"http://news.example/clock": "noisy", "http://news.example/short": "restless", "http://news.example/token": "noisy",
		}
		if !maps.Equal(found, want) {
			t.Errorf("the pages %v are listed, want %v", found, want)
		}
		if nobodys := testcrawl.Get[Noise](w, "/api/v1/noise?owner=nobody").Pages; len(nobodys) > 0 {
			t.Errorf("of an owner without hosts there are %+v", nobodys)
		}
		if other := testcrawl.Get[Noise](w, "/api/v1/noise?host=other.example"); len(other.Pages) > 0 || other.Next != "" {
			t.Errorf("another host: %+v", other)
		}
		var problem api.Problem
		if status := w.Ask(http.MethodGet, "/api/v1/noise?cursor=zz", nil, &problem); status != 400 || problem.Error == "" {
			t.Errorf("a wrong cursor: status %d, %q, want 400 and a reason", status, problem.Error)
		}
		rules := testcrawl.Post[IgnoreProposal](w, "/api/v1/ignore/suggest", IgnorePage{URI: "http://news.example/clock"})
		if len(rules.Rules) > 0 || !strings.Contains(rules.Problem, "index.live") {
			t.Errorf("without an index: %+v, want the reason why there is no rule", rules)
		}
	})
}
