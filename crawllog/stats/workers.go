package stats

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// processors is how many workers there are use for.
func processors() int { return runtime.GOMAXPROCS(0) }

// inParallel lets the workers read all parts, and returns when they have. The error is that of ctx.
func inParallel(ctx context.Context, workers []*worker, parts []part) error {
	var (
		next  atomic.Int64
		group sync.WaitGroup
	)
	for _, w := range workers {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(parts) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				w.read(ctx, parts[i])
			}
		})
	}
	group.Wait()
	return ctx.Err()
}
