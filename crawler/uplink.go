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
// The first two of the three visits are settled as failures before the reason is known. [uplinkWatch.Answered] returns
// them as suspects when the network is back, so that the caller can undo the failures.

package crawler

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/fetch"
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

// uplinkWatch is the state of our own network. The zero value is a network that is up. It is safe for concurrent use.
type uplinkWatch struct {
	mu        sync.Mutex // guards the fields below
	suspects  []suspect  // since a host last answered, one per host
	down      bool
	prober    int           // the worker that makes a probe; 0 = none
	nextProbe time.Time     // no probe before
	probed    []uri.Host    // without an answer
	trusted   time.Time     // our network counts as up until then
	recent    []canary      // that have answered lately, one per domain and network
	added     time.Time     // when the last of them was added
	asking    chan struct{} // closed when the canaries that are asked now have answered; nil if none is asked
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

// suspect is a visit that could not reach its host.
type suspect struct {
	URI    uri.URI
	Queued bool // the URI was in the queue, not on demand
	At     time.Time

	owner owner
}

// Unreachable records that the host of a URI could not be reached. network is where it answered before, as far as it is
// known. doubtful says that our own network may be down; [uplinkWatch.Decide] then finds out.
func (w *uplinkWatch) Unreachable(r frontier.Record, network netip.Prefix, now time.Time) (doubtful bool) {
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
	w.suspects = slices.DeleteFunc(w.suspects, func(s suspect) bool {
		return s.owner.mayBe(from) || now.Sub(s.At) > suspectTime
	})
	if len(w.suspects) < suspectHosts-1 {
		w.suspects = append(w.suspects, suspect{URI: r.URI, Queued: !r.Due.IsZero(), At: now, owner: from})
		return false
	}
	return true
}

// Decide reports whether our own network is down, after it has become doubtful. It tries the canaries that the operator
// has named, given as addresses, and those that have answered lately. If there is none, our network counts as down.
func (w *uplinkWatch) Decide(now time.Time, named []string, reach func(address string) bool) (down bool) {
	w.mu.Lock()
	for w.asking != nil {
		answered := w.asking
		w.mu.Unlock()
		<-answered
		w.mu.Lock()
	}
	canaries := slices.Clone(named[:min(len(named), maxCanaries)])
	for i := range min(len(w.recent), maxCanaries) { // the oldest, the newest, and one between them
		canaries = append(canaries, w.recent[i*(len(w.recent)-1)/max(1, maxCanaries-1)].address)
	}
	if decided := w.down || now.Before(w.trusted) && w.trusted.Sub(now) <= trustTime; decided {
		defer w.mu.Unlock()
		return w.down
	}
	w.asking = make(chan struct{})
	w.mu.Unlock()
	up := false
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		close(w.asking)
		w.asking = nil
		if up {
			w.suspects, w.trusted = nil, now.Add(trustTime)
			return
		}
		w.down, w.nextProbe = true, now.Add(probeEvery)
	}()
	up = slices.ContainsFunc(canaries, reach)
	return !up
}

// Answered records that the host of a URI answered, from a network. If our network was down until now, it returns the
// visits that were settled as failures and the hosts that were probed without an answer.
func (w *uplinkWatch) Answered(u uri.URI, network netip.Prefix, now time.Time) (suspects []suspect, probed []uri.Host) {
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
func (w *uplinkWatch) Probed(h uri.Host) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.probed) < maxProbed && !slices.Contains(w.probed, h) {
		w.probed = append(w.probed, h)
	}
}

// Down reports whether our network is down, so that only probes may be made.
func (w *uplinkWatch) Down() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.down
}

// MayProbe reports whether it is time for a probe. It is also time if the clock was set back since the last one.
func (w *uplinkWatch) MayProbe(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.prober == 0 && (!now.Before(w.nextProbe) || w.nextProbe.Sub(now) > probeEvery)
}

// Begin records that a worker begins a visit. It is a probe if our network is down.
func (w *uplinkWatch) Begin(worker int, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down {
		w.prober, w.nextProbe = worker, now.Add(probeEvery)
	}
}

// End records that a worker has ended its visit.
func (w *uplinkWatch) End(worker int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.prober == worker {
		w.prober = 0
	}
}

// probeRest is how long a host rests after a probe without an answer, so that the next probe goes to another host. The
// rest ends when the network is back.
const probeRest = 2 * time.Minute

// canaryTimeout is how long a canary may take to accept a connection.
const canaryTimeout = 5 * time.Second

var errDown = errors.New("our own network seems to be down: several hosts in a row that answered before are unreachable; " +
	"probing one host at a time")

// checkUplink looks whether an exchange shows that our own network is down or back. It returns an error if the network
// is down, so that the exchange says nothing about its host.
func (c *Crawler) checkUplink(ctx context.Context, v *aspects.Visit, got *fetch.Capture) error {
	w, host, now := &c.uplink, v.URI().Host(), got.Started.Add(got.Took)
	switch {
	case errors.Is(got.Misfortune, fetch.ErrForbiddenAddress):
		return nil // no request was made
	case misfortune.HostDown(got.Status):
		conf := settingsOf(v).config
		reach := func(address string) bool { return c.parts.Fetch.Reach(ctx, conf.Way(), address, canaryTimeout) }
		if w.Unreachable(*v.Record(), c.parts.Frontier.Network(host), now) &&
			w.Decide(now, conf.Crawl.CanaryAddresses(), reach) {
			w.Probed(host)
			rest := frontier.HostAction{Verb: frontier.Rest, Until: now.Add(probeRest)}
			if _, _, err := c.parts.Frontier.SteerHosts(now, string(host), rest); err != nil {
				return fmt.Errorf("let %s rest: %w", host, err)
			}
			return errDown
		}
	case got.Status != fetch.TimedOut && got.Status != fetch.ConnectionLost:
		if suspects, probed := w.Answered(v.URI(), frontier.NetworkOf(got.IP), now); len(suspects)+len(probed) > 0 {
			c.parts.Log.Info().Int("hosts", len(suspects)+len(probed)).
				Msg("our own network is back: visiting the hosts again that seemed to be down")
			return undoFailures(c.parts.Frontier, suspects, probed, now)
		}
	}
	return nil
}

// undoFailures wakes the hosts and makes the URIs due that suffered while our own network was down.
func undoFailures(f *frontier.Frontier, suspects []suspect, hosts []uri.Host, now time.Time) error {
	var due frontier.Selection
	for _, s := range suspects {
		hosts = append(hosts, s.URI.Host())
		if s.Queued {
			due.URIs = append(due.URIs, s.URI)
		}
	}
	for _, h := range hosts {
		if _, _, err := f.SteerHosts(now, string(h), frontier.HostAction{Verb: frontier.Wake}); err != nil {
			return fmt.Errorf("wake %s: %w", h, err)
		}
	}
	if len(due.URIs) > 0 {
		if _, _, err := f.Steer(now, due, frontier.Action{Verb: frontier.Force}, ""); err != nil {
			return fmt.Errorf("make the failed URIs due again: %w", err)
		}
	}
	return nil
}
