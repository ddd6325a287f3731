package curator

import (
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// TestACaptureIsOrderedNowAndFollowed orders a page that waits for an hour, a new one, and what cannot be captured.
func TestACaptureIsOrderedNowAndFollowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, t.TempDir(), everyHour)
		defer w.Close()
		const known, fresh = "http://news.example/", "http://news.example/fresh"
		w.Set(known, testcrawl.Page{})
		w.Set(fresh, testcrawl.Page{})
		w.Run(10 * time.Minute)
		o := CaptureOrder{URIs: []string{known, fresh, known, "http://elsewhere.example/", "nonsense"}}
		started := post[api.CaptureStarted](w, "/api/v1/capture", o)
		if !slices.Equal(started.URIs, []string{known, fresh}) || !slices.Equal(started.Outside, []string{"http://elsewhere.example/"}) || len(started.Faults) != 1 ||
			started.Faults[0] != `"nonsense" is not a URI; write a complete URI, for example https://www.news.example/` {
			t.Errorf("started: %+v", started)
		}
		ask := api.CaptureQuestion{URIs: started.URIs, Since: started.Since}
		for _, row := range post[api.CaptureProgress](w, "/api/v1/capture/progress", ask).URIs {
			if row.State != "waiting" || row.Due == nil || row.Due.After(time.Now()) {
				t.Errorf("before the visits: %+v", row)
			}
		}
		w.Run(10 * time.Minute)
		for _, row := range post[api.CaptureProgress](w, "/api/v1/capture/progress", ask).URIs {
			if row.Status != http.StatusOK || row.Why != captures.NoIndex {
				t.Errorf("after the visits: %+v", row)
			}
		}
		embeds := post[api.CaptureStarted](w, "/api/v1/capture", CaptureOrder{Embeds: true, URIs: []string{known, "http://news.example/unknown.png"}})
		if !slices.Equal(embeds.URIs, []string{known}) || !slices.Equal(embeds.Outside, []string{"http://news.example/unknown.png"}) {
			t.Errorf("embeds: %+v", embeds)
		}
		w.Set("http://news.example/robots.txt", testcrawl.Page{Body: "User-agent: *\nDisallow: /private\n", Type: "text/plain"})
		w.Run(48 * time.Hour) // robots.txt is fetched again
		const closed, gone = "http://news.example/private", "http://news.example/gone"
		w.Set(gone, testcrawl.Page{Status: http.StatusNotFound})
		started = post[api.CaptureStarted](w, "/api/v1/capture", CaptureOrder{URIs: []string{closed, gone}})
		w.Run(10 * time.Minute)
		ask = api.CaptureQuestion{URIs: started.URIs, Since: started.Since}
		var why []string
		for _, row := range post[api.CaptureProgress](w, "/api/v1/capture/progress", ask).URIs {
			why = append(why, row.State+": "+row.Why)
		}
		want := []string{"failed: not visited, because robots.txt forbids it", "failed: the site answered 404 Not Found"}
		if !slices.Equal(why, want) {
			w.Errorf("a forbidden address and one that is gone: %q, want %q", why, want)
		}
		for _, n := range []int{0, 201} {
			if status := w.Ask(http.MethodPost, "/api/v1/capture", CaptureOrder{URIs: make([]string, n)}, nil); status != http.StatusBadRequest {
				t.Errorf("%d URIs: status %d", n, status)
			}
		}
	})
}
