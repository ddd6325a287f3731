package stats_test

import (
	"testing"

	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/crawllog/stats"
	"github.com/arcrawl/arcrawl/evaluators"
)

func TestAFirstCaptureIsNoVersionOfItsDay(t *testing.T) {
	t.Parallel()
	page := crawllog.RawEntry{
		URI: []byte("http://news.example/"), Status: 200, State: []byte("changed"), Scheduled: true, Visits: 1, Versions: 1,
	}
	if got, want := stats.DailyCount(&page), (evaluators.Day{Requests: 1}); got != want {
		t.Errorf("the first capture counts as %+v, want %+v", got, want)
	}
	page.Visits, page.Versions, page.New = 5, 2, 1.5
	if got, want := stats.DailyCount(&page), (evaluators.Day{Requests: 1, Seen: 1, Versions: 1.5}); got != want {
		t.Errorf("the next version counts as %+v, want %+v", got, want)
	}
}
