package daemon

import (
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// This test is not parallel, because it changes a setting of the whole process.
func TestAllProcessorsAreUsedAgainAfterARest(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	rest := oneProcessorAtRest()
	for range 2 {
		rest(true)
		if n := runtime.GOMAXPROCS(0); n != 1 {
			t.Errorf("at rest the program runs on %d processors, want 1", n)
		}
		rest(false)
		if n := runtime.GOMAXPROCS(0); n != before {
			t.Errorf("after the rest the program runs on %d processors, want %d", n, before)
		}
	}
}

func TestMemoryIsFreedWhenTheCrawlHasRestedForAWhile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		rests []time.Duration // rests, each followed by a second of work
		want  int
	}{
		{"a short rest", []time.Duration{freeAfter - time.Second}, 0},
		{"many short ones", slices.Repeat([]time.Duration{freeAfter / 2}, 10), 0},
		{"a long one", []time.Duration{time.Hour}, 1},
		{"two long ones", []time.Duration{time.Hour, time.Minute}, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			freed := 0
			rest := freeMemoryAtRest(func() { freed++ })
			for _, d := range c.rests {
				rest(true)
				time.Sleep(d)
				synctest.Wait()
				rest(false)
				time.Sleep(time.Second)
			}
			if freed != c.want {
				t.Errorf("%s: memory was freed %d times, want %d", c.name, freed, c.want)
			}
		})
	}
}

// This test is not parallel, because it measures the whole process.
func TestUnusedMemoryIsReturnedToTheSystem(t *testing.T) {
	allocate()
	runtime.GC()
	if unused := unusedMemory(); unused < minFree {
		t.Fatalf("%d bytes are unused after 64 MB were allocated and released", unused)
	}
	freeMemory()
	if unused := unusedMemory(); unused >= minFree {
		t.Errorf("%d bytes are unused after memory was freed, want fewer than %d", unused, minFree)
	}
}

//go:noinline
func allocate() {
	block := make([]byte, 64<<20)
	for i := range block {
		block[i] = 1
	}
	runtime.GC()
	runtime.KeepAlive(&block)
}
