// Package uplink watches whether our own network is up.
//
// If it is down, every host seems to be down, and no host may pay for that: no host rests as if it were down, and no
// failure enters the history of a URI.
//
//	up ── 3 hosts in a row that answered before are unreachable ──▶ down: visits are released, nothing is claimed
//	 ▲                                                               │ every 10 s one visit is made as a probe
//	 └──────────────────── any host answers ◀────────────────────────┘
//
// The first two of the three visits are settled as failures before the reason is known. [Watch.Answered] returns them
// as suspects when the network is back, so that the caller can undo the failures.
package uplink

import (
	"slices"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	// suspectHosts is the number of hosts in a row, all of which answered before, that must be unreachable before our own
	// network is suspected.
	suspectHosts = 3
	// suspectTime is how long an unreachable host counts. A slower crawl is no evidence.
	suspectTime = time.Hour
	// probeEvery is the time between two probes, each of another host.
	probeEvery = 10 * time.Second
	// maxProbed bounds the hosts that are returned when the network is back.
	maxProbed = 1000
)

// Watch is the state of our own network. The zero value is a network that is up. It is safe for concurrent use.
type Watch struct {
	mu        sync.Mutex // guards the fields below
	suspects  []Suspect  // since a host last answered, one per host
	down      bool
	prober    int        // the worker that makes a probe; 0 = none
	nextProbe time.Time  // no probe before
	probed    []uri.Host // without an answer
}

// Suspect is a visit that could not reach its host.
type Suspect struct {
	URI    uri.URI
	Queued bool // the URI was in the queue, not on demand
	At     time.Time
}

// Unreachable records that the host of a URI could not be reached, and reports whether our own network is down.
func (w *Watch) Unreachable(r frontier.Record, now time.Time) (down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down {
		return true
	}
	if r.LastCapture.IsZero() {
		return false // the host may never have existed
	}
	w.suspects = slices.DeleteFunc(w.suspects, func(s Suspect) bool {
		return s.URI.Host() == r.URI.Host() || now.Sub(s.At) > suspectTime
	})
	if len(w.suspects) < suspectHosts-1 {
		w.suspects = append(w.suspects, Suspect{URI: r.URI, Queued: !r.Due.IsZero(), At: now})
		return false
	}
	w.down, w.nextProbe = true, now.Add(probeEvery)
	return true
}

// Answered records that a host answered. If our network was down until now, it returns the visits that were settled as
// failures and the hosts that were probed without an answer.
func (w *Watch) Answered() (suspects []Suspect, probed []uri.Host) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down {
		suspects, probed = w.suspects, w.probed
	}
	w.suspects, w.probed, w.down = nil, nil, false
	return suspects, probed
}

// Probed records that a host was probed without an answer.
func (w *Watch) Probed(h uri.Host) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.probed) < maxProbed && !slices.Contains(w.probed, h) {
		w.probed = append(w.probed, h)
	}
}

// Down reports whether our network is down, so that only probes may be made.
func (w *Watch) Down() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.down
}

// MayProbe reports whether it is time for a probe.
func (w *Watch) MayProbe(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.prober == 0 && !now.Before(w.nextProbe)
}

// Begin records that a worker begins a visit. It is a probe if our network is down.
func (w *Watch) Begin(worker int, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down {
		w.prober, w.nextProbe = worker, now.Add(probeEvery)
	}
}

// End records that a worker has ended its visit.
func (w *Watch) End(worker int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.prober == worker {
		w.prober = 0
	}
}
