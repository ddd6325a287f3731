package rate_test

import (
	"math"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators/rate"
)

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
