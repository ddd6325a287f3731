package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/cluster/shared"
)

// TestPlacementOfParts compares what a node takes and releases in typical situations. Nodes are letters, "-" is a free
// part.
func TestPlacementOfParts(t *testing.T) {
	t.Parallel()
	const me = "a"
	each := func(change func(*place)) func(*view) {
		return func(v *view) {
			for i := range v.parts {
				change(&v.parts[i])
			}
		}
	}
	for _, row := range []struct {
		what, owners, takers string
		change               func(*view)
		take, release        int // number of parts
	}{
		{"alone", "----", "a", nil, 4, 0},
		{"alone and young", "----", "a", func(v *view) { v.young = true }, 0, 0},
		{"draining", "----", "b", func(v *view) { v.draining = true }, 0, 0},
		{"two nodes", "----", "ab", nil, 2, 0},
		{"others have their share", "bbcc--", "abc", nil, 2, 0},
		{"this node has its share", "aabb--c", "abc", nil, 0, 0},
		{"nobody takes it", "aabb--c", "abc", func(v *view) { v.parts[4].freeFor = takeAnyway }, 1, 0},
		{"a copy is the newest", "bb--", "ab", func(v *view) { v.parts[2].kept = true; v.young = true }, 1, 0},
		{"copies are the newest, more than a share", "----", "ab", each(func(p *place) { p.kept = true }), 4, 0},
		{"the old rows are not gone", "----", "a", func(v *view) { v.parts[1].ready = false }, 3, 0},
		{"it was killed", "aab-", "b", func(v *view) { v.parts[1].crashed = true; v.draining = true }, 1, 1},
		{"it was killed, and is young", "aab-", "ab", func(v *view) { v.parts[1].crashed = true; v.young = true }, 1, 0},
		{"it was killed and fenced", "-abb", "ab", func(v *view) { v.parts[0].crashed = true }, 1, 0},
		{"the lease of the killed process holds", "aab-", "ab", func(v *view) {
			v.young = true
			for i := range 2 {
				v.parts[i].crashed, v.parts[i].ready = true, false
			}
		}, 0, 0},
		{"a node joins", "aaaaaaaa", "ab", nil, 0, 4},
		{"a node joins, but parts have moved", "aaaaaaaa", "ab", func(v *view) { v.calm = false }, 0, 0},
		{"two nodes join", "aaaaaaaa", "abc", nil, 0, 5},
		{"a part is free", "aaa-", "ab", nil, 0, 0},
		{"even", "aab", "ab", nil, 0, 0},
		{"a third node", "aabb", "abc", nil, 0, 1},
		{"another node has more", "abbb", "ab", nil, 0, 0},
		{"draining with another node", "aabb", "b", func(v *view) { v.draining = true }, 0, 2},
		{"draining alone", "aa", "", func(v *view) { v.draining = true }, 0, 0},
		{"unfit", "aa-b", "b", func(v *view) { v.unfit = true; v.parts[2].freeFor = takeAnyway }, 0, 2},
		{"unfit, and nobody is fit", "aa-", "", func(v *view) { v.unfit = true; v.parts[2].freeFor = takeAnyway }, 1, 0},
		{"a dead node", "ddaa", "ab", nil, 0, 1},

		{"nothing is shipped yet", "----", "ab", func(v *view) { v.whole = false; v.young = true }, 4, 0},
		{"another node ships", "---b", "ab", func(v *view) { v.whole = false }, 0, 0},
		{"this node ships", "aaaa", "ab", func(v *view) { v.whole = false }, 0, 0},
		{"the old rows are not gone, and nothing is shipped", "----", "a", func(v *view) {
			v.whole, v.parts[1].ready = false, false
		}, 0, 0},
		{"it was killed while it shipped", "aaaa", "ab", func(v *view) {
			v.whole = false
			each(func(p *place) { p.crashed = true })(v)
		}, 4, 0},
		{"it was killed while it shipped, and its lease holds", "aaaa", "ab", func(v *view) {
			v.whole = false
			each(func(p *place) { p.crashed, p.ready = true, false })(v)
		}, 0, 0},
		{"nothing is shipped yet, draining", "----", "b", func(v *view) { v.whole, v.draining = false, true }, 0, 0},
		{"nothing is shipped yet, unfit", "----", "b", func(v *view) { v.whole, v.unfit = false, true }, 0, 0},
	} {
		v := view{me: me, takers: map[string]int{}, whole: true, calm: true}
		for _, name := range strings.Split(row.takers, "") {
			v.takers[name] = strings.Count(row.owners, name)
		}
		for _, owner := range strings.Split(row.owners, "") {
			v.parts = append(v.parts, place{owner: strings.TrimPrefix(owner, "-"), ready: owner != me})
		}
		if row.change != nil {
			row.change(&v)
		}
		for i := range v.parts { // nothing is in the way of a part of an earlier process, unless the row says so
			v.parts[i].ready = v.parts[i].ready || v.parts[i].crashed && !strings.Contains(row.what, "lease")
		}
		take, release := v.take(), v.release()
		if len(take) != row.take || len(release) != row.release {
			t.Errorf("%s: takes %v and releases %v, want %d and %d", row.what, take, release, row.take, row.release)
		}
		for _, part := range release {
			if v.parts[part].owner != me {
				t.Errorf("%s: releases part %d of node %s", row.what, part, v.parts[part].owner)
			}
		}
	}
}

