package daemon

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/internal/panics"
)

const (
	// closingGrace is how long a stop may take after crawl.grace.
	closingGrace = 5 * time.Second
	// ownTime is the part of it that is kept for the archive, the store and other parts when one does not end.
	ownTime = 2 * time.Second
	// shortTime is for each part when no time is left: most parts end at once.
	shortTime = 50 * time.Millisecond
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
type closers struct {
	list []closer
	late sync.WaitGroup // the parts that did not end in time
	left bool           // there are such parts
}

// closer closes a part.
type closer struct {
	part  string // its name; "" if the daemon waits for its end however long it takes
	close func() error
}

// add appends what closes a part that was opened just now. The daemon waits for its end.
func (c *closers) add(f func() error) { c.list = append(c.list, closer{close: f}) }

// stop appends what ends a part and returns no error. The daemon waits for its end.
func (c *closers) stop(f func()) { c.add(func() error { f(); return nil }) }

// part appends what closes a part without which the archive and the store are whole. If it does not return in time, the
// daemon continues without it.
func (c *closers) part(name string, f func() error) { c.list = append(c.list, closer{name, f}) }

// close closes all parts, the last opened first, even when some return errors. It returns all errors. A part that has
// not ended by a time is named in the log, and works on while the others are closed.
func (c *closers) close(log zerolog.Logger, by time.Time) error {
	var errs []error
	for _, one := range slices.Backward(c.list) {
		if one.part == "" {
			errs = append(errs, one.close())
			continue
		}
		left := time.Until(by)
		done, err := c.closeWithin(max(left-ownTime, left/2, shortTime), one.close)
		if !done {
			log.Error().Str("part", one.part).
				Msg("stopping without a part that does not end: the archive and the store are closed without it")
		}
		errs = append(errs, err)
	}
	c.list = nil
	return errors.Join(errs...)
}

// closeWithin closes a part. It returns false if that takes longer than d.
func (c *closers) closeWithin(d time.Duration, closing func() error) (done bool, err error) {
	ended := make(chan error, 1)
	c.late.Add(1)
	_ = background(func(context.Context) {
		defer c.late.Done()
		_, err := panics.Catch(func() (struct{}, error) { return struct{}{}, closing() })
		ended <- err
	})
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case err := <-ended:
		return true, err
	case <-timer.C:
		c.left = true
		return false, nil
	}
}
