package frontier

import "slices"

// hostGroup holds hosts that share politeness, because the configuration says that one server is behind them.
// Together they have as many visits in progress or resting as one host would have. Each host keeps its own slots, on
// disk too; the state of the group follows from these.
type hostGroup struct {
	hosts []*host
}

// readyAt returns the time, in ms, before which no host of the group hands out anything. It counts the slots of all
// hosts that are claimed or asleep, and compares them with the smallest of their valences.
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
	latest := make([]int64, 0, left) // the latest wake times, one for each slot that is left, in ascending order
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

// joinGroup moves a host to its group, or out of a group that it no longer belongs to.
func (f *Frontier) joinGroup(h *host) {
	h.stray = f.IsForeign(h.name)
	name := ""
	if f.o.Group != nil {
		name = f.o.Group(h.name)
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

// readyTimes returns when a host can hand out a URI: regardless of its group, and with it.
func (h *host) readyTimes() (own, at int64) {
	own = h.readyTime()
	switch {
	case h.waitsFor != nil || h.stray:
		return own, never
	case h.group == nil || own == never:
		return own, own
	}
	return own, max(own, h.group.readyAt())
}

// updateGroup updates the positions of the hosts of a group in the heap.
func (f *Frontier) updateGroup(g *hostGroup) {
	shared := g.readyAt()
	for _, h := range g.hosts {
		own := h.readyTime()
		at := own
		if own != never {
			at = max(own, shared)
		}
		if h.waitsFor != nil || h.stray {
			at = never
		}
		if own != h.ownReadyAt || at != h.readyAt {
			h.ownReadyAt, h.readyAt = own, at
			f.queue.fix(h)
		}
	}
}