// TestPartsComeToRest lets nodes join and leave, and makes sure that parts soon belong to all in equal shares, that no
// more move than must, and that two nodes never want the same one.
func TestPartsComeToRest(t *testing.T) {
	t.Parallel()
	owners := make([]string, shared.Parts)
	settle := func(nodes ...string) (moves int) {
		t.Helper()
		for i, o := range owners {
			if !slices.Contains(nodes, o) {
				owners[i] = ""
			}
		}
		for range 12 {
			before, taken := slices.Clone(owners), map[int16]string{}
			for _, me := range nodes {
				v := viewOf(me, before, nodes)
				for _, part := range v.take() {
					if other := taken[part]; other != "" {
						t.Errorf("nodes %s and %s take part %d", other, me, part)
					}
					taken[part], owners[part] = me, me
					moves++
				}
				for _, part := range v.release() {
					owners[part] = ""
				}
			}
		}
		counts := map[string]int{}
		for _, o := range owners {
			counts[o]++
		}
		list := slices.Collect(maps.Values(counts))
		if slices.Max(list)-slices.Min(list) > 1 || len(counts) != len(nodes) || counts[""] > 0 {
			t.Errorf("nodes %v own %v", nodes, counts)
		}
		return moves
	}
	const all = shared.Parts
	for _, step := range []struct {
		nodes string
		least int // parts that must move
	}{
		{"a", all},
		{"ab", all / 2},
		{"abc", all / 3},
		{"abcd", all / 4},
		{"abcde", all / 5},
		{"abde", all / 5},
		{"bd", all / 2},
		{"bcd", all / 3},
		{"d", 2 * all / 3},
	} {
		moves := settle(strings.Split(step.nodes, "")...)
		if moves < step.least-2 || moves > step.least+step.least/8+2 {
			t.Errorf("%d parts moved for the nodes %s, want about %d", moves, step.nodes, step.least)
		}
	}
}

// viewOf returns what a node knows when all nodes have watched the others for long enough, and nothing is moving.
func viewOf(me string, owners, nodes []string) view {
	v := view{me: me, takers: map[string]int{}, whole: true, calm: true}
	for _, name := range nodes {
		v.takers[name] = 0
	}
	for _, o := range owners {
		v.parts = append(v.parts, place{owner: o, ready: o != me})
		if o != "" {
			v.takers[o]++
		}
	}
	return v
}

// crowdOf returns what a beat finds of nodes, and of parts that have these nodes as owners.
func crowdOf(nodes string, owners ...string) shared.States {
	st := shared.States{Whole: true, Parts: make([]shared.Part, shared.Parts)}
	for _, name := range strings.Split(nodes, "") {
		st.Nodes = append(st.Nodes, shared.Member{Name: name, Beat: 1})
	}
	for i := range st.Parts {
		st.Parts[i].Owner = owners[i%len(owners)]
	}
	return st
}

// TestOnlyNodesThatOwnPartsAreFenced lets nodes stand still. One that owns parts is fenced, once; one that owns nothing
// is not, nor is this node.
func TestOnlyNodesThatOwnPartsAreFenced(t *testing.T) {
	t.Parallel()
	w := watch{me: "a"}
	st := sighting{crowdOf("abcd", "a", "b", "c"), time.Unix(1.8e9, 0)}
	fences := func() (names string) {
		w.look(st, zerolog.Nop())
		for _, m := range w.still() {
			names += m.Name
		}
		return names
	}
	if got := fences(); got != "" {
		t.Errorf("fenced %q, which were seen once", got)
	}
	for range 3 {
		st.at = st.at.Add(fenceAfter/3 + time.Millisecond)
		st.Nodes = slices.Clone(st.Nodes)
		st.Nodes[2].Beat++
	}
	st.Nodes[1].Fenced = false
	if got := fences(); got != "b" {
		t.Errorf("fenced %q, want the owner that stands still", got)
	}
	if !w.silent()["b"] || w.silent()["c"] || w.silent()["a"] || !w.silent()["d"] {
		t.Errorf("silent are %v", w.silent())
	}
	st.Nodes[1].Fenced = true
	if got := fences(); got != "" {
		t.Errorf("fenced %q again", got)
	}
}

