package sim_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/lab/sim"
)

// everySixHours returns a page that changes every six hours for sixty days.
func everySixHours() []sim.History {
	h := world(60 * day)
	h.ID, h.Host = "page", "host.example"
	for after := 3 * time.Hour; after < h.Watched; after += 6 * time.Hour {
		h.Changes = append(h.Changes, after)
	}
	return []sim.History{h}
}

func TestTroubleCostsVersionsOrRequests(t *testing.T) {
	t.Parallel()
	all := everySixHours()
	plain := sim.Play(every, 180, all)[0]
	if plain.Captured != plain.Versions || plain.Versions != 240 {
		t.Fatalf("without trouble: %+v", plain)
	}
	for _, tt := range []struct {
		trouble                  sim.Trouble
		fewest, most, least, top int // requests, and versions captured
	}{
		{sim.NoTrouble, plain.Requests, plain.Requests, 240, 240},
		{sim.Late, plain.Requests / 2, plain.Requests/2 + 1, 235, 240},
		{sim.Outages, plain.Requests + 50, plain.Requests + 400, 200, 236},
		{sim.Stale, plain.Requests, plain.Requests, 240, 240}, // the second visit of a version captures it
		{sim.Clock, plain.Requests, plain.Requests, 240, 240},
	} {
		got := sim.Play(every.InTrouble(tt.trouble), 180, all)[0]
		if got.Requests < tt.fewest || got.Requests > tt.most || got.Captured < tt.least || got.Captured > tt.top {
			t.Errorf("%s: %+v", tt.trouble, got)
		}
		if again := sim.Play(every.InTrouble(tt.trouble), 180, all)[0]; again != got {
			t.Errorf("%s: played again %+v, first %+v", tt.trouble, again, got)
		}
	}
}

func TestAStaleAnswerHidesAVersionThatIsVisitedOnce(t *testing.T) {
	t.Parallel()
	got := sim.Play(every.InTrouble(sim.Stale), 360, everySixHours())[0]
	if got.Requests != 240 || got.Captured < 200 || got.Captured > 232 {
		t.Errorf("%+v, want some 216 of 240 versions", got)
	}
}

// The learned rule captures as much if the clock is wrong on some days and the crawler notices it. If it does not, the
// rule believes in long times without a change. It may not lose versions by that, because one quiet visit lengthens the
// wait by a limited factor; but it needs more visits.
func TestAClockThatJumpsTeachesNothing(t *testing.T) {
	t.Parallel()
	all := everySixHours()
	p := sim.Stack("learned", evaluators.Stack{{Rule: evaluators.Learned{}}})
	right := sim.Play(p, 0, all)[0]
	jumped := sim.Play(p.InTrouble(sim.Clock), 0, all)[0]
	blind := sim.Play(p.InTrouble(sim.BlindClock), 0, all)[0]
	t.Logf("captured with a right clock %d, if jumps are noticed %d, if not %d", right.Captured, jumped.Captured, blind.Captured)
	if min(jumped.Captured, blind.Captured) < right.Captured-5 || jumped.Requests > right.Requests+5 ||
		blind.Requests < right.Requests+10 {
		t.Errorf("right %+v, jumped %+v, blind %+v", right, jumped, blind)
	}
}

func TestTroublesAreFoundByTheirNames(t *testing.T) {
	t.Parallel()
	for trouble := sim.NoTrouble; trouble <= sim.BlindClock; trouble++ {
		got, err := sim.TroubleNamed(trouble.String())
		if diff := cmp.Diff(trouble, got); diff != "" || err != nil {
			t.Errorf("%s: %v, %v", trouble, got, err)
		}
	}
	if _, err := sim.TroubleNamed("war"); err == nil {
		t.Error("an unknown trouble was found")
	}
}
