package main

import (
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Not parallel: what it changes is of the whole process.
func TestTheProcessorsAreThereAgainAfterARest(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	rest := onOneProcessor()
	for range 2 {
		rest(true)
		if n := runtime.GOMAXPROCS(0); n != 1 {
			t.Errorf("at rest it runs on %d processors, want 1", n)
		}
		rest(false)
		if n := runtime.GOMAXPROCS(0); n != before {
			t.Errorf("after the rest it runs on %d processors, want %d", n, before)
		}
	}
}

func TestMemoryIsGivenBackWhenTheCrawlHasRestedForAWhile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		rests []time.Duration // with a second of work after each
		want  int
	}{
		{"a short rest", []time.Duration{giveBackAfter - time.Second}, 0},
		{"many short ones", slices.Repeat([]time.Duration{giveBackAfter / 2}, 10), 0},
		{"a long one", []time.Duration{time.Hour}, 1},
		{"two long ones", []time.Duration{time.Hour, time.Minute}, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			given := 0
			rest := givingBack(func() { given++ })
			for _, d := range c.rests {
				rest(true)
				time.Sleep(d)
				synctest.Wait()
				rest(false)
				time.Sleep(time.Second)
			}
			if given != c.want {
				t.Errorf("%s: given back %d times, want %d", c.name, given, c.want)
			}
		})
	}
}

// Not parallel: what it looks at is of the whole process.
func TestWhatIsLeftOfABusyTimeIsGivenBack(t *testing.T) {
	beBusy()
	runtime.GC()
	if left := spare(); left < worthGivingBack {
		t.Fatalf("%d bytes to spare after 64 MB were let go", left)
	}
	giveBack()
	if left := spare(); left >= worthGivingBack {
		t.Errorf("%d bytes to spare after they were given back, want less than %d", left, worthGivingBack)
	}
}

//go:noinline
func beBusy() {
	busy := make([]byte, 64<<20)
	for i := range busy {
		busy[i] = 1
	}
	runtime.GC()
	runtime.KeepAlive(&busy)
}
