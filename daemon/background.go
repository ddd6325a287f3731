package daemon

import (
	"context"
	"errors"
	"slices"
	"time"
)

// background runs f in a goroutine. The returned function ends the context of f and waits for f to return. It is the
// only place in this package that starts a goroutine, so none is left without an owner.
func background(f func(ctx context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// wait waits for d. It returns the error of ctx if ctx ends first.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// closers holds what closes the open parts of a daemon, in the order in which they were opened.
type closers []func() error

// add appends what closes a part that was opened just now.
func (c *closers) add(f func() error) { *c = append(*c, f) }

// stop appends what ends a part and returns no error.
func (c *closers) stop(f func()) { c.add(func() error { f(); return nil }) }

// close closes all parts, the last opened first, even when some return errors. It returns all errors.
func (c *closers) close() error {
	var errs []error
	for _, f := range slices.Backward(*c) {
		errs = append(errs, f())
	}
	*c = nil
	return errors.Join(errs...)
}
