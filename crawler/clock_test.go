package crawler_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// TestAClockThatJumpsAheadEndsNoRest lets the clock jump while many hosts rest after a visit. While one worker moves
// their rests, the others want to claim: each host would be asked at once, for its robots.txt, which has become stale.
func TestAClockThatJumpsAheadEndsNoRest(t *testing.T) {
	inTown(t, onceADay, func(t *testing.T, w *world) {
		parts, shut := w.open()
		defer shut()
		c := crawler.New(parts)
		now := time.Now()
		const hosts = 600
		for i := range hosts {
			for _, path := range []string{"a", "b"} {
				u, err := uri.Parse(fmt.Sprintf("http://h%d.example/%s", i, path))
				must(t, err)
				_, err = parts.Frontier.Add(now, frontier.Candidate{URI: u, Seed: u.String(), Due: now})
				must(t, err)
			}
		}
		for range hosts {
			if ok, err := c.ClaimAndSettle(now, time.Minute); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		jumped := now.Add(48 * time.Hour)
		var workers sync.WaitGroup
		for range 8 {
			workers.Go(func() {
				if ok, err := c.ClaimAndSettle(jumped, time.Minute); ok || err != nil {
					t.Errorf("a host is visited within its rest: %t, %v", ok, err)
				}
			})
		}
		workers.Wait()
		time.Sleep(time.Minute)
		if ok, err := c.ClaimAndSettle(jumped.Add(time.Minute), time.Minute); !ok || err != nil {
			t.Errorf("no host is visited after its rest: %t, %v", ok, err)
		}
	})
}
