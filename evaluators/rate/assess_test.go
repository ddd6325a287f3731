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

// asked returns a host on which a visit with the rest after it takes the given time, and the visits a day that it is
// asked for.
func asked(took time.Duration, elastic, rigid float64) *rate.Budget {
	var p rate.Budget
	for range 10 {
		p.Visit(took, true)
	}
	p.Ask(elastic, true)
	p.Ask(rigid, false)
	return &p
}

func TestStretchMakesTheWaitsFit(t *testing.T) {
	t.Parallel()
	const took = 864 * time.Second // a hundred visits a day
	for _, c := range []struct {
		name           string
		elastic, rigid float64
		slots          int
		want           float64
	}{
		{"a host that can carry what is asked has none", 100, 0, 1, 1},
		{"nor one that is a little over, where the order decides", 140, 0, 1, 1},
		{"one that is asked for six times as much stretches to one and a half times", 600, 0, 1, 4},
		{"two slots carry twice as much", 600, 0, 2, 2},
		{"what does not stretch takes its part first", 600, 50, 1, 8},
		{"but not all of it", 600, 1000, 1, 40},
		{"there is an end to it", 1e9, 0, 1, 1000},
	} {
		if got := asked(took, c.elastic, c.rigid).Stretch(c.slots, time.Second); got != c.want {
			t.Errorf("%s: stretched by %v, want %v", c.name, got, c.want)
		}
	}
	var p rate.Budget
	p.Ask(600, true)
	if got := p.Stretch(1, took); got != 4 {
		t.Errorf("before the first visit: stretched by %v, want 4 by what is usual", got)
	}
	p.Ask(-700, true)
	if got := p.Stretch(1, took); got != 1 {
		t.Errorf("with nothing left to visit: stretched by %v", got)
	}
}

func TestOtherVisitsReduceTheBudget(t *testing.T) {
	t.Parallel()
	p := asked(864*time.Second, 600, 0)
	for n := range 1000 {
		p.Visit(864*time.Second, n%2 == 0)
	}
	if got := p.Stretch(1, 0); got < 7 || got > 9 {
		t.Errorf("with each second visit a first one: stretched by %v, want about 8", got)
	}
}

func TestImportantURIsAreStretchedLast(t *testing.T) {
	t.Parallel()
	const took = 864 * time.Second // a hundred visits a day
	for _, c := range []struct {
		name               string
		elastic, important float64
		want, first        float64
	}{
		{"the important ones keep their waits, and the others share the rest", 600, 40, 600 / 110., 1},
		{"half of the pace is for important ones at most", 600, 500, 6, 10},
		{"what the others do not need they have too", 30, 120, 1, 1},
		{"alone they are stretched as others are", 0, 600, 1, 4},
	} {
		b := asked(took, c.elastic, 0)
		b.AskImportant(c.important)
		all, first := b.Stretch(1, took), b.StretchImportant(1, took)
		if math.Abs(all-c.want) > 1e-9 || math.Abs(first-c.first) > 1e-9 {
			t.Errorf("%s: stretched by %v and %v, want %v and %v", c.name, first, all, c.first, c.want)
		}
	}
}

// A page that was found to be noise does not count among the URIs of its kind any more.
func TestAURIThatLeavesItsKindTakesItsPartAway(t *testing.T) {
	t.Parallel()
	var kin rate.Relatives
	visit := func(m rate.Memory, at time.Time, changed bool) rate.Memory {
		var e rate.Estimator
		if err := e.Open(m); err != nil {
			t.Fatal(err)
		}
		e.Join(7, &kin)
		e.Observe(rate.Observation{At: at, Changed: changed})
		_, lesson := e.Lesson()
		kin = kin.Plus(lesson)
		return e.Memory()
	}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	visit(rate.Memory{}, at, true)
	want := kin
	var noise rate.Memory
	for i := range 6 {
		noise = visit(noise, at.Add(time.Duration(i)*time.Hour), true)
	}
	if kin.URIs != 2 || kin.Rate[0] <= want.Rate[0] {
		t.Fatalf("the page taught nothing: %+v", kin)
	}
	kind, lesson := noise.Leave()
	kin = kin.Plus(lesson)
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-3 } // memories are stored with few digits
	if kind != 7 || kin.URIs != 1 || !near(kin.Rate[0], want.Rate[0]) || !near(kin.Weight[0], want.Weight[0]) {
		t.Errorf("kind %d, %+v, want %+v", kind, kin, want)
	}
	if kind, lesson := (rate.Memory{}).Leave(); kind != 0 || lesson != (rate.Relatives{}) {
		t.Errorf("without memory: %d, %+v", kind, lesson)
	}
}