// TestHostsThatNobodyCrawlsAreReportedOnce lets parts have no owner, and one that is fenced.
func TestHostsThatNobodyCrawlsAreReportedOnce(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	w := watch{me: "a"}
	st := sighting{crowdOf("ab", "a", "b", "a", ""), time.Unix(1.8e9, 0)}
	st.Nodes[1].Fenced = true
	look := func(d time.Duration, want int) {
		t.Helper()
		for end := st.at.Add(d); st.at.Before(end); st.at = st.at.Add(beatEvery) {
			w.look(st, zerolog.New(&log))
		}
		if n := strings.Count(log.String(), "nobody crawls some hosts"); n != want {
			t.Errorf("reported %d times, want %d:\n%s", n, want, &log)
		}
	}
	look(tellAfter-beatEvery, 0)
	look(2*tellAfter, 1)
	if !strings.Contains(log.String(), fmt.Sprintf(`"parts":%d`, shared.Parts/2)) {
		t.Errorf("the report is\n%s", &log)
	}
	orphans := st.States
	st.States = crowdOf("a", "a")
	look(tellAfter, 1)
	st.States = orphans
	look(tellAfter-beatEvery, 1)
	look(2*tellAfter, 2)
}

// TestWhatANodeSeesOfTheOthers turns beats into what a node decides by.
func TestWhatANodeSeesOfTheOthers(t *testing.T) {
	t.Parallel()
	now := time.Unix(1.8e9, 0)
	n := &thisNode{o: nodeOptions{Node: "a"}, began: now}
	st := crowdOf("abcdef", "a", "b", "", "f")
	st.Nodes[2].Draining, st.Nodes[3].Unfit, st.Nodes[5].Fenced = true, true, true
	n.parts.keep(map[int16]int64{2: 7, 6: 7})
	n.parts.leave([]int16{6}, remains)
	look := func() view {
		n.watch.look(sighting{st, now}, zerolog.Nop())
		return n.view(st, now)
	}
	v := look()
	if !v.young || v.calm || len(v.takers) != 1 || v.takers["a"] != shared.Parts/4 {
		t.Errorf("after the first beat: young %t, calm %t, takers %v", v.young, v.calm, v.takers)
	}
	if !v.parts[0].crashed || v.parts[0].ready || v.parts[1].crashed || v.parts[3].owner != "" {
		t.Errorf("the parts are %+v", v.parts[:4])
	}
	if v.parts[2] != (place{kept: true, ready: true}) || v.parts[6] != (place{}) || !v.parts[10].ready {
		t.Errorf("a kept part is %+v, one whose rows are not gone %+v, one without rows %+v", v.parts[2], v.parts[6], v.parts[10])
	}
	for range 5 {
		now = now.Add(beatEvery)
		for _, i := range []int{0, 1, 2, 3} { // e stands still
			st.Nodes[i].Beat++
		}
		v = look()
	}
	if v.young || !v.calm || v.draining || !maps.Equal(v.takers, map[string]int{"a": shared.Parts / 4, "b": shared.Parts / 4}) {
		t.Errorf("after 10 s: young %t, calm %t, draining %t, takers %v", v.young, v.calm, v.draining, v.takers)
	}
	if !v.parts[0].ready || v.parts[2].freeFor != 5*beatEvery {
		t.Errorf("after 10 s the parts are %+v", v.parts[:3])
	}
	n.parts.take([]shared.Taken{{Part: 4, Epoch: 8}}, true, now)
	n.parts.leave([]int16{4}, remains)
	n.parts.dropped([]int16{4})
	st.Parts[4].Epoch = 8
	if v = look(); v.parts[4].crashed {
		t.Error("a part that was released a moment ago is taken again")
	}
	n.parts.take([]shared.Taken{{Part: 0, Epoch: 9}}, true, now)
	st.Nodes[0].Draining = true
	if v = look(); v.parts[0].crashed || v.parts[0].ready || v.calm || !v.draining || len(v.takers) != 1 {
		t.Errorf("a part that is coming is %+v; calm %t, draining %t, takers %v", v.parts[0], v.calm, v.draining, v.takers)
	}
}
