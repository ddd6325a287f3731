package slow

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
)

const (
	// steps is how many times the size is doubled.
	steps = 3
	// factor is how much faster than its input the work may grow over all steps. Work that grows with the square of the
	// size grows by 8 more than its input.
	factor = 4
	// floor is the time that is not measured reliably. The smallest input is taken to need at least this.
	floor = 4 * time.Millisecond
	// tries is how often an input that seems to be too expensive is measured.
	tries = 3
)

// The sizes of the largest input: in everyday tests, under the race detector, and if ARCRAWL_HOSTILE is set.
const (
	everyday  = 128 << 10
	whenRaced = 32 << 10
	largest   = 8 << 20
)

// Linear fails the test if the work of run grows faster than its input. input returns a text of about n bytes. The
// largest text has 128 KiB, under the race detector 32 KiB, or 8 MiB if the variable ARCRAWL_HOSTILE is set.
func Linear(t *testing.T, input func(n int) string, run func(text string)) {
	t.Helper()
	size := everyday
	if raced {
		size = whenRaced
	}
	if os.Getenv("ARCRAWL_HOSTILE") != "" {
		size = largest
	}
	var small, large time.Duration
	for range tries {
		small = max(floor, cost(input(size>>steps), run))
		large = small
		for n := size >> (steps - 1); n <= size && large <= bound(small, n, size>>steps); n *= 2 {
			large = cost(input(n), run)
			if n == size && large <= bound(small, n, size>>steps) {
				return
			}
		}
	}
	t.Errorf("%d KiB take %s and larger inputs %s, want the time to grow with the size", size>>steps>>10, small, large)
}

// bound returns the time that an input of n bytes may take if one of few bytes takes small.
func bound(small time.Duration, n, few int) time.Duration {
	return small * time.Duration(n/few) * factor
}

// cost returns the processor time that this thread needs to run the function, without garbage collection of others.
func cost(text string, run func(text string)) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := used()
	run(text)
	return used() - before
}

// used returns the processor time that this thread has used.
func used() time.Duration {
	const thisThread = 1 // RUSAGE_THREAD of Linux
	var u syscall.Rusage
	if syscall.Getrusage(thisThread, &u) != nil {
		return time.Duration(time.Now().UnixNano()) // the clock of the wall, where threads are not measured
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
