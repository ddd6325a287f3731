package rate_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators/rate"
)

// load returns a host of a number of URIs that each change perDay times a day.
func load(uris int, perDay float64) *rate.Rates {
	var l rate.Rates
	for range uris {
		l.Add(perDay, 0)
	}
	return &l
}

// assess is Assess for a host whose URIs all have one target.
func assess(rates *rate.Rates, target float64, shortest, longest, rest time.Duration) rate.Assessment {
	part := rate.Part{Rates: rates, Target: target, Min: shortest, Max: longest}
	return rate.Assess([]rate.Part{part}, rate.Limits{Rest: rest})
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
	resting := func(rest time.Duration, l *rate.Rates) rate.Assessment {
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
	var l rate.Rates
	l.Add(0, 6*time.Hour)
	l.Add(math.NaN(), 6*time.Hour)
	if got := l.Changes(); l.URIs() != 2 || math.Abs(got-8) > 0.8 {
		t.Errorf("%d URIs, %v changes a day, want 2 and 8", l.URIs(), got)
	}
}

// Three front pages and two hundred other pages share a host that can make a tenth of the visits. The front pages keep
// their target, and all pages together make the possible visits, as with a [rate.Budget].
func TestImportantURIsKeepTheirTarget(t *testing.T) {
	t.Parallel()
	const target, longest = 0.8, 90 * 24 * time.Hour
	part := func(rates *rate.Rates, leading bool) rate.Part {
		return rate.Part{Rates: rates, Target: target, Min: 5 * time.Minute, Max: longest, Leading: leading}
	}
	rest := 500 * time.Second
	of := []rate.Part{part(load(200, 4), false), part(load(3, 12), true)}
	a := rate.Assess(of, rate.Limits{Rest: rest})
	if !a.OverBudget || math.Abs(a.Leading-target) > 0.01 {
		t.Errorf("%.3f of the front pages can be captured, want %.2f: %v", a.Leading, target, a)
	}
	left := a.Possible - 36/rate.Expected(target)
	others := rate.Captured(800 / left)
	if want := (others*800 + target*36) / 836; math.Abs(a.Share-want) > 0.01 {
		t.Errorf("%.3f of all versions can be captured, want %.3f", a.Share, want)
	}
	if text := a.String(); !strings.HasSuffix(text, "(80 % of seeds, front pages, sections and feeds)") {
		t.Errorf("%q does not name the important URIs", text)
	}
	of[0] = part(load(200-a.Excess, 4), false)
	if fewer := rate.Assess(of, rate.Limits{Rest: rest}); a.Excess < 170 || fewer.OverBudget {
		t.Errorf("with %d of 200 pages fewer: %v", a.Excess, fewer)
	}
	of = []rate.Part{part(load(200, 4), false), part(load(30, 12), true)}
	a = rate.Assess(of, rate.Limits{Rest: rest})
	x := 360 / (a.Possible / 2) // they have half of the pace at most
	if want := rate.Captured(x); math.Abs(a.Leading-want) > 0.01 || a.Leading <= a.Share {
		t.Errorf("%.3f of many front pages can be captured and %.3f of all, want %.3f", a.Leading, a.Share, want)
	}
	alone := rate.Assess([]rate.Part{part(load(200, 4), true)}, rate.Limits{Rest: rest})
	usual := rate.Assess([]rate.Part{part(load(200, 4), false)}, rate.Limits{Rest: rest})
	if alone.String() != usual.String() || alone.Leading != 0 {
		t.Errorf("important URIs alone: %v, and others alone: %v", alone, usual)
	}
}
