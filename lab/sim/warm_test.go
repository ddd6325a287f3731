package sim_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/lab/sim"
)

func TestTheSecondHalfKnowsCapturesOfTheFirst(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	h := sim.History{
		ID: "a", Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Watched: 140 * day,
		Changes: []time.Duration{10 * day, 11 * day, 65 * day, 75 * day, 139 * day},
	}
	half := sim.SecondHalf([]sim.History{h}, 30*day)[0]
	if half.Watched != 70*day || len(half.Changes) != 2 || half.Changes[0] != 5*day || half.Changes[1] != 69*day {
		t.Errorf("the second half is %v with changes at %v", half.Watched, half.Changes)
	}
	states := ""
	for _, v := range half.Earlier {
		states += strconv.Itoa(int(v.At.Sub(h.Start)/day)) + " " + v.State.String() + " "
	}
	if states != "0 changed 30 changed 60 unchanged 70 changed " {
		t.Errorf("the captures are %s, want days and states", states)
	}
	// A rule is asked once for each of them, in order, and not for the start again.
	var seen []sim.Visit
	rule := sim.Policy{Host: func(float64) func(sim.History) sim.Player {
		return func(sim.History) sim.Player {
			return func(v sim.Visit) sim.Plan { seen = append(seen, v); return sim.Plan{Wait: 40 * day} }
		}
	}}
	tally := sim.Play(rule, 0, []sim.History{half})[0]
	if len(seen) != 5 || !seen[3].Earlier || seen[4].Earlier || seen[4].First || seen[4].State != evaluators.Changed {
		t.Errorf("the rule was asked for %+v", seen)
	}
	if tally.Requests != 1 || tally.Captured != 1 || tally.Versions != 2 {
		t.Errorf("counted %+v, want one request, which captured one of two versions", tally)
	}
	if base := sim.Base([]sim.History{half}); base != sim.Base(sim.SecondHalf([]sim.History{h}, 0)) {
		t.Errorf("the unit of budgets is %d requests after a warm start, and differs after a cold one", base)
	}
}

func TestHistoriesAreCutOffAfterATime(t *testing.T) {
	t.Parallel()
	all := []sim.History{{Watched: 9, Changes: []time.Duration{2, 4, 4, 5}}, {Watched: 3, Changes: []time.Duration{3}}}
	cut := sim.Beginning(all, 4)
	if cut[0].Watched != 4 || len(cut[0].Changes) != 3 || cut[1].Watched != 3 || len(cut[1].Changes) != 1 {
		t.Errorf("cut to %+v", cut)
	}
}

// A page that changed at each of many captures is not taken for one that differs at every fetch: nobody looked twice.
func TestBusyPagesAreVisitedOftenAfterDailyCaptures(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	h := sim.History{ID: "a", Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Watched: 80 * day}
	for after := time.Hour; after < h.Watched; after += 2 * time.Hour {
		h.Changes = append(h.Changes, after)
	}
	requests := map[string]int{}
	for _, start := range []string{"cold", "daily"} {
		all, err := sim.WarmStart([]sim.History{h}, start)
		if err != nil {
			t.Fatal(err)
		}
		requests[start] = sim.Play(sim.Learned(90*day), 0.7, all)[0].Requests
	}
	if requests["daily"] < requests["cold"]*9/10 {
		t.Errorf("requests: %v; want about the same after a daily start", requests)
	}
}

// The first visit after earlier captures adds the URI to its kin, as a first visit does.
func TestPrimedPagesJoinTheirKin(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var primed []sim.History
	for i := range 40 { // pages that never change
		h := sim.History{ID: strconv.Itoa(i), Host: "h", Kind: "page", Start: start, Watched: 200 * day}
		primed = append(primed, sim.SecondHalf([]sim.History{h}, day)...)
	}
	late := sim.History{ID: "new", Host: "h", Kind: "page", Start: start.Add(190 * day), Watched: 90 * day}
	alone := sim.Play(sim.Learned(90*day), 0.7, []sim.History{late})[0].Requests
	among := sim.Play(sim.Learned(90*day), 0.7, append(primed, late))[len(primed)].Requests
	if among >= alone {
		t.Errorf("a new page among 40 quiet ones takes %d requests, and %d without them; want fewer", among, alone)
	}
}

func TestStartsHaveNames(t *testing.T) {
	t.Parallel()
	all := []sim.History{{ID: "a", Watched: 20 * 24 * time.Hour}, {ID: "b", Watched: 24 * time.Hour}}
	for name, captures := range map[string]int{"cold": 0, "monthly": 2, "weekly": 3, "daily": 11} {
		got, err := sim.WarmStart(all, name)
		if err != nil || len(got) != 1 || len(got[0].Earlier) != captures {
			t.Errorf("%s: %d histories, %v, want one with %d captures", name, len(got), err, captures)
		}
	}
	if got, err := sim.WarmStart(all, "whole"); err != nil || len(got) != 2 {
		t.Errorf("whole: %d histories, %v", len(got), err)
	}
	if _, err := sim.WarmStart(all, "warm"); err == nil {
		t.Error("a start without a meaning is accepted")
	}
}
