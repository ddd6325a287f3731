package access

import (
	"context"
	"sync"
	"time"
)

// The bounds of attempts to sign in. Each count begins again limitPeriod after its first attempt.
const (
	limitPeriod  = 15 * time.Minute
	limitPair    = 5   // of a name from an address
	limitAddress = 30  // of all names from an address
	limitUser    = 100 // of a name from all addresses
	limitDevice  = 10  // of a name from a browser in which the user signed in before
	maxCounts    = 20_000
)

// attempts counts attempts to sign in. It is safe for concurrent use.
type attempts struct {
	mu     sync.Mutex // guards counts
	counts map[string]*tally
}

// tally counts the attempts under one key.
type tally struct {
	since time.Time
	n     int
}

// bound is the maximum number of attempts under a key in a period.
type bound struct {
	key string
	max int
}

// begin counts an attempt under each key, before its password is checked, so that attempts at the same time count too.
// If a bound is reached it counts nothing, and returns how long to wait.
func (a *attempts) begin(bounds []bound, now time.Time) (wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, b := range bounds {
		t := a.counts[b.key]
		if t != nil && now.Sub(t.since) < limitPeriod && t.n >= b.max {
			wait = max(wait, limitPeriod-now.Sub(t.since))
		}
	}
	if wait > 0 {
		return wait
	}
	for _, b := range bounds {
		t := a.counts[b.key]
		if t == nil || now.Sub(t.since) >= limitPeriod {
			a.makeRoom(now)
			t = &tally{since: now}
			a.counts[b.key] = t
		}
		t.n++
	}
	return 0
}

// succeed takes back an attempt whose password was right, or that was not checked.
func (a *attempts) succeed(bounds []bound) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, b := range bounds {
		if t := a.counts[b.key]; t != nil && t.n > 0 {
			t.n--
		}
	}
}

// makeRoom removes ended counts, and the oldest one, if there are too many. The caller holds mu.
func (a *attempts) makeRoom(now time.Time) {
	if len(a.counts) < maxCounts {
		return
	}
	oldest := ""
	for key, t := range a.counts {
		if now.Sub(t.since) >= limitPeriod {
			delete(a.counts, key)
		} else if oldest == "" || t.since.Before(a.counts[oldest].since) {
			oldest = key
		}
	}
	if len(a.counts) >= maxCounts {
		delete(a.counts, oldest)
	}
}

// Gate bounds how much work of one kind is done at the same time, and how much of it may wait.
type Gate struct{ working, inside chan struct{} }

// NewGate returns a gate for n works at the same time, while up to queue others wait.
func NewGate(n, queue int) *Gate {
	return &Gate{make(chan struct{}, n), make(chan struct{}, n+queue)}
}

// Enter waits until the work may begin. The caller calls leave after it. Enter reports false if too much work waits
// already, or the context ended.
func (g *Gate) Enter(ctx context.Context) (leave func(), ok bool) {
	select {
	case g.inside <- struct{}{}:
	default:
		return nil, false
	}
	select {
	case g.working <- struct{}{}:
		return func() { <-g.working; <-g.inside }, true
	case <-ctx.Done():
		<-g.inside
		return nil, false
	}
}
