package evaluators_test

import (
	"math"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
)

func TestLadder(t *testing.T) {
	t.Parallel()
	hosts := evaluators.Ladder{First: time.Minute, Max: time.Hour, Factor: 2}
	for _, c := range []struct {
		name     string
		ladder   evaluators.Ladder
		failures int
		want     time.Duration
	}{
		{"the first failure waits the first step", hosts, 1, time.Minute},
		{"the second twice as long", hosts, 2, 2 * time.Minute},
		{"the sixth 32 times", hosts, 6, 32 * time.Minute},
		{"the seventh is held by the maximum", hosts, 7, time.Hour},
		{"the billionth too", hosts, 1_000_000_000, time.Hour},
		{"no number of failures overflows", evaluators.Ladder{
			First: time.Hour, Max: math.MaxInt64, Factor: 1e300,
		}, math.MaxInt, math.MaxInt64},
		{"no failure counts as one", hosts, 0, time.Minute},
		{"less than none too", hosts, math.MinInt, time.Minute},
		{"a first step over the maximum is cut", evaluators.Ladder{
			First: 2 * time.Hour, Max: time.Hour, Factor: 2,
		}, 1, time.Hour},
		{"a factor below one never shortens", evaluators.Ladder{First: time.Hour, Max: day, Factor: 0.5}, 5, time.Hour},
		{"an infinite factor goes to the maximum", evaluators.Ladder{
			First: time.Hour, Max: day, Factor: math.Inf(1),
		}, 2, day},
		{"a factor that is no number is two", evaluators.Ladder{
			First: time.Hour, Max: day, Factor: math.NaN(),
		}, 2, 2 * time.Hour},
		{"the zero ladder doubles from a minute", evaluators.Ladder{}, 4, 8 * time.Minute},
		{"the zero ladder ends at 28 days", evaluators.Ladder{}, 40, 28 * day},
		{"a step has whole milliseconds", evaluators.Ladder{
			First: time.Second, Max: day, Factor: 1.1,
		}, 4, 1331 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := c.ladder.Wait(c.failures); got != c.want {
				t.Errorf("%+v.Wait(%d) = %s, want %s", c.ladder, c.failures, got, c.want)
			}
		})
	}
}
