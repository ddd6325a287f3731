package crawllog_test

import (
	"testing"

	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/evaluators"
)

func TestAFirstCaptureIsNoVersionOfItsDay(t *testing.T) {
	t.Parallel()
	page := crawllog.RawEntry{
		URI: []byte("http://news.example/"), Status: 200, State: []byte("changed"), Scheduled: true, Visits: 1, Versions: 1,
	}
	if got, want := crawllog.DailyCount(&page), (evaluators.Day{Requests: 1}); got != want {
		t.Errorf("the first capture counts as %+v, want %+v", got, want)
	}
	page.Visits, page.Versions, page.New = 5, 2, 1.5
	want := evaluators.Day{Requests: 1, Seen: 1, Versions: 1.5, Spread: 0.25, Young: 1}
	if got := crawllog.DailyCount(&page); got != want {
		t.Errorf("the next version counts as %+v, want %+v", got, want)
	}
	page.Visits = 2
	if got := crawllog.DailyCount(&page).Blind; got != 1 {
		t.Errorf("of a page that changed at each visit %d versions are blind, want 1", got)
	}
	page.Unchanged, page.New = true, 0
	if got, want := crawllog.DailyCount(&page), (evaluators.Day{Requests: 1}); got != want {
		t.Errorf("a visit that found nothing new counts as %+v, want %+v", got, want)
	}
}
