package capacity_test

import (
	"math"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators/capacity"
	"github.com/arcrawl/arcrawl/evaluators/rate"
)

// load returns a host of a number of URIs that each change perDay times a day.
func load(uris int, perDay float64) *capacity.Rates {
	var l capacity.Rates
	for range uris {
		l.Add(perDay, 0)
	}
	return &l
}

// assess is Assess for a host whose URIs all have one target.
func assess(rates *capacity.Rates, target float64, shortest, longest, rest time.Duration) capacity.Assessment {
	part := capacity.Part{Rates: rates, Target: target, Min: shortest, Max: longest}
	return capacity.Assess([]capacity.Part{part}, capacity.Limits{Rest: rest})
}

func TestATargetThatPolitenessAllowsIsMet(t *testing.T) {
	t.Parallel()
	p := assess(load(100, 4), 0.8, 5*time.Minute, 90*24*time.Hour, 10*time.Second)
	if p.OverBudget || math.Abs(p.Share-0.8) > 0.01 || math.Abs(p.Wanted-400/rate.Expected(0.8)) > 20 || p.Excess != 0 {
		t.Errorf("%+v", p)
	}
	if got, want := p.String(), "a capture target of 80 % can be kept, with 862 visits a day of 8640 that politeness allows"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestATargetThatCannotBeMetSaysWhatItNeeds(t *testing.T) {
	t.Parallel()
	resting := func(rest time.Duration, l *capacity.Rates) capacity.Assessment {
		return assess(l, 0.9, 5*time.Minute, 90*24*time.Hour, rest)
	}
	l := load(2000, 4)
	p := resting(20*time.Second, l)
	if want := "a capture target of 90 % needs a delay of 1.7s instead of 20s, or 1830 URIs fewer; at present 46 %"; p.String() != want {
		t.Errorf("%s, want %s", p, want)
	}
	// The assessed rest is short enough.
	rest := p.NeededRest - time.Millisecond
	if again := resting(rest, l); again.OverBudget {
		t.Errorf("with a rest of %v: %v", rest, again)
	}
	if again := resting(20*time.Second, load(2000-p.Excess, 4)); again.OverBudget {
		t.Errorf("with %d URIs fewer: %v", p.Excess, again)
	}
	// Politeness carries 4,320 visits a day, and 8,000 versions come into being.
	if x := 8000.0 / 4320; math.Abs(p.Share-rate.Captured(x)) > 0.01 {
		t.Errorf("%.3f can be captured, want %.3f", p.Share, rate.Captured(x))
	}
}

func TestAssessObservesTheBoundsOfWaits(t *testing.T) {
	t.Parallel()
	fast := assess(load(1, 2000), 0.9, 5*time.Minute, time.Hour, time.Second)
	if fast.OverBudget || fast.Share > 0.2 || fast.String() != "a capture target of 90 % needs waits shorter than wait.min; at present 14 %" {
		t.Errorf("%+v, %v", fast, fast)
	}
	still := assess(load(1000, 0), 0.9, time.Minute, time.Hour, 10*time.Second)
	if !still.OverBudget || still.Excess != 640 {
		t.Errorf("1000 pages an hour where 360 may be visited: %v", still)
	}
}

func TestAnUnknownRateCountsAsOncePerWait(t *testing.T) {
	t.Parallel()
	var l capacity.Rates
	l.Add(0, 6*time.Hour)
	l.Add(math.NaN(), 6*time.Hour)
	if got := l.Changes(); l.URIs() != 2 || math.Abs(got-8) > 0.8 {
		t.Errorf("%d URIs, %v changes a day, want 2 and 8", l.URIs(), got)
	}
}
