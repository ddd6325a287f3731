package sim_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/lab/sim"
)

func TestFiguresShowTheEffectOfOneSource(t *testing.T) {
	t.Parallel()
	var all []sim.History
	for i, h := range corpus(t) {
		if i%5 == 0 {
			all = append(all, h)
		}
	}
	for i := range all {
		all[i].Source = all[i].Kind
	}
	f := sim.Figure(sim.FigureQuestion{Budgets: []float64{1}, Targets: []float64{.5, .8}, Sources: true, Seed: 1}, all)
	if diff := cmp.Diff(f.Budgets, sim.Figure(sim.FigureQuestion{Budgets: []float64{1}, Seed: 1}, all).Budgets); diff != "" {
		t.Errorf("the second run has other figures (-first +second):\n%s", diff)
	}
	b := f.Budgets[0]
	if !(b.Lowest.Figure < b.Share && b.Share < b.Highest.Figure && b.Low < b.Share && b.Share < b.High) ||
		len(b.Without) < 2 {
		t.Errorf("%+v: want a share within its interval and between the shares without one source", b)
	}
	if !(f.Sources > 0 && f.Sources < 1) || f.Worst.Source == "" {
		t.Errorf("mean over sources %v, worst %+v", f.Sources, f.Worst)
	}
	low, high := f.Targets[0], f.Targets[1]
	if !(low.Share < high.Share) || low.Requests >= high.Requests || math.Abs(high.Share-.8) > .1 {
		t.Errorf("targets .5 and .8: %+v, %+v", low, high)
	}
	for _, target := range f.Targets {
		longer := target.Longer
		if target.Honest > target.Hosts || !(target.Without <= 1) ||
			longer.Honest > longer.Hosts || longer.Hosts > target.Hosts {
			t.Errorf("%+v", target)
		}
	}
}

// A page that changes each four minutes is visited after the shortest wait, and counts apart from one that changes each
// six hours.
func TestFiguresTellHostsAtTheShortestWaitApart(t *testing.T) {
	t.Parallel()
	all := everySixHours()
	fast := all[0]
	fast.ID, fast.Host, fast.Source, fast.Changes = "fast", "fast.example", "fast", nil
	for after := sim.MinWait; after < fast.Watched/20; after += 4 * time.Minute {
		fast.Changes = append(fast.Changes, after)
	}
	fast.Watched /= 20
	f := sim.Figure(sim.FigureQuestion{Targets: []float64{.8}}, append(all, fast)).Targets[0]
	slowly := sim.Figure(sim.FigureQuestion{Targets: []float64{.8}}, all).Targets[0]
	if f.Hosts != 2 || f.Longer.Hosts != 1 || f.Longer.Share != slowly.Share || f.Longer.Estimated != slowly.Estimated ||
		slowly.Share != 1 {
		t.Errorf("with both hosts %+v, with the slow one alone %+v", f, slowly)
	}
}

// Of a page that changes every six hours to the minute, nothing is missed. By the model of changes at random, .18 of
// the versions are missed. What the visits found corrects most of that.
func TestAnEstimateKnowsEvenChanges(t *testing.T) {
	t.Parallel()
	all := everySixHours()
	played := sim.Play(sim.Stack("learned", evaluators.Stack{{Rule: evaluators.Learned{}}}), 0, all)[0]
	model := float64(played.Captured) / played.Expected
	corrected := evaluators.Day{Seen: played.Captured, Versions: played.Expected, Odds: played.Odds}.Captured().Share()
	if played.Share() != 1 || model > 0.85 || corrected < 0.9 {
		t.Errorf("captured %.3f; by the model %.3f, corrected %.3f", played.Share(), model, corrected)
	}
}
