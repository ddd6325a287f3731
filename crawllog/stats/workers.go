package stats

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// processors returns the number of workers that can run at once.
func processors() int { return runtime.GOMAXPROCS(0) }

// inParallel has the workers read all parts and waits for them. It returns the error of ctx.
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
