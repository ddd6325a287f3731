package crawler_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/internal/town"
	"github.com/arcrawl/arcrawl/uri"
)

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
		w.set("http://mixed.example/", town.Page{Links: []string{"/c1", "/c2", "/c3", "/s1", "/s2", "/s3"}})
		for _, name := range []string{"1", "2", "3"} {
			w.set("http://mixed.example/c"+name, town.Page{Clock: true})
			w.set("http://mixed.example/s"+name, town.Page{})
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
		later := town.Epoch.Add(24 * time.Hour)
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
