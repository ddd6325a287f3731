package frontier

import (
	"container/heap"
	"slices"
)

// together are hosts that share politeness, because the configuration says that one server stands behind them: they have
// as many visits in progress or resting as one host would. Each keeps its own slots, on disk too; what they share follows
// from these.
type hostGroup struct {
	hosts []*host
}

// gate is before when, in ms, none of the hosts hands out anything. A slot that is claimed or asleep on any of them counts;
// when fewer than the valence do, the gate is open. The valence is the smallest of theirs.
func (g *hostGroup) readyAt() int64 {
	valence, claimed, asked := maxValence, int64(0), int64(0)
	for _, h := range g.hosts {
		valence = min(valence, h.valence)
		claimed += h.claims()
		asked = max(asked, h.asked)
	}
	left := valence - int(claimed)
	if left <= 0 {
		return never
	}
	latest := make([]int64, 0, left) // the last wake times, as many as slots are left, the earliest first
	for _, h := range g.hosts {
		for i := range h.slots {
			if h.slots[i].serial != 0 {
				continue
			}
			wake := h.slots[i].wake
			at, _ := slices.BinarySearch(latest, wake)
			switch {
			case len(latest) < left:
				latest = slices.Insert(latest, at, wake)
			case at > 0:
				copy(latest, latest[1:at])
				latest[at-1] = wake
			}
		}
	}
	if len(latest) < left {
		return asked
	}
	return max(latest[0], asked)
}

// join puts a host among those of its group, or takes it out of one.
func (f *Frontier) joinGroup(h *host) {
	name := ""
	if f.group != nil {
		name = f.group(h.name)
	}
	was, is := h.group, f.groups[name]
	if name == "" {
		is = nil
	} else if is == nil {
		is = &hostGroup{}
		f.groups[name] = is
	}
	if was == is {
		return
	}
	if h.group = is; is != nil {
		is.hosts = append(is.hosts, h)
	}
	if was != nil {
		was.hosts = slices.DeleteFunc(was.hosts, func(other *host) bool { return other == h })
		f.updateGroup(was)
	}
}

// readiness is when a host can hand out something, by itself and as its group lets it.
func (h *host) readyTimes() (own, at int64) {
	own = h.readyTime()
	if h.group == nil || own == never {
		return own, own
	}
	return own, max(own, h.group.readyAt())
}

// arrange puts the hosts of a group to their places among the hosts.
func (f *Frontier) updateGroup(g *hostGroup) {
	gate := g.readyAt()
	for _, h := range g.hosts {
		own := h.readyTime()
		at := own
		if own != never {
			at = max(own, gate)
		}
		if own != h.ownReadyAt || at != h.readyAt {
			h.ownReadyAt, h.readyAt = own, at
			heap.Fix(&f.queue, h.pos)
		}
	}
}
