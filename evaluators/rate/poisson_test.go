package rate

import (
	"math"
	"testing"
)

func TestExpectedIsTheInverseOfCaptured(t *testing.T) {
	t.Parallel()
	for _, share := range []float64{.01, .1, .5, .72, .8, .9, .99} {
		if got := Captured(Expected(share)); math.Abs(got-share) > 1e-9 {
			t.Errorf("Captured(Expected(%v)) = %v", share, got)
		}
	}
	for _, none := range []float64{0, -1, 1, 2, math.NaN()} {
		if got := Expected(none); math.Abs(got-Expected(.8)) > 1e-9 {
			t.Errorf("Expected(%v) = %v, want the default", none, got)
		}
	}
}

func TestUnchangedFactorFollowsFromTheTarget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ share, factor float64 }{{.8, 1.27}, {.9, 1.102}, {.95, 1.045}, {.99, 1.008}} {
		if got := UnchangedFactor(1.5, c.share); math.Abs(got-c.factor) > 0.002 {
			t.Errorf("target %v: × %.4f, want %v", c.share, got, c.factor)
		}
	}
}

func TestExpectedForReturnsTheBitsOfTheFormula(t *testing.T) {
	t.Parallel()
	for _, target := range []float64{
		0.01, 0.29, 0.5, 0.57, 0.58, 0.8, 0.81, 0.825, 0.9, 0.95, 0.99, 0.999,
		math.Nextafter(0.8, 1), math.SmallestNonzeroFloat64, 0, 1, -1, 2, math.NaN(), math.Inf(1),
	} {
		if got, want := ExpectedFor(target), Expected(planned(target)); got != want {
			t.Errorf("%v: %v, want %v", target, got, want)
		}
	}
	for n := range 101 {
		if got, want := ExpectedFor(float64(n)/100), Expected(planned(float64(n)/100)); got != want {
			t.Errorf("%d %%: %v, want %v", n, got, want)
		}
	}
}
