package parallel

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls work for each of n things on as many processors as there are, and waits for all. The first error
// ends it, as does the end of ctx; finish is called with each index in order, by one goroutine at a time, when work has
// been done for it and all before it.
func Each(ctx context.Context, n int, work func(ctx context.Context, i int) error, finish func(i int) error) error {
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

// readAhead is how much is made ahead of what is taken, at most, by all workers of [inTurn] together.
const readAhead = 800

// InTurn calls produce for each of n things on as many processors as there are. What each of them gives is taken by the calling goroutine, in
// the order of the things and of each thing; after its last, finish is called for it. The first error ends it, as does the end of ctx.
func InTurn[T any](ctx context.Context, n int, produce func(ctx context.Context, i int, give func(T) error) error, take func(i int, x T) error, finish func(i int) error) error {
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
