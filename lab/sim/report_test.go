package sim_test

import (
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/lab/sim"
)

const day = 24 * 60 // minutes

func TestAReportGivesSharesOfAllVersionsOfTheMeanPageAndOfSlowPages(t *testing.T) {
	t.Parallel()
	fast, slow, still, noisy := world(20*day, 1, 2, 3, 4), world(20*day, 1, 2), world(20*day), world(20*day, 1)
	noisy.Noise = true
	got := sim.NewReport([]sim.History{fast, slow, still, noisy}, []sim.Tally{
		{Versions: 4, Captured: 3, Requests: 10},
		{Versions: 2, Captured: 1, Requests: 5},
		{Requests: 5},
		{Versions: 1, Captured: 1, Requests: 20},
	})
	want := sim.Report{
		Pooled: 4.0 / 6, PerPage: (.75 + .5) / 2, Slow: .5, Requests: 40, Noise: .5, Beneath: 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestANoisyPageDiffersAtEachFetchWhateverIsBeneath(t *testing.T) {
	t.Parallel()
	quiet := world(100, 50)
	for i, h := range sim.WithNoise([]sim.History{quiet}, .75, 1) {
		states := map[evaluators.State]int{}
		p := sim.Policy{Host: func(float64) func(sim.History) sim.Player {
			return func(sim.History) sim.Player {
				return func(v sim.Visit) sim.Plan {
					states[v.State]++
					return sim.Plan{Wait: 30 * time.Minute}
				}
			}
		}}
		tally := sim.Play(p, 0, []sim.History{h})[0]
		changes, captured, unchanged := 1, 1, 0
		if i == 0 {
			unchanged = 2 // of the three visits after the first
		}
		if i == 2 {
			changes, captured = 0, 0
		}
		if h.Noise != (i > 0) || h.Host != quiet.Host || len(h.Changes) != changes || tally.Captured != captured ||
			states[evaluators.Unchanged] != unchanged {
			t.Errorf("page %d: %+v, %+v, %v", i, h, tally, states)
		}
	}
}

func TestNoiseIsTheGivenShareOfAllPages(t *testing.T) {
	t.Parallel()
	all := make([]sim.History, 697)
	for _, share := range []float64{0, .1, .5} {
		mixed := sim.WithNoise(all, share, 1)
		noisy := 0
		for _, h := range mixed {
			if h.Noise {
				noisy++
			}
		}
		if math.Abs(float64(noisy)/float64(len(mixed))-share) > .001 || len(mixed)-noisy != len(all) {
			t.Errorf("share %v: %d of %d pages are noisy", share, noisy, len(mixed))
		}
	}
}

func TestHalvesHaveEachResourceOnce(t *testing.T) {
	t.Parallel()
	var all []sim.History
	for i := range 200 {
		all = append(all, sim.History{ID: "page:" + strconv.Itoa(i)})
	}
	first, second := sim.Half(all, false), sim.Half(all, true)
	seen := map[string]bool{}
	for _, h := range append(first, second...) {
		seen[h.ID] = true
	}
	if len(seen) != len(all) || len(first)+len(second) != len(all) || len(first) < 70 || len(second) < 70 {
		t.Errorf("%d and %d of %d resources, %d different", len(first), len(second), len(all), len(seen))
	}
}
