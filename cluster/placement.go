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
	// youngFor is how long a node watches the others after its start, before it takes shards that it did not have.
	youngFor = 5 * time.Second
	// liveFor is how long after its last beat a node gets shards.
	liveFor = 4 * beatEvery
	// takeAnyway is how long a shard may be free before any node takes it, whose ever turn it is.
	takeAnyway = 15 * time.Second
	// calmFor is how long no shard must have changed its owner before a node releases shards for another one.
	calmFor = 20 * time.Second
)

// view holds what a node knows when it decides which shards to take and to release. Shard number n is at n-1.
type view struct {
	me       string
	takers   map[string]int  // nodes that may take shards, with the number that each owns; may lack me
	owners   []string        // "" = free
	crashed  []bool          // an earlier process of this node owned the shard when it died
	kept     []bool          // this node's copy of the shard is the newest
	freeFor  []time.Duration // as far as this node has watched
	young    bool            // this node has not watched the others for long enough
	calm     bool            // no shard has changed its owner recently, and none is being opened or closed here
	draining bool            // this node is to own nothing
	unfit    bool            // this node is to own nothing that another one can crawl
}

// take returns the shards that this node takes now. Each free shard goes to the node with the fewest. All nodes that
// see the same decide the same; if they do not, the database lets one of them have it.
func (v view) take() (shards []int) {
	counts := maps.Clone(v.takers)
	for i, owner := range v.owners {
		switch {
		case v.crashed[i]: // no other node takes it while this one is alive
		case owner != "" || v.draining || v.unfit && len(v.takers) > 0:
			continue
		case v.kept[i], len(v.owners) == 1:
		case v.young:
			continue
		case v.turn(counts, i+1) != v.me && v.freeFor[i] < takeAnyway:
			counts[v.turn(counts, i+1)]++
			continue
		}
		counts[v.me]++
		shards = append(shards, i+1)
	}
	return shards
}

// turn returns the node with the fewest shards. Of several, it is always the same one for a shard.
func (v view) turn(counts map[string]int, shard int) (best string) {
	for name := range v.takers {
		switch {
		case best == "", counts[name] < counts[best]:
			best = name
		case counts[name] == counts[best] && weight(name, shard) > weight(best, shard):
			best = name
		}
	}
	return best
}

// weight returns how well a shard fits a node, at random.
func weight(node string, shard int) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", shard, node))
	return binary.BigEndian.Uint64(sum[:])
}

// release returns the shards that this node releases for others now: all, if it is to own nothing; otherwise as many as
// the node with the fewest lacks. It releases nothing that nobody could take.
func (v view) release() []int {
	var mine []int
	free := false
	for i, owner := range v.owners {
		if free = free || owner == ""; owner == v.me {
			mine = append(mine, i+1)
		}
	}
	others, fewest := 0, len(v.owners)
	for name, n := range v.takers {
		if name != v.me {
			others, fewest = others+1, min(fewest, n)
		}
	}
	switch {
	case others == 0:
		return nil
	case v.draining || v.unfit:
		return mine
	case free || !v.calm || len(mine) <= fewest+1:
		return nil
	}
	part := (len(v.owners) + others) / (others + 1) // rounded up
	slices.SortFunc(mine, func(a, b int) int { return cmp.Compare(weight(v.me, a), weight(v.me, b)) })
	return mine[:max(1, len(mine)-part)]
}
