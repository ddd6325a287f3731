package sim

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Workers returns how many goroutines share a task of n independent parts.
func Workers(n int) int { return max(1, min(runtime.GOMAXPROCS(0), n)) }

// inParallel calls work for each number from 0 to n−1, on all processors, and waits until all calls have returned. Each
// worker has a number below [Workers]. It starts no further call once ctx is done.
func inParallel(ctx context.Context, n int, work func(worker, i int)) {
	var next atomic.Int64
	var working sync.WaitGroup
	for worker := range Workers(n) {
		working.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				work(worker, i)
			}
		})
	}
	working.Wait()
}
