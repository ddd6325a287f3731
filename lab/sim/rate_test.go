package sim_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
)

// TestARateIsNotEstimatedTooHighWhereMostVisitsFindAChange visits pages that change at random, at fixed waits
// shorter or longer than the mean interval between changes. The expected number of changes must match the real one,
// even if three of four visits, or 95 of 100, find a change.
func TestARateIsNotEstimatedTooHighWhereMostVisitsFindAChange(t *testing.T) {
	t.Parallel()
	const visits, learning = 400, 100
	for _, wait := range []time.Duration{6 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour} {
		for _, changes := range []float64{0.3, 1.4, 3} { // mean number of changes between two visits
			expected := 0.0
			for seed := range uint64(4) {
				random := rand.New(rand.NewPCG(seed, 7))
				waits := evaluators.Stack{{Rule: evaluators.Learned{Min: wait, Max: wait}}}
				in := evaluators.WaitInput{
					First: true, State: evaluators.Changed, Evidence: evaluators.Evidence{
						At: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
					},
				}
				for n := range visits {
					w := waits.Next(in)
					if n >= learning {
						expected += w.Expected / (4 * (visits - learning))
					}
					in.First, in.Memory, in.At, in.State = false, w.Memory, in.At.Add(wait), evaluators.Unchanged
					if random.ExpFloat64() < changes {
						in.State = evaluators.Changed
					}
				}
			}
			if expected < 0.85*changes || expected > 1.3*changes {
				t.Errorf("the estimate is %.2f changes in %s, want %.1f", expected, wait, changes)
			}
		}
	}
}
