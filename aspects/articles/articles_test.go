package articles

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
)

func TestPagesAreFollowedUpAtTheAgesOfTheLadder(t *testing.T) {
	t.Parallel()
	ladder := []time.Duration{15 * time.Minute, time.Hour, 3 * time.Hour, 24 * time.Hour}
	for _, c := range []struct {
		name            string
		age, wait, want time.Duration
	}{
		{"just discovered", 2 * time.Second, 12 * time.Hour, 15*time.Minute - 2*time.Second},
		{"the rule comes earlier", 2 * time.Second, 5 * time.Minute, 5 * time.Minute},
		{"on a rung", 15 * time.Minute, 12 * time.Hour, 45 * time.Minute},
		{"late, and the next rung is close: it is left out", 55 * time.Minute, 12 * time.Hour, 2*time.Hour + 5*time.Minute},
		{"late, and the next rung is just too close", 50 * time.Minute, 12 * time.Hour, 2*time.Hour + 10*time.Minute},
		{"past the last rung", 25 * time.Hour, 12 * time.Hour, 12 * time.Hour},
		{"the clock went back", -time.Hour, 12 * time.Hour, 15 * time.Minute},
	} {
		if got := followUp(evaluators.Wait{Interval: c.wait}, ladder, c.age); got.Interval != c.want {
			t.Errorf("%s: %s, want %s", c.name, got.Interval, c.want)
		}
	}
	if got := followUp(evaluators.Wait{Interval: time.Hour}, nil, 0); got.Interval != time.Hour {
		t.Errorf("no ladder: %s", got.Interval)
	}
}
