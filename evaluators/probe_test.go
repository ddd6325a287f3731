package evaluators

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators/rate"
)

// probedPage is a page that a crawl probes. It changes at random.
type probedPage struct {
	random *rand.Rand
	rule   Learned
	in     WaitInput
	probes rate.Probes
}

func newProbedPage(seed uint64) *probedPage {
	p := &probedPage{random: rand.New(rand.NewPCG(seed, 2)), rule: Learned{Min: time.Minute}, in: firstVisit()}
	p.in.Probes = &p.probes
	return p
}

// visit makes a visit and plans the next one, which finds a change as often as if the page changed 12 times a day.
func (p *probedPage) visit() Wait {
	w := p.rule.Next(p.in)
	p.probes = p.probes.Plus(w.Probes)
	p.in.First, p.in.State, p.in.Previous, p.in.Memory = false, Unchanged, w.Asked(), w.Memory
	if p.random.ExpFloat64() < w.Interval.Hours()/2 {
		p.in.State = Changed
	}
	p.in.At = p.in.At.Add(w.Interval)
	return w
}

// A wait that is cut for a probe continues after it: both parts are as long as the wait would have been.
func TestAfterAProbeThePageIsVisitedWhenItWasDue(t *testing.T) {
	t.Parallel()
	p := newProbedPage(1)
	seen := 0
	for range 5000 {
		uncut := p.rule
		uncut.ExpectedChanges = p.rule.Wanted() * p.probes.Factor()
		same := p.in
		w, alone := p.visit(), uncut.Next(same)
		if p.in.Memory.Probe() != rate.ProbeNext || strings.Contains(w.Reason+alone.Reason, "times the last wait at most") {
			continue
		}
		seen++
		whole := alone.Interval
		counts, rest := p.probes, p.visit()
		if got := w.Interval + rest.Interval; (got-whole).Abs() > 2*time.Second || rest.Interval < p.rule.Min {
			t.Fatalf("a wait of %v became %v and %v", whole, w.Interval, rest.Interval)
		}
		if !strings.Contains(w.Reason, "cut from "+Interval(whole)+" for a probe") ||
			!strings.Contains(rest.Reason, "a probe: the rest of a wait of ") {
			t.Fatalf("the reasons are %q and %q", w.Reason, rest.Reason)
		}
		found := p.in.State == Changed || strings.HasPrefix(rest.Reason, "changed")
		if p.visit(); found != (p.probes != counts) {
			t.Fatalf("a change was found: %v; the counts are %v and %v", found, counts, p.probes)
		}
	}
	if seen < 50 || p.probes.Found < 1 {
		t.Errorf("%d waits were cut, %v", seen, p.probes)
	}
}

// If the page is visited sooner than planned, because a feed has announced a change, the visit is not at random. So it
// is no probe.
func TestAnAnnouncedVisitIsNoProbe(t *testing.T) {
	t.Parallel()
	p := newProbedPage(3)
	announced := 0
	for range 5000 {
		p.visit()
		for p.in.Memory.Probe() == rate.ProbeNext {
			announced++
			p.in.At = p.in.At.Add(-p.in.Previous / 2)
			if w := p.visit(); strings.Contains(w.Reason, "the rest of a wait") {
				t.Fatalf("the announced visit is taken for a probe: %s", w.Reason)
			}
		}
	}
	if announced < 50 || p.probes != (rate.Probes{}) {
		t.Errorf("%d visits were announced, pairs were counted: %v", announced, p.probes)
	}
}

// A rule with a number of changes, a host over its budget and a crawl without probes have none.
func TestWhoHasNoProbes(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*probedPage){
		"a number of changes": func(p *probedPage) { p.rule.ExpectedChanges = 0.5 },
		"a stretched host":    func(p *probedPage) { p.in.Stretch = 3 },
		"no counts":           func(p *probedPage) { p.in.Probes = nil },
	} {
		p := newProbedPage(4)
		change(p)
		for range 1000 {
			if w := p.visit(); strings.Contains(w.Reason, "probe") || p.in.Memory.Probe() != rate.NoProbe {
				t.Errorf("%s: %s", name, w.Reason)
				break
			}
		}
	}
}

// Where probes found fewer changes than expected, the rule waits longer, and says so.
func TestWaitsFollowTheProbesOfTheCrawl(t *testing.T) {
	t.Parallel()
	p := newProbedPage(5)
	for range 200 {
		p.visit()
	}
	p.in.State, p.in.Probes = Changed, nil
	usual := p.rule.Next(p.in)
	p.in.Probes = &rate.Probes{Expected: 98, Found: 48} // 2 × the changes, with the prior
	longer := p.rule.Next(p.in)
	if longer.Interval < usual.Interval*17/10 || longer.Interval > usual.Interval*5/2 ||
		!strings.Contains(longer.Reason, ", for 2 × the changes of the target, as the probes of the crawl found") {
		t.Errorf("%v instead of %v: %s", longer.Interval, usual.Interval, longer.Reason)
	}
}
