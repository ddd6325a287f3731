// This file watches whether our own network is up.
//
// If it is down, every host seems to be down, and no host may pay for that: no host rests as if it were down, and no
// failure enters the history of a URI.
//
//	up ── 3 strangers in a row that answered before are unreachable ──▶ doubtful: canaries are asked
//	 ▲                                       │ one can be reached          │ none can
//	 ├───────────────────────────────────────┘                             ▼
//	 └── any host answers ◀── every 10 s one visit is made as a probe ── down: visits are released, nothing is claimed
//
// Hosts are strangers to each other if they have different registrable domains and different addresses: who owns many
// names can let them all refuse at once. A canary is a host that the operator has named, or one that has answered
// lately. To ask it, a connection is opened and closed.
//
// The first two of the three visits are settled as failures before the reason is known. [UplinkWatch.Answered] returns
// them as suspects when the network is back, so that the caller can undo the failures.

package crawler

import (
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	// suspectHosts is the number of strangers in a row, all of which answered before, that must be unreachable before
	// our own network is suspected.
	suspectHosts = 3
	// suspectTime is how long an unreachable host counts. A slower crawl is no evidence.
	suspectTime = time.Hour
	// trustTime is how long our network counts as up after a canary was reached.
	trustTime = 10 * time.Second
	// maxCanaries bounds the canaries of each kind that are asked, and those that are remembered.
	maxCanaries = 3
	maxRecent   = 16
	// recentEvery is the minimum time between two hosts that are remembered as canaries.
	recentEvery = 20 * time.Second
	// probeEvery is the time between two probes, each of another host.
	probeEvery = 10 * time.Second
	// maxProbed bounds the hosts that are returned when the network is back.
	maxProbed = 1000
)

// UplinkWatch is the state of our own network. The zero value is a network that is up. It is safe for concurrent use.
type UplinkWatch struct {
	mu        sync.Mutex // guards the fields below
	suspects  []Suspect  // since a host last answered, one per host
	down      bool
	prober    int        // the worker that makes a probe; 0 = none
	nextProbe time.Time  // no probe before
	probed    []uri.Host // without an answer
	trusted   time.Time  // our network counts as up until then
	recent    []canary   // that have answered lately, one per domain and network
	added     time.Time  // when the last of them was added

	asking sync.Mutex // held while canaries are asked; mu may be taken meanwhile
}

// canary is a host that has answered.
type canary struct {
	address string // host and port
	owner
}

// owner says to whom a host may belong.
type owner struct {
	domain  string
	network netip.Prefix // zero if it is not known
}

// mayBe reports whether two hosts may belong to the same owner.
func (o owner) mayBe(other owner) bool {
	return o.domain == other.domain || o.network.IsValid() && o.network == other.network
}

// Suspect is a visit that could not reach its host.
type Suspect struct {
	URI    uri.URI
	Queued bool // the URI was in the queue, not on demand
	At     time.Time

	owner owner
}

// Unreachable records that the host of a URI could not be reached. network is where it answered before, as far as it is
// known. doubtful says that our own network may be down; [UplinkWatch.Decide] then finds out.
func (w *UplinkWatch) Unreachable(r frontier.Record, network netip.Prefix, now time.Time) (doubtful bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down {
		return true
	}
	if r.LastCapture.IsZero() || now.Before(w.trusted) {
		return false // the host may never have existed
	}
	from := owner{r.URI.Domain(), network}
	w.recent = slices.DeleteFunc(w.recent, func(c canary) bool { return c.mayBe(from) })
	w.suspects = slices.DeleteFunc(w.suspects, func(s Suspect) bool {
		return s.owner.mayBe(from) || now.Sub(s.At) > suspectTime
	})
	if len(w.suspects) < suspectHosts-1 {
		w.suspects = append(w.suspects, Suspect{URI: r.URI, Queued: !r.Due.IsZero(), At: now, owner: from})
		return false
	}
	return true
}

// Decide reports whether our own network is down, after it has become doubtful. It tries the canaries that the operator
// has named, given as addresses, and those that have answered lately. If there is none, our network counts as down.
func (w *UplinkWatch) Decide(now time.Time, named []string, reach func(address string) bool) (down bool) {
	w.asking.Lock()
	defer w.asking.Unlock()
	w.mu.Lock()
	canaries := slices.Clone(named[:min(len(named), maxCanaries)])
	for i := range min(len(w.recent), maxCanaries) { // the oldest, the newest, and one between them
		canaries = append(canaries, w.recent[i*(len(w.recent)-1)/max(1, maxCanaries-1)].address)
	}
	decided, down := w.down || now.Before(w.trusted) && w.trusted.Sub(now) <= trustTime, w.down
	w.mu.Unlock()
	if decided {
		return down
	}
	up := slices.ContainsFunc(canaries, reach)
	w.mu.Lock()
	defer w.mu.Unlock()
	if up {
		w.suspects, w.trusted = nil, now.Add(trustTime)
		return false
	}
	w.down, w.nextProbe = true, now.Add(probeEvery)
	return true
}

// Answered records that the host of a URI answered, from a network. If our network was down until now, it returns the
// visits that were settled as failures and the hosts that were probed without an answer.
func (w *UplinkWatch) Answered(u uri.URI, network netip.Prefix, now time.Time) (suspects []Suspect, probed []uri.Host) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down {
		suspects, probed = w.suspects, w.probed
	}
	w.suspects, w.probed, w.down = nil, nil, false
	if age := now.Sub(w.added); age >= recentEvery || age < 0 {
		from := owner{u.Domain(), network}
		w.recent = slices.DeleteFunc(w.recent, func(c canary) bool { return c.mayBe(from) })
		if len(w.recent) == maxRecent {
			w.recent = slices.Delete(w.recent, 0, 1)
		}
		w.recent, w.added = append(w.recent, canary{u.Clone().Address(), from}), now
	}
	return suspects, probed
}

// Probed records that a host was probed without an answer.
func (w *UplinkWatch) Probed(h uri.Host) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.probed) < maxProbed && !slices.Contains(w.probed, h) {
		w.probed = append(w.probed, h)
	}
}

// Down reports whether our network is down, so that only probes may be made.
func (w *UplinkWatch) Down() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.down
}

// MayProbe reports whether it is time for a probe. It is also time if the clock was set back since the last one.
func (w *UplinkWatch) MayProbe(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.prober == 0 && (!now.Before(w.nextProbe) || w.nextProbe.Sub(now) > probeEvery)
}

// Begin records that a worker begins a visit. It is a probe if our network is down.
func (w *UplinkWatch) Begin(worker int, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down {
		w.prober, w.nextProbe = worker, now.Add(probeEvery)
	}
}

// End records that a worker has ended its visit.
func (w *UplinkWatch) End(worker int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.prober == worker {
		w.prober = 0
	}
}
