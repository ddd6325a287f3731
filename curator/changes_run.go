package curator

import (
	"context"
	"errors"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
)

// start compares the versions that wait, one after the other, unless that is being done. The lock is held.
// [comparer.Close] waits for it.
func (c *comparer) start() {
	if c.working || c.closed {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.working, c.stop = true, cancel
	c.running.Go(func() {
		defer cancel()
		for v := c.next(); v != nil; v = c.next() {
			began := c.now()
			c.add(*v)
			rest := time.NewTimer(min(max(c.now().Sub(began), 0), maxRest))
			select {
			case <-rest.C:
			case <-ctx.Done():
				rest.Stop()
			}
		}
	})
}

// maxRest is the maximum time between two comparisons.
const maxRest = 5 * time.Second

// next returns the version that waits longest, or nil.
func (c *comparer) next() *crawler.Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 || c.closed {
		c.working, c.queue = false, nil
		return nil
	}
	v := c.queue[0]
	c.queue[0] = nil
	c.queue = c.queue[1:]
	return v
}

// add compares the versions that a visit is about, and stores the result.
func (c *comparer) add(v crawler.Report) {
	if now := awayBy(&v); now != "" && now == c.store.Away(v.URI.String()) {
		return // a visit before has said so
	}
	change := c.note(v)
	stored, err := c.store.Add(change, c.now())
	about := ""
	if v.Archived != nil {
		about = v.Archived.After.RecordID
	}
	err = errors.Join(err, c.keep(change, about))
	c.mu.Lock()
	defer c.mu.Unlock()
	if !stored && c.store.dir != "" {
		c.left++
	}
	if err != nil && !c.broken {
		c.broken = true
		c.failed(err)
	}
}

// Uncompared returns the number of versions that were too many to be compared.
func (c *comparer) Uncompared() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left
}

// Close ends the comparisons, and waits for the one that runs. Versions that wait are not compared.
func (c *comparer) Close() error {
	c.mu.Lock()
	waiting := len(c.queue)
	c.closed = true
	if c.stop != nil {
		c.stop()
	}
	c.mu.Unlock()
	if waiting > 0 {
		c.unread(waiting)
	}
	c.running.Wait()
	return c.store.Close()
}
