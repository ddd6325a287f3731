package admin

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/internal/town"
	"github.com/arcrawl/arcrawl/uri"
)

// TestStatusCountsVisitsInAnyOrder reports visits to a window in the order in which slow ones end.
func TestStatusCountsVisitsInAnyOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.Close()
		for i := range 30 {
			for _, ago := range []time.Duration{0, 7 * time.Second, time.Second} {
				u := uri.FromCanonical(fmt.Sprintf("http://news.example/%d/%s", i, ago))
				w.window.Observe(crawler.Report{URI: u, Status: 200, Finished: time.Now().Add(-ago)})
			}
			time.Sleep(time.Second)
		}
		if n := get[api.Status](w, "/api/v1/status").LastMinute.Visits; n != 90 {
			t.Errorf("the status reports %d visits in the last minute, want 90", n)
		}
	})
}

// TestLiveSeriesMovesFromTheFirstSecond asks for the charts of a crawl that started a second ago, and twelve minutes
// ago.
func TestLiveSeriesMovesFromTheFirstSecond(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.Close()
		w.Set("http://news.example/", town.Page{})
		w.Run(time.Second)
		s := get[api.Series](w, "/api/v1/series?span=10m")
		if len(s.Times) != 1 || s.Step != api.Seconds(5*time.Second) || s.Values["visits"][0] != 1 || s.Values["uris"][0] != 2 ||
			s.Values["hosts"][0] != 1 {
			t.Errorf("after a second the series is %+v", s)
		}
		w.Run(12 * time.Minute)
		s = get[api.Series](w, "/api/v1/series?span=10m")
		last := len(s.Times) - 1
		if len(s.Times) != 120 || s.Times[last]-s.Times[0] != 595 || s.Values["uris"][last] != 2 || s.Values["disk_free"][last] != 1<<40 {
			t.Errorf("after twelve minutes the series has %d steps from %d to %d", len(s.Times), s.Times[0], s.Times[last])
		}
		if day := get[api.Series](w, "/api/v1/series?span=1h"); len(day.Times) != 12 {
			t.Errorf("the last hour has %d minutes, want 12", len(day.Times))
		}
	})
}
