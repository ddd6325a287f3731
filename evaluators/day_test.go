package evaluators

import "testing"

func TestDayWritesItsCounts(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]Day{
		"412 versions seen of some 503 (82 %), 2.3 requests each": {Requests: 950, Seen: 412, Versions: 503.2},
		"412 versions seen of some 503 (82 %, probably 60 to 93 %), 2.3 requests each": {
			Requests: 950, Seen: 412, Versions: 503.2, Odds: Odds{Visits: 950, Found: 412, Again: 178, Expected: 412},
		},
		"3 versions seen of some 3 (100 %), 1.0 requests each": {Requests: 3, Seen: 3, Versions: 1},
		"no version seen with 7 requests":                      {Requests: 7},
	} {
		if got := d.Captured().String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A host missed 100 of 500 versions by the model. What visits found says whether that is too many or too few.
func TestWhatVisitsFoundCorrectsTheEstimate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		odds      Odds
		low, high float64 // bounds of the estimated number of missed versions
	}{
		"nothing was expected":         {Odds{}, 100, 100},
		"as expected":                  {Odds{Visits: 1000, Found: 400, Again: 160, Expected: 400}, 99, 101},
		"changes come at even times":   {Odds{Visits: 800, Found: 400, Again: 150, Expected: 330}, 45, 60},
		"changes come in bursts":       {Odds{Visits: 1300, Found: 400, Again: 220, Expected: 400}, 170, 185},
		"nearly all visits find one":   {Odds{Visits: 405, Found: 400, Again: 396, Expected: 390}, 90, 105},
		"a few visits change little":   {Odds{Visits: 3, Found: 2, Again: 1, Expected: 1}, 65, 100},
		"the correction has its bound": {Odds{Visits: 5000, Found: 400, Again: 400, Expected: 900}, 300, 300},
	} {
		got := Day{Requests: 1000, Seen: 400, Versions: 500, Odds: c.odds}.Captured()
		if got.Missed < c.low || got.Missed > c.high {
			t.Errorf("%s: %.1f versions missed, want %g to %g", name, got.Missed, c.low, c.high)
		}
		low, high, ok := got.Range()
		if ok != (c.odds.Visits > 0) || ok && !(low < got.Share() && got.Share() < high) {
			t.Errorf("%s: %.3f, between %.3f and %.3f: %t", name, got.Share(), low, high, ok)
		}
	}
}

func TestTheBoundsOfManyHostsAreCloser(t *testing.T) {
	t.Parallel()
	odds := Odds{Visits: 1000, Found: 400, Again: 160, Expected: 400}
	one := Day{Seen: 400, Versions: 500, Odds: odds}
	var all Captured
	for range 25 {
		all = all.Plus(one.Captured())
	}
	low, high, _ := one.Captured().Range()
	lowest, highest, ok := all.Range()
	if !ok || highest-lowest > (high-low)/4 || !(lowest < all.Share() && all.Share() < highest) {
		t.Errorf("one host %.3f to %.3f, 25 hosts %.3f to %.3f", low, high, lowest, highest)
	}
}
