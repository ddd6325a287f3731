package cluster

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/uri"
)

// TestTheStatesOfParts takes, loads, releases and removes parts, and compares their states.
func TestTheStatesOfParts(t *testing.T) {
	t.Parallel()
	var p partTable
	want := func(what string, states ...partState) {
		t.Helper()
		for part, s := range states {
			if got := p.is(int16(part)); got != s {
				t.Errorf("%s: part %d has the state %d, want %d", what, part, got, s)
			}
		}
	}
	now := make([]shared.Part, shared.Parts)
	p.keep(map[int16]int64{0: 5, 1: 5, 2: 5, 3: 5})
	now[0], now[1] = shared.Part{Epoch: 5, Clean: true}, shared.Part{Epoch: 6, Clean: true}
	now[2], now[3] = shared.Part{Epoch: 5}, shared.Part{Epoch: 5, Clean: true, Owner: "b"}
	if !p.outdate(now) || p.outdate(now) {
		t.Error("it was not said once that parts are outdated")
	}
	want("others have owned some", kept, remains, remains, remains, absent)

	at := time.Unix(1.8e9, 0)
	taken := []shared.Taken{
		{Part: 0, Epoch: 7, Before: now[0]}, {Part: 1, Epoch: 7, Before: now[1]}, {Part: 4, Epoch: 7, Before: now[2]},
	}
	if current := p.take(taken, true, at); !slices.Equal(current, []int16{0}) {
		t.Errorf("the rows of %v are here", current)
	}
	want("taken", kept, remains, remains, remains, coming)
	if mine := p.mine(time.Time{}); !maps.Equal(mine, map[int16]int64{0: 7, 1: 7, 4: 7}) {
		t.Errorf("this node owns parts since the epochs %v", mine)
	}
	if mine := p.mine(at); len(mine) != 0 {
		t.Errorf("a beat of the moment before must know of %v", mine)
	}
	if !p.wasClean(1) || p.wasClean(4) || !p.owns(1, 7) || p.owns(1, 6) || p.owns(2, 5) {
		t.Error("it is forgotten how parts were taken")
	}
	p.dropped([]int16{1, 2, 3})
	want("the old rows are gone", kept, coming, absent, absent, coming)

	p.set([]int16{0, 1}, here)
	p.set([]int16{1}, leaving)
	p.leave([]int16{1}, remains)
	want("released", here, remains, absent, absent, coming)
	if mine := p.mine(time.Time{}); !maps.Equal(mine, map[int16]int64{0: 7, 4: 7}) {
		t.Errorf("this node owns parts since the epochs %v", mine)
	}
	p.dropped([]int16{1})
	want("removed", here, absent, absent, absent, coming)
	if e := p.epochs([]int16{0, 1}); e[0] != 7 || e[1] != 0 {
		t.Errorf("the epochs are %v", e)
	}
	if got := p.in(here, coming); !slices.Equal(got, []int16{0, 4}) {
		t.Errorf("here or coming are %v", got)
	}
}

// TestAPartThatAnotherNodeOwnedBeforeItWasTakenIsLoaded takes a part that is kept, and which another node has taken and
// released since this node last looked.
func TestAPartThatAnotherNodeOwnedBeforeItWasTakenIsLoaded(t *testing.T) {
	t.Parallel()
	var p partTable
	p.keep(map[int16]int64{0: 5, 1: 5})
	taken := []shared.Taken{{Part: 0, Epoch: 8, Before: shared.Part{Epoch: 7, Clean: true}}, {Part: 1, Epoch: 8}}
	if current := p.take(taken[:1], true, time.Now()); len(current) > 0 || p.is(0) != remains {
		t.Errorf("the rows of %v are here, and part 0 has the state %d", current, p.is(0))
	}
	if current := p.take(taken[1:], false, time.Now()); len(current) != 1 { // this node has the only copy
		t.Errorf("the rows of %v are here", current)
	}
}

// TestRowsBelongWhereTheirPartIs asks in which states of a part hosts are visited, and changes are shipped.
func TestRowsBelongWhereTheirPartIs(t *testing.T) {
	t.Parallel()
	n := &thisNode{o: nodeOptions{Group: func(uri.Host) string { return "" }}, shared: new(shared.Store)}
	const host = "a.example"
	for s, want := range map[partState][2]bool{
		absent: {}, kept: {}, initial: {false, true}, coming: {}, here: {true, true}, leaving: {false, true}, remains: {},
	} {
		n.parts.set([]int16{partOf(host, "")}, s)
		part, visited := n.route(host)
		same, shipped := n.rowHome().part(host)
		if part != partOf(host, "") || same != part || [2]bool{visited, shipped} != want {
			t.Errorf("in the state %d hosts are visited: %t, and shipped: %t; want %t", s, visited, shipped, want)
		}
	}
}

// TestHostsRestSinceTheLeaseOfTheLastOwner takes parts of an owner that stopped properly, of one that was fenced, of an
// earlier process of this node, and of one that left while it loaded.
func TestHostsRestSinceTheLeaseOfTheLastOwner(t *testing.T) {
	t.Parallel()
	var p partTable
	now := time.Now()
	p.take([]shared.Taken{
		{Part: 0, Before: shared.Part{Clean: true}},
		{Part: 1, Before: shared.Part{Owner: "b"}},
		{Part: 2, Before: shared.Part{Owner: "a"}},
		{Part: 3},
	}, true, now)
	for part, want := range []time.Time{{}, now.Add(-10 * time.Second), now, now} {
		if got := p.asked([]int16{int16(part)}, "a", now.Add(time.Minute)); !got.Equal(want) {
			t.Errorf("part %d was asked at %v, want %v", part, got, want)
		}
	}
	if got := p.asked([]int16{1, 3}, "a", now); !got.Equal(now) {
		t.Errorf("parts that are loaded together were asked at %v, want the latest, %v", got, now)
	}
}
