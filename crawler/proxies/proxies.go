// Package proxies remembers which proxies do not work, so that the hosts behind them rest and others are visited.
//
//	works ── a visit finds that the proxy does not work ──▶ down: hosts rest without a request
//	  ▲                                                        │ after 10 s, then twice as long, at most 5 min
//	  └── the visit gets through ◀── one visit is the probe ◀──┘
package proxies

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	firstRest = 10 * time.Second
	maxRest   = 5 * time.Minute
	// probeTime is how long the other hosts rest while a visit probes the proxy.
	probeTime = 30 * time.Second
)

// Down is a proxy that does not work.
type Down struct {
	Name  string
	Why   string
	Since time.Time

	rest    time.Duration // from the last failure to the next probe
	next    time.Time     // no visit before
	probing bool          // a visit probes the proxy
}

// Watch knows the proxies that do not work. The zero value knows none. It is safe for concurrent use.
type Watch struct {
	some atomic.Bool // whether down has anything

	mu   sync.Mutex // guards down
	down map[string]*Down
}

// Rest reports whether the hosts behind a proxy rest, and until when. If the proxy may be tried again, it reports false
// once: that visit is the probe. An empty name is no proxy.
func (w *Watch) Rest(name string, now time.Time) (until time.Time, rests bool) {
	if name == "" || !w.some.Load() {
		return until, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.down[name]
	switch {
	case d == nil:
		return until, false
	case now.Before(d.next) && d.next.Sub(now) <= maxRest: // it is further off only if the clock was set back
		return d.next, true
	}
	d.next, d.probing = now.Add(probeTime), true
	return until, false
}

// Failed records that a proxy did not work, and returns until when the hosts behind it rest. first says that it worked
// until now.
func (w *Watch) Failed(name string, cause error, now time.Time) (until time.Time, first bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.down[name]
	if d == nil {
		first, d = true, &Down{Name: name, Since: now, rest: firstRest, next: now.Add(firstRest)}
		if w.down == nil {
			w.down = map[string]*Down{}
		}
		w.down[name] = d
		w.some.Store(true)
	} else if d.probing { // other failures are of visits that began before
		d.rest = min(2*d.rest, maxRest)
		d.next, d.probing = now.Add(d.rest), false
	}
	d.Why = cause.Error()
	return d.next, first
}

// Works records that a visit got through a proxy. was reports that the proxy did not work until now.
func (w *Watch) Works(name string) (was bool) {
	if name == "" || !w.some.Load() {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, was = w.down[name]
	delete(w.down, name)
	w.some.Store(len(w.down) > 0)
	return was
}

// Down returns the proxies that do not work and that are used, sorted by name.
func (w *Watch) Down(isUsed func(name string) bool) []Down {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]Down, 0, len(w.down))
	for _, d := range w.down {
		if isUsed(d.Name) {
			all = append(all, *d)
		}
	}
	slices.SortFunc(all, func(a, b Down) int { return strings.Compare(a.Name, b.Name) })
	return all
}
