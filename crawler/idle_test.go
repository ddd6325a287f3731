package crawler_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// For a week of virtual time no URI in the store is due. The memory in use must not grow, and the waiting worker must
// sleep as long as possible.
func TestIdleCrawlTakesNoMemoryAndSleeps(t *testing.T) {
	slow.Test(t)
	inTown(t, "[storage]\nmin_free = \"0B\"\n", func(t *testing.T, w *world) {
		parts, shut := w.open()
		defer shut()
		const uris = 5_000
		addPagesLater(t, parts.Frontier, "http://news.example", uris, 30*24*time.Hour)
		var rounds atomic.Int64
		parts.Beat = func(time.Time) { rounds.Add(1) }
		var resting, rests atomic.Int64
		parts.NotifyRest = func(rest bool) {
			if rest == (resting.Load() == 1) {
				t.Error("NotifyRest is called twice with the same value")
			}
			resting.Store(map[bool]int64{true: 1}[rest])
			rests.Add(1)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		c := crawler.New(parts)
		go func() { done <- c.Run(ctx) }()
		time.Sleep(time.Hour)
		synctest.Wait()
		before, roundsBefore := inUse(), rounds.Load()
		time.Sleep(7 * 24 * time.Hour)
		synctest.Wait()
		after, week := inUse(), int(rounds.Load()-roundsBefore)
		if resting.Load() != 1 {
			t.Error("the crawl is not idle after a week in which nothing was due")
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if resting.Load() != 0 || rests.Load() < 2 {
			t.Errorf("the crawl is idle at its end, or NotifyRest was called only %d times", rests.Load())
		}
		t.Logf("in use: %d KB, after the week %d KB; %d looks for something to claim", before>>10, after>>10, week)
		const slack = 512 << 10 // for tests that run at the same time, and for the runtime
		if after > before+slack {
			t.Errorf("%d KB are in use after a week without visits, %d KB before it", after>>10, before>>10)
		}
		if minutes := 7 * 24 * 60; week < minutes || week > minutes+10 {
			t.Errorf("workers looked for something to claim %d times in %d minutes, want once a minute", week, minutes)
		}
	})
}

// inUse returns the number of bytes in use after a garbage collection.
func inUse() int64 {
	var m runtime.MemStats
	for range 2 { // the second collection empties the pools
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
