package main

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestNoMoreGarbageGathersThanItIsWorthToLeave(t *testing.T) {
	t.Parallel()
	const mb = 1 << 20
	for _, c := range []struct {
		name string
		heap
		want int // percent
	}{
		{"of a small heap half as much as is in use", heap{live: 8 * mb, scanned: 2 * mb, roots: mb}, 50},
		{"of a crawl that begins too", heap{live: 30 * mb, scanned: 4 * mb, roots: 2 * mb}, 50},
		{"of one that builds tables 16 MB", heap{live: 96 * mb, scanned: 6 * mb, roots: 4 * mb}, 16},
		{"of one that has much to look through as much as that", heap{live: 190 * mb, scanned: 50 * mb, roots: 10 * mb}, 30},
		{"of one that has nothing else half as much", heap{live: 200 * mb, scanned: 200 * mb, roots: 10 * mb}, 50},
		{"before the first collection half as much", heap{}, 50},
	} {
		if got := c.percent(); got != c.want {
			t.Errorf("%s: %d %%, want %d", c.name, got, c.want)
		}
	}
}

// Not parallel: what it changes is of the whole process.
func TestGarbageIsBoundAnewAfterACollection(t *testing.T) {
	t.Setenv("GOGC", "")
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	stop := leanGarbage()
	defer stop()
	blocks := make([]byte, 256<<20) // of which nothing has to be looked through
	collect := func(until func(percent int) bool) int {
		percent := 0
		for range 1000 {
			runtime.GC()
			runtime.Gosched()
			if _, percent = lastCollection(); until(percent) {
				break
			}
		}
		return percent
	}
	if got := collect(func(percent int) bool { return percent < garbage/2 }); got >= garbage/2 {
		t.Errorf("beside 256 MB without pointers %d %%, want less than %d", got, garbage/2)
	}
	runtime.KeepAlive(blocks)
	blocks = nil
	if got := collect(func(percent int) bool { return percent == garbage }); got != garbage {
		t.Errorf("after they have gone %d %%, want %d", got, garbage)
	}
}

// Not parallel: what it changes is of the whole process.
func TestWhoeverSetsGOGCIsObeyed(t *testing.T) {
	t.Setenv("GOGC", "77")
	defer debug.SetGCPercent(debug.SetGCPercent(77))
	defer leanGarbage()()
	runtime.GC()
	runtime.GC()
	if _, percent := lastCollection(); percent != 77 {
		t.Errorf("garbage is bound by %d %%, want 77", percent)
	}
}
