package daemon

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestGarbageIsBoundedByWhatACollectionSearches(t *testing.T) {
	t.Parallel()
	const mb = 1 << 20
	for _, c := range []struct {
		name string
		heap
		want int // percent
	}{
		{"a small heap: half of what is in use", heap{live: 8 * mb, scanned: 2 * mb, roots: mb}, 50},
		{"a crawl that begins: half of what is in use", heap{live: 30 * mb, scanned: 4 * mb, roots: 2 * mb}, 50},
		{"a crawl that builds tables: 16 MB", heap{live: 96 * mb, scanned: 6 * mb, roots: 4 * mb}, 16},
		{"a heap with many pointers: as much as is searched", heap{live: 190 * mb, scanned: 50 * mb, roots: 10 * mb}, 30},
		{"a heap of pointers only: half of what is in use", heap{live: 200 * mb, scanned: 200 * mb, roots: 10 * mb}, 50},
		{"before the first collection: half of what is in use", heap{}, 50},
	} {
		if got := c.garbagePercent(); got != c.want {
			t.Errorf("%s: %d %%, want %d", c.name, got, c.want)
		}
	}
}

// This test is not parallel, because it changes a setting of the whole process.
func TestTheBoundFollowsEachCollection(t *testing.T) {
	t.Setenv("GOGC", "")
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	stop := boundGarbage()
	defer stop()
	blocks := make([]byte, 256<<20) // without pointers, so a collection does not search them
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
	if got := collect(func(percent int) bool { return percent < MaxGarbage/2 }); got >= MaxGarbage/2 {
		t.Errorf("with 256 MB without pointers the bound is %d %%, want less than %d", got, MaxGarbage/2)
	}
	runtime.KeepAlive(blocks)
	blocks = nil
	if got := collect(func(percent int) bool { return percent == MaxGarbage }); got != MaxGarbage {
		t.Errorf("after the 256 MB were collected the bound is %d %%, want %d", got, MaxGarbage)
	}
}

// This test is not parallel, because it changes a setting of the whole process.
func TestGOGCInTheEnvironmentWins(t *testing.T) {
	t.Setenv("GOGC", "77")
	defer debug.SetGCPercent(debug.SetGCPercent(77))
	defer boundGarbage()()
	runtime.GC()
	runtime.GC()
	if _, percent := lastCollection(); percent != 77 {
		t.Errorf("the bound is %d %%, want 77", percent)
	}
}
