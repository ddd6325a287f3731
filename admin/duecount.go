package admin

import (
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
)

// dueCounter counts due URIs. A count that takes long is kept for a while: counting takes at most a twentieth of the
// time.
type dueCounter struct {
	Frontier *frontier.Frontier

	counting sync.Mutex // held while URIs are counted, so that nobody counts twice

	mu     sync.Mutex // guards the fields below
	number int64
	at     time.Time     // of the count
	took   time.Duration // to count
}

// Bounds of a count.
const (
	maxDue = 100_000 // arcrawl overdue counts all
	few    = 1000    // what is counted at once before the first count in the background has ended
)

// counting is the number of due URIs before they are counted for the first time.
const counting = -1

// Bounds of the age of a count.
const (
	keptFor = 20                    // multiple of the time that it took
	quick   = 10 * time.Millisecond // a count that takes longer is only made in the background
	maxAge  = time.Minute
)

// count returns the number of due URIs at a time, or a short time before. clock says how long the counting takes.
func (d *dueCounter) count(now time.Time, clock func() time.Time) (int64, error) {
	d.counting.Lock()
	defer d.counting.Unlock()
	began := clock()
	if n, ok := d.known(began, func(took time.Duration) time.Duration { return keptFor * took }); ok {
		return n, nil
	}
	n, err := d.Frontier.CountDue(now, maxDue)
	if err != nil {
		return 0, err
	}
	ended := clock()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.number, d.at, d.took = n, ended, ended.Sub(began)
	return n, nil
}

// latest returns the number of due URIs for somebody who waits. If counting takes long it returns the last count, which
// is at most a minute old. Before the first count it returns counting, unless few URIs are due.
func (d *dueCounter) latest(now time.Time, clock func() time.Time) (int64, error) {
	slow := func(took time.Duration) time.Duration {
		if took > quick {
			return maxAge
		}
		return 0
	}
	if n, ok := d.known(clock(), slow); ok {
		return n, nil
	}
	d.mu.Lock()
	never := d.at.IsZero()
	d.mu.Unlock()
	if never {
		if n, err := d.Frontier.CountDue(now, few); err != nil || n < few {
			return n, err
		}
		return counting, nil
	}
	return d.count(now, clock)
}

// known returns the last count if it is not too old. keep returns how long a count is kept that took a while.
func (d *dueCounter) known(now time.Time, keep func(took time.Duration) time.Duration) (n int64, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	age := now.Sub(d.at) // negative if the clock was set back
	return d.number, !d.at.IsZero() && age >= 0 && age < min(keep(d.took), maxAge)
}
