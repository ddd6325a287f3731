package frontier

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// HostState is the state of a host; see the package comment.
type HostState uint8

// The states of a host.
const (
	Idle    HostState = iota // no URI waits
	Ready                    // it would hand out a URI now
	Snoozed                  // it will hand out one later
	Busy                     // all slots are claimed
	Paused                   // an operator paused it
)

// String returns the name of the state.
func (s HostState) String() string {
	if names := []string{"idle", "ready", "snoozed", "busy", "paused"}; int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("HostState(%d)", uint8(s))
}

// HostView is the state of a host at one moment.
type HostView struct {
	Host  uri.Host
	State HostState

	URIs       int64 // known
	Queued     int64 // have a due time, and are not held
	Forbidden  int64 // by robots.txt, at the last visit
	Held       int64 // by an operator
	InProgress int64 // claimed
	Slots      int   // its valence

	Ready    time.Time // when it can hand out the next URI; zero if more than time is needed
	Oldest   time.Time // due time of the first unclaimed URI in its queue; zero if the queue is empty
	Paused   time.Time // when an operator paused it; zero if it is not paused
	Rest     time.Time // the whole host rests until then; zero if it does not
	Failures int       // times in a row that it could not be reached
	Reason   string    // why it could not be reached the last time; empty if it was
}

// Hosts returns the state of every host of this store as of now, in the order of their names. It reads no URI.
func (f *Frontier) Hosts(now time.Time) []HostView { return f.HostsDown(now, 0) }

// HostsDown returns what [Frontier.Hosts] returns of the hosts that could not be reached at least a number of times
// in a row. Most hosts can be reached, so it costs less.
func (f *Frontier) HostsDown(now time.Time, failures int) []HostView {
	var views []HostView
	f.mu.Lock()
	if failures == 0 {
		views = make([]HostView, 0, len(f.byID))
	}
	for _, h := range f.byID {
		if h.failures >= failures && !h.isElsewhere() {
			views = append(views, h.view(now.UnixMilli()))
		}
	}
	f.mu.Unlock()
	slices.SortFunc(views, func(a, b HostView) int { return cmp.Compare(a.Host, b.Host) })
	return views
}

// Host returns the state of one host as of now; ok is false if the host is not known.
func (f *Frontier) Host(name uri.Host, now time.Time) (v HostView, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.hosts[name]
	if h == nil {
		return HostView{}, false
	}
	return h.view(now.UnixMilli()), true
}

// stateAt returns the host's state at a time in ms.
func (h *host) stateAt(now int64) HostState {
	switch {
	case h.firstFreeSlot() == nil || h.diverting():
		return Busy
	case h.paused != 0:
		return Paused
	case h.head.isNone():
		return Idle
	case h.readyAt <= now:
		return Ready
	}
	return Snoozed
}

func (h *host) view(now int64) HostView {
	v := HostView{
		Host: h.name, State: h.stateAt(now), URIs: h.uris, Queued: h.queued, Forbidden: h.forbidden, Held: h.held,
		InProgress: h.claims(), Slots: len(h.slots), Failures: h.failures, Reason: h.reason, Paused: fromMillis(h.paused),
	}
	if h.readyAt != never {
		v.Ready = fromMillis(h.readyAt)
	}
	if !h.head.isNone() {
		v.Oldest = fromMillis(h.head.due())
	}
	if h.rest > now {
		v.Rest = fromMillis(h.rest)
	}
	return v
}

// Counts says how much a frontier holds. Ready, Snoozed, Busy, Idle and Paused are the numbers of hosts in these
// states and add up to Hosts; the others but Down are numbers of URIs.
type Counts struct {
	Hosts, URIs int64
	Queued      int64 // have a due time, and are not held
	InProgress  int64 // claimed
	Forbidden   int64 // by robots.txt, at the last visit
	Held        int64 // by an operator
	Down        int64 // hosts that could not be reached at their last visit

	Ready, Snoozed, Busy, Idle, Paused int64

	// Oldest is the earliest due time of all unclaimed URIs on hosts that are not paused. If it is in the past, the
	// difference is how much the crawl lags. It is zero if no such URI has a due time.
	Oldest time.Time
	// OldestReachable is the same without the hosts that were unreachable at their last visit.
	OldestReachable time.Time
}

// Counts returns the counts as of now. It looks at every host and reads no URI.
func (f *Frontier) Counts(now time.Time) Counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	var n Counts
	states := [...]*int64{Idle: &n.Idle, Ready: &n.Ready, Snoozed: &n.Snoozed, Busy: &n.Busy, Paused: &n.Paused}
	var oldest, reachable int64
	for _, h := range f.byID {
		if h.isElsewhere() {
			continue
		}
		n.Hosts++
		n.URIs += h.uris
		n.Queued += h.queued
		n.Forbidden += h.forbidden
		n.Held += h.held
		n.InProgress += h.claims()
		n.Down += countIf(h.failures > 0)
		*states[h.stateAt(now.UnixMilli())]++
		if h.head.isNone() || h.paused != 0 || h.stray {
			continue
		}
		due := h.head.due()
		oldest = min(cmp.Or(oldest, due), due)
		if h.failures == 0 && (reachable == 0 || due < reachable) {
			reachable = due
		}
	}
	n.Oldest, n.OldestReachable = fromMillis(oldest), fromMillis(reachable)
	return n
}
