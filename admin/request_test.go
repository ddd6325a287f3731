package admin

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// TestListsAreFilteredByLabelCollectionAndOwner asks for some of the hosts, and counts visits by label.
func TestListsAreFilteredByLabelCollectionAndOwner(t *testing.T) {
	toml := "[dedup]\nmin_size = \"0B\"\n" + strings.Replace(everyHour, `uris = ["http://news.example/"]`,
		`uris = ["http://news.example/", "http://other.example/"]
about = [{ uri = "http://news.example/", title = "News", labels = ["papers"], collections = ["elections"], owner = "maria" },
  { uri = "http://other.example/", labels = ["papers"] }]`, 1)
	inWorld(t, toml, func(w *world) {
		w.Set("http://news.example/", testcrawl.Page{Body: "news"})
		w.Set("http://other.example/", testcrawl.Page{Body: "other"})
		w.known("bare.example", 5, time.Hour, time.Minute)
		_, _, err := w.Parts.Frontier.SteerHosts(time.Now(), "bare.example", frontier.HostAction{Verb: frontier.Pause})
		w.Must(err)
		w.Run(90 * time.Minute)
		for query, want := range map[string]int{"": 3, "label=papers": 2, "label=papers&owner=maria": 1, "collection=elections": 1, "owner=jan": 0} {
			if got := get[api.Hosts](w, "/api/v1/hosts?"+query); got.Total != want {
				w.Errorf("%q selects %d hosts, want %d", query, got.Total, want)
			}
			if got := get[api.Overdue](w, "/api/v1/overdue?"+query); len(got.Rows) != want {
				w.Errorf("%q selects %d overdue hosts, want %d", query, len(got.Rows), want)
			}
			if got := get[api.Overdue](w, "/api/v1/overdue?by=host&latest=true&"+query); len(got.Rows) != want {
				w.Errorf("%q selects %d hosts of the last survey, want %d", query, len(got.Rows), want)
			}
			if query != "" && want > 0 {
				got := get[api.SitesStatus](w, "/api/v1/status/sites?"+query)
				known := got.Hosts.Known == int64(want) && got.URIs.Known == int64(2*want)
				if !known || got.Today.Requests != 3*want || got.URIs.Due != -1 {
					w.Errorf("%q has the state %+v", query, got)
				}
			}
		}
		if got := get[api.SitesStatus](w, "/api/v1/status/sites"); got.Hosts.Known != 3 || got.Hosts.Paused != 1 || got.Today.Requests != 6 {
			w.Errorf("all hosts have the state %+v", got)
		}
		if status := w.Ask(http.MethodGet, "/api/v1/status/sites?owner=jan", nil, nil); status != http.StatusBadRequest {
			w.Errorf("the state of the hosts of an unknown owner: status %d", status)
		}
		if got := get[api.HostNames](w, "/api/v1/names").Sites; !slices.Equal(got.Names(), []string{"papers", "elections", "maria"}) {
			w.Errorf("in use are %+v", got)
		}
		if got := get[api.Host](w, "/api/v1/hosts/news.example").About; got.Title != "News" || got.Owners[0] != "maria" {
			w.Errorf("the host is described as %+v", got)
		}
		text := w.scrape()
		for _, want := range []string{
			`arcrawl_label_visits_total{label="papers"} 6`, `arcrawl_label_versions_total{label="papers"} 4`, `arcrawl_label_hosts_down{label="papers"} 0`,
		} {
			if !strings.Contains(text, want+"\n") {
				w.Errorf("the metrics do not contain %s", want)
			}
		}
	})
}
