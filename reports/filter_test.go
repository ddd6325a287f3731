package reports

import (
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// TestReportsAreFilteredByLabelCollectionAndOwner asks for reports on some of the hosts.
func TestReportsAreFilteredByLabelCollectionAndOwner(t *testing.T) {
	toml := "[dedup]\nmin_size = \"0B\"\n" + strings.Replace(testcrawl.EveryHour, `uris = ["http://news.example/"]`,
		`uris = ["http://news.example/", "http://other.example/"]
about = [{ uri = "http://news.example/", title = "News", labels = ["papers"], collections = ["elections"], owner = "maria" },
  { uri = "http://other.example/", labels = ["papers"] }]`, 1)
	inWorld(t, toml, func(w *world) {
		w.Set("http://news.example/", testcrawl.Page{Body: "news"})
		w.Set("http://other.example/", testcrawl.Page{Body: "other"})
		w.known("bare.example", 5, 48*time.Hour, -24*time.Hour) // which is never visited
		w.Run(90 * time.Minute)
		for query, want := range map[string]int{"": 2, "label=papers": 2, "label=papers&owner=maria": 1, "collection=elections": 1, "owner=jan": 0} {
			if got := get[api.DedupReport](w, "/api/v1/reports/dedup?"+query); len(got.Hosts) != want {
				w.Errorf("%q selects %d hosts of the deduplication, want %d", query, len(got.Hosts), want)
			}
			if got := get[api.DayReport](w, "/api/v1/reports/days?"+query); len(got.Hosts) != want {
				w.Errorf("%q selects %d hosts of the days, want %d", query, len(got.Hosts), want)
			}
		}
		if all, err := headerReport(w.Parts.Reputation, w.Parts.Config.Current(), w.window.Chooses(config.Filter{Owner: "jan"}), time.Now()); err != nil || len(all.Rows) != 0 {
			w.Errorf("nobody's hosts have %d rows about headers, %v", len(all.Rows), err)
		}
	})
}
