package cluster

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"
)

const (
	// youngFor is how long a node watches the others after its start, before it takes parts that it did not have.
	youngFor = 5 * time.Second
	// liveFor is how long after its last beat a node gets parts.
	liveFor = 4 * beatEvery
	// takeAnyway is how long a part may be free before any node takes it, whose ever turn it is.
	takeAnyway = 15 * time.Second
	// calmFor is how long no part must have changed its owner before a node releases parts for another one.
	calmFor = 10 * time.Second
)

// view holds what a node knows when it decides which parts to take and to release.
type view struct {
	me       string
	takers   map[string]int // nodes that may take parts, with the number that each owns; may lack me
	parts    []place        // number n at n
	whole    bool           // the database has a whole crawl
	young    bool           // this node has not watched the others for long enough
	calm     bool           // no part has changed its owner recently, and none is coming or leaving here
	draining bool           // this node is to own nothing
	unfit    bool           // this node is to own nothing that another one can crawl
}

// place holds what a node knows of a part.
type place struct {
	owner   string        // "" = it is free
	crashed bool          // an earlier process of this node owned it when it died: no other node takes it
	kept    bool          // this node's copy is the newest
	ready   bool          // this node can take it now
	freeFor time.Duration // as far as this node has watched
}

// take returns the parts that this node takes now. Each free part goes to the node with the fewest. All nodes that see
// the same decide the same; if they do not, the database lets one of them have it.
func (v view) take() (list []int16) {
	if !v.whole {
		return v.takeAll()
	}
	counts := maps.Clone(v.takers)
	alone := len(v.takers) == 1 && slices.Contains(slices.Collect(maps.Keys(v.takers)), v.me)
	for part, p := range v.parts {
		switch {
		case p.crashed && !p.ready:
			continue
		case p.crashed:
		case p.owner != "" || v.draining || v.unfit && len(v.takers) > 0 || !p.ready:
			continue
		case p.kept:
		case v.young:
			continue
		case !alone && p.freeFor < takeAnyway:
			if turn := v.turn(counts, int16(part)); turn != v.me {
				counts[turn]++
				continue
			}
		}
		counts[v.me]++
		list = append(list, int16(part))
	}
	return list
}

// takeAll returns all parts of a crawl that was not shipped yet, if this node may ship it.
func (v view) takeAll() (list []int16) {
	for part, p := range v.parts {
		if p.owner != "" && !p.crashed || !p.ready || v.draining || v.unfit {
			return nil
		}
		list = append(list, int16(part))
	}
	return list
}

// turn returns the node with the fewest parts. Of several, it is always the same one for a part.
func (v view) turn(counts map[string]int, part int16) (best string) {
	for name := range v.takers {
		switch {
		case best == "", counts[name] < counts[best]:
			best = name
		case counts[name] == counts[best] && weight(name, part) > weight(best, part):
			best = name
		}
	}
	return best
}

// weight returns how well a part fits a node, at random.
func weight(node string, part int16) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", part, node))
	return binary.BigEndian.Uint64(sum[:])
}

// release returns the parts that this node releases for others now: all, if it is to own nothing; otherwise as many as
// the node with the fewest lacks. It releases nothing that nobody could take.
func (v view) release() []int16 {
	var mine []int16
	free := false
	for part, p := range v.parts {
		if free = free || p.owner == ""; p.owner == v.me && !p.crashed {
			mine = append(mine, int16(part))
		}
	}
	others, fewest := 0, len(v.parts)
	for name, n := range v.takers {
		if name != v.me {
			others, fewest = others+1, min(fewest, n)
		}
	}
	switch {
	case others == 0 || !v.whole || len(mine) == 0:
		return nil
	case v.draining || v.unfit:
		return mine
	case free || !v.calm || len(mine) <= fewest+1:
		return nil
	}
	part := (len(v.parts) + others) / (others + 1) // rounded up
	slices.SortFunc(mine, func(a, b int16) int { return cmp.Compare(weight(v.me, a), weight(v.me, b)) })
	return mine[:max(1, len(mine)-part)]
}
