package cluster

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/uri"
)

// partState says what this node has of a part of the crawl.
type partState uint32

// The states of a part. Its changes are shipped in the states initial, here and leaving; its hosts are visited in the
// state here.
const (
	absent  partState = iota // nothing
	kept                     // its rows, as this node has released them
	initial                  // this node owns it, and ships all of its rows to a database that has none
	coming                   // this node owns it, and loads its rows
	here                     // this node crawls it
	leaving                  // this node owns it, and lets its visits end
	remains                  // rows that are going to be removed
)

// partTable holds what this node has of each part of the crawl. It is safe for concurrent use.
type partTable struct {
	states [shared.Parts]atomic.Uint32 // partState

	mu    sync.Mutex // guards the fields below, and changes of states
	owned [shared.Parts]owned
}

// owned says since when this node owns a part. The zero value means that it does not.
type owned struct {
	epoch  int64 // of a part in the state kept: in which this node released it
	left   int64 // epoch in which this process released it; 0 = it did not, or has taken it again
	before shared.Part
	since  time.Time
}

// is returns the state of a part.
func (p *partTable) is(part int16) partState { return partState(p.states[part].Load()) }

// in returns the parts that have one of some states.
func (p *partTable) in(states ...partState) (list []int16) {
	for part := range int16(shared.Parts) {
		if slices.Contains(states, p.is(part)) {
			list = append(list, part)
		}
	}
	return list
}

// set sets the state of parts.
func (p *partTable) set(list []int16, s partState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, part := range list {
		p.states[part].Store(uint32(s))
	}
}

// keep notes which parts the store has as this node released them, with their epochs.
func (p *partTable) keep(epochs map[int16]int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for part, epoch := range epochs {
		p.states[part].Store(uint32(kept))
		p.owned[part].epoch = epoch
	}
}

// outdate notes which of the kept parts were owned by others since, and returns whether some were.
func (p *partTable) outdate(now []shared.Part) (some bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for part := range int16(shared.Parts) {
		if p.is(part) == kept && !isAs(now[part], p.owned[part].epoch) {
			p.states[part].Store(uint32(remains))
			p.owned[part], some = owned{}, true
		}
	}
	return some
}

// take notes that this node has taken parts. It returns those whose rows it has. whole says that the database has a
// whole crawl; otherwise this node has it.
func (p *partTable) take(list []shared.Taken, whole bool, now time.Time) (current []int16) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range list {
		is := p.is(t.Part)
		next := coming
		switch {
		case is == kept && (!whole || isAs(t.Before, p.owned[t.Part].epoch)):
			current = append(current, t.Part)
			next = kept
		case is != absent:
			next = remains // they are loaded when the old rows are gone
		}
		p.states[t.Part].Store(uint32(next))
		p.owned[t.Part] = owned{epoch: t.Epoch, before: t.Before, since: now}
	}
	return current
}

// dropped notes that the rows of parts were removed.
func (p *partTable) dropped(list []int16) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, part := range list {
		next := absent
		if !p.owned[part].since.IsZero() {
			next = coming
		}
		p.states[part].Store(uint32(next))
	}
}

// leave notes that this node does not own parts any more, and has rows of them.
func (p *partTable) leave(list []int16, s partState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, part := range list {
		p.states[part].Store(uint32(s))
		p.owned[part] = owned{left: p.owned[part].epoch}
	}
}

// mine returns the parts that this node owns, and has taken before a time, with their epochs; the zero time means all.
func (p *partTable) mine(before time.Time) map[int16]int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	epochs := map[int16]int64{}
	for part, o := range p.owned {
		if !o.since.IsZero() && (before.IsZero() || o.since.Before(before)) {
			epochs[int16(part)] = o.epoch
		}
	}
	return epochs
}

// wasClean reports whether the last owner of a part that is coming stopped properly. If this node has released it,
// everything of it is shipped, also if the database does not know yet that the part was released.
func (p *partTable) wasClean(part int16) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.owned[part].since.IsZero() || p.owned[part].before.Clean
}

// asked returns when hosts of parts that are coming may have been visited last, by the clock of now; the zero time if
// the last owners stopped properly. The lease of one that was fenced was over some time before; me names this node.
func (p *partTable) asked(list []int16, me string, now time.Time) (last time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, part := range list {
		o := p.owned[part]
		at := o.since
		if o.before.Owner != "" && o.before.Owner != me {
			at = at.Add(leaseTime - fenceAfter)
		}
		if !o.before.Clean && at.After(last) {
			last = at
		}
	}
	if !last.IsZero() { // the time of day may have been set since
		last = now.Add(-now.Sub(last))
	}
	return last
}

// partOf returns the part of the crawl that a host belongs to.
func (n *thisNode) partOf(h uri.Host) int16 { return partOf(h, n.o.Group(h)) }

// route returns the part of a host, and whether this node crawls it.
func (n *thisNode) route(h uri.Host) (part int16, isHere bool) {
	part = n.partOf(h)
	return part, n.parts.is(part) == here
}

// rowHome returns where the rows of the store belong.
func (n *thisNode) rowHome() home {
	return home{own: shared.OwnPart(n.shared.Number()), part: func(h uri.Host) (int16, bool) {
		part := n.partOf(h)
		is := n.parts.is(part)
		return part, is == here || is == leaving || is == initial
	}}
}

// isAs reports whether a part is in the database as its owner released it in an epoch.
func isAs(p shared.Part, epoch int64) bool { return p.Clean && p.Epoch == epoch && p.Owner == "" }

// owns reports whether this node owns a part since an epoch.
func (p *partTable) owns(part int16, epoch int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.owned[part].since.IsZero() && p.owned[part].epoch == epoch
}

// hasLeft reports whether this process has released a part that it owned since an epoch.
func (p *partTable) hasLeft(part int16, epoch int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return epoch > 0 && p.owned[part].left == epoch
}

// epochs returns in which epochs parts were taken.
func (p *partTable) epochs(list []int16) map[int16]int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := map[int16]int64{}
	for _, part := range list {
		all[part] = p.owned[part].epoch
	}
	return all
}
