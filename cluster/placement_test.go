package cluster

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPlacementOfShards compares what a node takes and releases in typical situations. Nodes are letters, "-" is a free
// shard.
func TestPlacementOfShards(t *testing.T) {
	t.Parallel()
	const me = "a"
	for _, row := range []struct {
		what, owners, takers string
		change               func(*view)
		take, release        int // number of shards
	}{
		{"the only shard", "-", "ab", nil, 1, 0},
		{"the only shard, draining", "-", "b", func(v *view) { v.draining = true }, 0, 0},
		{"alone", "----", "a", nil, 4, 0},
		{"alone and young", "----", "a", func(v *view) { v.young = true }, 0, 0},
		{"two nodes", "----", "ab", nil, 2, 0},
		{"others have their part", "bbcc--", "abc", nil, 2, 0},
		{"this node has its part", "aabb--c", "abc", nil, 0, 0},
		{"nobody takes it", "aabb--c", "abc", func(v *view) { v.freeFor[4] = takeAnyway }, 1, 0},
		{"a copy is the newest", "bb--", "ab", func(v *view) { v.kept[3] = true; v.young = true }, 1, 0},
		{"it was killed", "aab-", "b", func(v *view) { v.crashed[1] = true; v.draining = true }, 1, 2},
		{"a node joins", "aaaaaaaa", "ab", nil, 0, 4},
		{"a node joins, but shards have moved", "aaaaaaaa", "ab", func(v *view) { v.calm = false }, 0, 0},
		{"a shard is free", "aaa-", "ab", nil, 0, 0},
		{"even", "aab", "ab", nil, 0, 0},
		{"a third node", "aabb", "abc", nil, 0, 1},
		{"another node has more", "abbb", "ab", nil, 0, 0},
		{"draining", "aabb", "b", func(v *view) { v.draining = true }, 0, 2},
		{"draining alone", "aa", "", func(v *view) { v.draining = true }, 0, 0},
		{"unfit", "aa-b", "b", func(v *view) { v.unfit = true; v.freeFor[2] = takeAnyway }, 0, 2},
		{"unfit, and nobody is fit", "aa-", "", func(v *view) { v.unfit = true; v.freeFor[2] = takeAnyway }, 1, 0},
		{"a dead node", "ddaa", "ab", nil, 0, 1},
	} {
		v := view{
			me: me, takers: map[string]int{}, calm: true,
			crashed: make([]bool, len(row.owners)), kept: make([]bool, len(row.owners)),
			freeFor: make([]time.Duration, len(row.owners)),
		}
		for _, name := range strings.Split(row.takers, "") {
			v.takers[name] = strings.Count(row.owners, name)
		}
		for _, owner := range strings.Split(row.owners, "") {
			v.owners = append(v.owners, strings.TrimPrefix(owner, "-"))
		}
		if row.change != nil {
			row.change(&v)
		}
		if take, release := v.take(), v.release(); len(take) != row.take || len(release) != row.release {
			t.Errorf("%s: takes %v and releases %v, want %d and %d", row.what, take, release, row.take, row.release)
		}
	}
}

// TestShardsComeToRest lets nodes join and leave, and makes sure that shards soon belong to all in equal parts, that no
// more move than must, and that two nodes never want the same one.
func TestShardsComeToRest(t *testing.T) {
	t.Parallel()
	const shards = 16
	owners := make([]string, shards)
	settle := func(nodes ...string) (moves int) {
		t.Helper()
		for i, o := range owners {
			if !slices.Contains(nodes, o) {
				owners[i] = ""
			}
		}
		for range 20 {
			before, taken := slices.Clone(owners), map[int]string{}
			for _, me := range nodes {
				v := view{
					me: me, takers: map[string]int{}, owners: before, calm: true,
					crashed: make([]bool, shards), kept: make([]bool, shards), freeFor: make([]time.Duration, shards),
				}
				for _, name := range nodes {
					v.takers[name] = 0
				}
				for _, o := range before {
					if o != "" {
						v.takers[o]++
					}
				}
				for _, s := range v.take() {
					if other := taken[s]; other != "" {
						t.Errorf("nodes %s and %s take shard %d", other, me, s)
					}
					taken[s] = me
					owners[s-1] = me
					moves++
				}
				for _, s := range v.release() {
					owners[s-1] = ""
				}
			}
		}
		counts := map[string]int{}
		for _, o := range owners {
			counts[o]++
		}
		list := slices.Collect(maps.Values(counts))
		least, most := slices.Min(list), slices.Max(list)
		if most-least > 1 || len(counts) != len(nodes) || counts[""] > 0 {
			t.Errorf("nodes %v own %v", nodes, counts)
		}
		return moves
	}
	for _, step := range []struct {
		nodes    string
		maxMoves int
	}{{"a", 16}, {"ab", 8}, {"abc", 6}, {"ac", 6}, {"abcd", 8}, {"d", 12}} {
		if moves := settle(strings.Split(step.nodes, "")...); moves > step.maxMoves {
			t.Errorf("%d shards moved for the nodes %s, want at most %d", moves, step.nodes, step.maxMoves)
		}
	}
}
