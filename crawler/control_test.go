package crawler_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/internal/town"
)

// The list of visits in progress is read while the network is slow.
func TestInProgressListsVisits(t *testing.T) {
	inTown(t, everyHour, func(t *testing.T, w *world) {
		w.set("http://news.example/", town.Page{Every: time.Minute})
		slow := func(ctx context.Context, network, address string) (net.Conn, error) {
			<-time.After(10 * time.Second)
			return w.town.Dial(ctx, network, address)
		}
		parts, shut := w.openWith(slow)
		defer shut()
		c := crawler.New(parts)
		looked := make(chan []crawler.Visiting, 1)
		defer time.AfterFunc(5*time.Second, func() { looked <- c.InProgress() }).Stop()
		w.crawlWith(c, time.Minute)
		seen := <-looked
		if len(seen) != 1 || seen[0].URI.String() != "http://news.example/" || seen[0].Claimed.IsZero() {
			t.Errorf("in progress after five seconds: %v; want the URI that was claimed, although its robots.txt is fetched first", seen)
		}
		if left := c.InProgress(); len(left) != 0 {
			t.Errorf("in progress after the end: %v", left)
		}
	})
}
