package rate

import (
	"math"
	"math/rand/v2"
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

// Some of the estimator is computed in a faster way than its formula reads. Each must return the same bits as the plain
// way: a decision must not depend on how fast it was made.

const ninetyDays = 90 * secondsPerDay

// worn returns a clock that learned from random visits.
func worn(random *rand.Rand) (c clock) {
	for _, cells := range [][]belief{c.cells[:], c.parts[:]} {
		for i := range cells {
			if random.IntN(4) > 0 {
				cells[i] = belief{math.Exp(3 * random.NormFloat64()), math.Exp(3 * random.NormFloat64())}
			}
		}
	}
	return c
}

// moment returns a random moment from 2001 to 2096. One in four is on the hour.
func moment(random *rand.Rand) float64 {
	at := float64(1e18+random.Int64N(3e18)) / 1e9
	if random.IntN(4) == 0 {
		at = math.Floor(at/secondsPerHour) * secondsPerHour
	}
	return at
}

func TestExposureEqualsTheSumOverHours(t *testing.T) {
	t.Parallel()
	plain := func(w *profile, from, to float64) (sum float64) {
		if weeks := math.Floor((to - from) / (hours * secondsPerHour)); weeks >= 1 {
			whole := 0.0
			for _, x := range w.hour {
				whole += x
			}
			sum = weeks * (whole / hoursOfDay)
			from += weeks * hours * secondsPerHour
		}
		for from < to {
			hour, end := hourOf(from)
			stop := min(end, to)
			sum += w.within(from, stop, hour, end)
			from = stop
		}
		return sum
	}
	random := rand.New(rand.NewPCG(1, 4))
	for range 2000 {
		var w profile
		c := worn(random)
		c.profile(&w)
		for range 10 {
			from := moment(random)
			to := from + math.Exp(3*random.NormFloat64()+10)
			if random.IntN(4) == 0 {
				to = math.Ceil(to/secondsPerHour) * secondsPerHour
			}
			if got, want := w.exposure(from, to), plain(&w, from, to); got != want {
				t.Fatalf("from %v to %v: %v, hour by hour %v", from, to, got, want)
			}
		}
	}
}

func TestUntilEqualsTheSearchHourByHour(t *testing.T) {
	t.Parallel()
	plain := func(f Forecast, wanted, most float64) (wait, expected float64) {
		const week = hours * secondsPerHour
		weeks := math.Floor(min(wanted*(1-1e-9)/(f.perDay*f.profile.week), most/week))
		wait, expected = weeks*week, weeks*(f.perDay*f.profile.week)
		for wait < most {
			hour, end := hourOf(f.from + wait)
			next := min(end-f.from, most)
			more := f.perDay * f.profile.within(f.from+wait, f.from+next, hour, end)
			if expected+more >= wanted {
				start := f.from + wait - (end - secondsPerHour)
				seconds := (wanted - expected) / (f.perDay * f.profile.hour[hour]) * secondsPerDay
				return wait + max(f.profile.after(f.profile.before(start)+seconds)-start, 0), wanted
			}
			expected, wait = expected+more, next
		}
		return most, expected
	}
	random := rand.New(rand.NewPCG(2, 4))
	for range 2000 {
		var w profile
		c := worn(random)
		c.profile(&w)
		for range 10 {
			f := Forecast{from: moment(random), age: -1, perDay: math.Exp(3 * random.NormFloat64()), profile: &w}
			wanted, most := math.Exp(random.NormFloat64()), ninetyDays*random.ExpFloat64()
			wait, expected := f.until(wanted, most)
			if w, x := plain(f, wanted, most); w != wait || x != expected {
				t.Fatalf("from %v with %v changes a day: %v and %v, hour by hour %v and %v", f.from, f.perDay, wait, expected, w, x)
			}
		}
	}
}

// A machine without a clock takes it to be 1970, where a moment has more decimals, and a long wait
// added to it is rounded.
func TestUntilEndsInJanuary1970(t *testing.T) {
	t.Parallel()
	var w profile
	new(clock).profile(&w)
	random := rand.New(rand.NewPCG(4, 4))
	for range 1000 {
		for _, age := range []float64{-1, 1000} {
			f := Forecast{from: 1e5 * random.Float64(), age: age, perDay: 1e-3, aged: 1e-3, profile: &w}
			if wait, _ := f.until(10, ninetyDays); wait != ninetyDays {
				t.Fatalf("from %v: %v", f.from, wait)
			}
		}
	}
}

func TestDayPowerReturnsTheBitsOfPow(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 100_000 {
		x := 1.0
		if i > 0 {
			x = math.Exp(5 * random.NormFloat64())
		}
		if got, want := math.Exp(dayPower*math.Log(x)), math.Pow(x, dayPower); got != want {
			t.Fatalf("%v to the power of %v: %v, want %v", x, dayPower, got, want)
		}
	}
}

func TestAnUnchangedClockIsWrittenAsItWasRead(t *testing.T) {
	t.Parallel()
	u := unpacker{larges: larges()}
	for n := range math.MaxUint16 + 1 {
		u.bytes = []byte{byte(n >> 8), byte(n)}
		x := u.small()
		if x != large(float64(n)) {
			t.Fatalf("%d is read as %v, want %v", n, x, large(float64(n)))
		}
		for dice := range uint64(3) {
			p := packer{dice: dice * 0x5555555555555555}
			p.number(small(x))
			if got := int(p.bytes[0])<<8 | int(p.bytes[1]); got != n {
				t.Fatalf("%d is read as %v and written as %d", n, x, got)
			}
		}
	}
}
