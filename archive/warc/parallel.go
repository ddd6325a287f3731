package warc

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// ForEach calls work for each index below n, on all processors, and waits for all calls. It calls finish with each
// index in order, from one goroutine at a time, as soon as work has returned for this and all earlier indexes. The
// first error, or the end of ctx, ends the work and is returned. So the files of an archive are read in parallel, and
// what is said of them has a fixed order.
func ForEach(ctx context.Context, n int, work func(ctx context.Context, i int) error, finish func(i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		next  atomic.Int64
		group sync.WaitGroup

		mu   sync.Mutex // guards the two below
		done = make([]bool, n)
		upTo int
	)
	finished := func(i int) error {
		mu.Lock()
		defer mu.Unlock()
		for done[i] = true; upTo < n && done[upTo]; upTo++ {
			if err := finish(upTo); err != nil {
				return err
			}
		}
		return nil
	}
	for range min(runtime.GOMAXPROCS(0), n) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				err := work(ctx, i)
				if err == nil {
					err = finished(i)
				}
				if err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// readAhead is the maximum number of values that all workers of [InTurn] together produce ahead.
const readAhead = 800

// InTurn calls produce for each index below n, on all processors. The calling goroutine passes each produced value to
// take, in the order of the indexes and, for one index, in the order of production. After the last value of an index it
// calls finish. The first error, or the end of ctx, ends the work and is returned.
func InTurn[T any](
	ctx context.Context, n int,
	produce func(ctx context.Context, i int, send func(T) error) error,
	take func(i int, x T) error, finish func(i int) error,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	workers := min(runtime.GOMAXPROCS(0), n)
	lanes := make([]chan T, n)
	for i := range lanes {
		lanes[i] = make(chan T, max(1, readAhead/max(1, workers)))
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				err := produce(ctx, i, func(x T) error {
					select {
					case lanes[i] <- x:
						return nil
					case <-ctx.Done():
						return context.Cause(ctx)
					}
				})
				if err != nil {
					cancel(err)
					return
				}
				close(lanes[i])
			}
		})
	}
	taking := func(i int) error {
		for {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case x, more := <-lanes[i]:
				if !more {
					return finish(i)
				}
				if err := take(i, x); err != nil {
					return err
				}
			}
		}
	}
	for i := range n {
		if err := taking(i); err != nil {
			cancel(err)
			break
		}
	}
	err := context.Cause(ctx)
	cancel(nil)
	group.Wait()
	return err
}
