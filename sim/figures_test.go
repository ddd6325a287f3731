package sim_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/sim"
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
		if target.Honest > target.Hosts || !(target.Without <= 1) {
			t.Errorf("%+v", target)
		}
	}
}
