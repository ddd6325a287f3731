package rate

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// Of pairs of visits to pages that change at random, as many find two changes as expected. If more do, the crawl waits
// for fewer changes; if fewer do, for more.
func TestPairsSayHowManyVersionsAreMissed(t *testing.T) {
	t.Parallel()
	const target = 0.8
	planned := Expected(1 / (1 + (1/target-1)/hiddenTwice))
	for _, c := range []struct {
		name      string
		x         float64 // changes in a wait
		low, high float64
	}{
		{"as expected", planned, 0.9, 1.1},
		{"twice the changes", 2 * planned, 0, 0.75},
		{"half the changes", planned / 2, 1.4, maxFactor},
	} {
		random := rand.New(rand.NewPCG(3, 4))
		var sum Probes
		for range 20_000 {
			part := random.Float64()
			changed := func(x float64) bool { return random.Float64() < -math.Expm1(-x) }
			before := changed(c.x * part)
			one := Probes{}.Pair(target, After(before, part), changed(c.x*(1-part)))
			sum.Expected, sum.Found = sum.Expected+one.Expected, sum.Found+one.Found
		}
		if f := sum.Factor(); f < c.low || f > c.high {
			t.Errorf("%s: the factor is %.2f, want %v to %v: %v", c.name, f, c.low, c.high, sum)
		}
	}
}

// One pair says little, and old pairs fade, so that the factor follows a crawl that changes.
func TestProbesFade(t *testing.T) {
	t.Parallel()
	var p Probes
	if p.Factor() != 1 {
		t.Errorf("without a probe the factor is %v", p.Factor())
	}
	if f := p.Plus(p.Pair(0.8, After(true, 0.5), true)).Factor(); f < 0.85 {
		t.Errorf("after one pair the factor is %.2f", f)
	}
	for range 10_000 {
		p = p.Plus(Probes{Found: 1})
	}
	if p.Factor() != 1/maxFactor || !p.Sound() || p.share() != usualProbes {
		t.Errorf("after many pairs: %v", p)
	}
	for range 1000 {
		p = p.Plus(Probes{Expected: 1})
	}
	if p.Factor() < 1 || !p.Sound() {
		t.Errorf("after a thousand other ones: %v, factor %.2f", p, p.Factor())
	}
}

// A wait is cut and known again from the memory alone. Neither part is shorter than the shortest wait.
func TestACutWaitIsKnownFromTheMemory(t *testing.T) {
	t.Parallel()
	const whole, shortest, visits = 7 * time.Hour, 5 * time.Minute, 5000
	var e Estimator
	e.reset()
	at := time.Unix(1_700_000_000, 0)
	cuts, sum := 0, 0.0
	for i := range visits {
		at = at.Add(time.Duration(i%7+1) * time.Hour)
		e.Observe(Observation{At: at, Changed: i%3 == 0})
		m := e.Memory()
		wait, ok := Probes{}.Cut(m, whole, shortest)
		if !ok {
			continue
		}
		cuts++
		sum += wait.Hours()
		m = m.Marked(ProbeNext)
		if again := Whole(m, wait, shortest); (again - whole).Abs() > time.Millisecond {
			t.Fatalf("a wait of %v was cut to %v, and is %v then", whole, wait, again)
		}
		if wait < shortest || whole-wait < shortest {
			t.Fatalf("a wait of %v was cut to %v", whole, wait)
		}
	}
	if share := float64(cuts) / visits; math.Abs(share-usualProbes-firstProbes) > 0.015 {
		t.Errorf("a share of %.3f was cut", share)
	}
	if mean := sum / float64(cuts); math.Abs(mean-whole.Hours()/2) > 0.4 {
		t.Errorf("the mean probe is %.1f hours after the visit before", mean)
	}
	if _, ok := (Probes{}).Cut(e.Memory(), 2*shortest-1, shortest); ok {
		t.Error("a wait was cut that is too short")
	}
}

// The mark is no part of what the estimator reads, and a memory is never changed.
func TestAMarkChangesNothingElse(t *testing.T) {
	t.Parallel()
	var e Estimator
	e.reset()
	e.Observe(Observation{At: time.Unix(1_700_000_000, 0), Changed: true})
	e.Observe(Observation{At: time.Unix(1_700_009_000, 0)})
	plain := e.Memory()
	for p := NoProbe; p <= After(true, 1); p++ {
		marked := plain.Marked(p)
		var again Estimator
		if err := again.Open(marked); err != nil || marked.Probe() != p || string(again.Memory()) != string(plain) {
			t.Fatalf("mark %d: %v, read as %d", p, err, marked.Probe())
		}
		if marked.Kind() != plain.Kind() || marked.Passed(time.Unix(1_700_009_060, 0)) != time.Minute {
			t.Errorf("mark %d: %v passed", p, marked.Passed(time.Unix(1_700_009_060, 0)))
		}
	}
	if plain.Probe() != NoProbe {
		t.Error("the memory has changed")
	}
	for _, changed := range []bool{false, true} {
		if before, part := After(changed, 0.5).ended(); before != changed || part != 0.5 {
			t.Errorf("%v, 0.5 is read as %v, %v", changed, before, part)
		}
	}
}

// A crawl begins with more probes. Each of these counts less, so that a wait of the beginning counts like a later one.
func TestEachWaitCountsTheSame(t *testing.T) {
	t.Parallel()
	const waits = 20_000
	random := rand.New(rand.NewPCG(5, 6))
	var p Probes
	for i := range waits {
		hides := 0.2 // probability that the wait hides a version
		if i >= waits/2 {
			hides = 0.6
		}
		if random.Float64() < p.share() {
			p = p.Plus(p.Pair(0.8, After(true, 0.5), random.Float64() < hides))
		}
	}
	if want := usualProbes * waits * 0.4; math.Abs(p.Found-want) > 0.2*want {
		t.Errorf("%.1f pairs found two changes, want about %v", p.Found, want)
	}
}
