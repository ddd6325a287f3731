// This file remembers which proxies do not work, so that the hosts behind them rest and others are visited.
//
//	unproven ── one visit at a time gets through ──▶ works
//	  │ it does not                                   │ a visit finds that the proxy does not work,
//	  ▼                                               ▼ or it leaves three visits in a row without an answer
//	down: hosts rest without a request ◀──────────────┘
//	  ▲                                 │ after 10 s, then twice as long, at most 5 min
//	  └──── it does not get through ◀── one visit is the probe ──▶ works

package crawler

import (
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	firstRest = 10 * time.Second
	maxRest   = 5 * time.Minute
	// probeTime is how long the other hosts rest while a visit probes the proxy.
	probeTime = 30 * time.Second
	// unprovenRest is how long they rest at a time while the first visit through a proxy is made.
	unprovenRest = 2 * time.Second
	// maxSilent is how many visits in a row a proxy may leave without an answer before it counts as down.
	maxSilent = 3
)

// ProxyDown is a proxy that does not work.
type ProxyDown struct {
	Name  string
	Why   string // "" = it works, or no visit has shown yet whether it does
	Since time.Time

	works   bool
	silent  int           // visits in a row to hosts that have answered before, without an answer of the proxy
	rest    time.Duration // from the last failure to the next probe
	next    time.Time     // no visit before
	probing bool          // a visit probes the proxy
}

// proxyWatch knows the proxies that do not work. The zero value knows none. It is safe for concurrent use.
type proxyWatch struct {
	mu  sync.Mutex // guards the field below
	all map[string]*ProxyDown
}

// of returns the entry of a proxy. The mutex is held.
func (w *proxyWatch) of(name string) *ProxyDown {
	if w.all == nil {
		w.all = map[string]*ProxyDown{}
	}
	d := w.all[name]
	if d == nil {
		d = &ProxyDown{Name: name}
		w.all[name] = d
	}
	return d
}

// Rest reports whether the hosts behind a proxy rest, and until when. If the proxy may be tried, it reports false once:
// that visit is the probe. An empty name is no proxy.
func (w *proxyWatch) Rest(name string, now time.Time) (until time.Time, rests bool) {
	if name == "" {
		return until, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.of(name)
	switch {
	case d.works:
		return until, false
	case now.Before(d.next) && d.next.Sub(now) <= maxRest: // it is further off only if the clock was set back
		if until = now.Add(unprovenRest); d.Why != "" || until.After(d.next) {
			until = d.next
		}
		return until, true
	}
	d.next, d.probing = now.Add(probeTime), true
	return until, false
}

// Failed records that a proxy did not work, and returns until when the hosts behind it rest. first says that this was
// not known.
func (w *proxyWatch) Failed(name string, cause error, now time.Time) (until time.Time, first bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.of(name).fail(cause, now)
}

func (d *ProxyDown) fail(cause error, now time.Time) (until time.Time, first bool) {
	if first = d.Why == ""; first {
		*d = ProxyDown{Name: d.Name, Since: now, rest: firstRest, next: now.Add(firstRest)}
	} else if d.probing { // other failures are of visits that began before
		d.rest = min(2*d.rest, maxRest)
		d.next, d.probing = now.Add(d.rest), false
	}
	d.Why = cause.Error()
	return d.next, first
}

// Silent records that a proxy did not answer a visit. The reason may be the host, so this counts against the proxy only
// if no visit has got through it yet, or if several hosts that have answered before have no answer in a row. known says
// that the host is one of them. first says that the proxy counts as down from now on.
func (w *proxyWatch) Silent(name string, known bool, cause error, now time.Time) (first bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.of(name)
	if d.works {
		if known {
			d.silent++
		}
		if d.silent < maxSilent {
			return false
		}
	}
	_, first = d.fail(cause, now)
	return first
}

// Works records that a visit got through a proxy. was reports that the proxy did not work until now.
func (w *proxyWatch) Works(name string) (was bool) {
	if name == "" {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.of(name)
	was = d.Why != ""
	*d = ProxyDown{Name: name, works: true}
	return was
}

// Down returns the proxies that do not work and that are used, sorted by name.
func (w *proxyWatch) Down(isUsed func(name string) bool) []ProxyDown {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := []ProxyDown{}
	for _, d := range w.all {
		if d.Why != "" && isUsed(d.Name) {
			all = append(all, *d)
		}
	}
	slices.SortFunc(all, func(a, b ProxyDown) int { return strings.Compare(a.Name, b.Name) })
	return all
}
