package evaluators_test

import (
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
)

// TestOneQuietVisitDoesNotOutweighAllBefore plays a front page that differed at each visit, on a host that can make
// every visit only much too late or stretches the waits. Then one visit finds nothing new.
func TestOneQuietVisitDoesNotOutweighAllBefore(t *testing.T) {
	t.Parallel()
	const most = 2 + 2*0.465 // times the last wait, for a capture target of 0.8
	for _, noisy := range []int{1, 3, 20, 100} {
		for _, c := range []struct{ late, stretch float64 }{{1, 1}, {10, 1}, {100, 1}, {1, 20}, {1, 60}, {3, 20}} {
			s := evaluators.Stack{{Rule: evaluators.Learned{CaptureTarget: 0.8}}}
			at := january
			w := s.Next(evaluators.WaitInput{First: true, State: evaluators.Changed, Evidence: evaluators.Evidence{At: at}})
			visit := func(state evaluators.State) {
				at = at.Add(time.Duration(c.late * float64(w.Interval)))
				w = s.Next(evaluators.WaitInput{
					State: state, Previous: w.Asked(),
					Evidence: evaluators.Evidence{At: at, Memory: w.Memory, Stretch: c.stretch},
				})
			}
			for range noisy {
				visit(evaluators.Changed)
			}
			for quiet := range 3 {
				was := w
				visit(evaluators.Unchanged)
				if got := float64(w.Asked()) / float64(was.Asked()); got > most*1.01 {
					t.Errorf("%d visits found a change, each late by %g waits, stretch %g; then quiet visit %d: %s to %s (× %.1f)",
						noisy, c.late-1, c.stretch, quiet+1, was.Asked(), w.Asked(), got)
				}
				// The stretched wait is a little longer where the clock of the URI has quiet hours.
				if got := float64(w.Interval) / float64(was.Interval); quiet > 0 && got > 2*most {
					t.Errorf("%d visits, stretch %g, quiet visit %d: stretched waits of %s and %s (× %.1f)",
						noisy, c.stretch, quiet+1, was.Interval, w.Interval, got)
				}
			}
			if c.late == 100 && noisy == 20 && !strings.Contains(w.Reason, "times the last wait at most") {
				t.Errorf("the reason does not say why the wait is short: %s", w.Reason)
			}
		}
	}
}

// A URI of which nothing was known before, and one that never changes, still reach the longest wait in a few weeks.
func TestWaitsOfAQuietURIStillGrow(t *testing.T) {
	t.Parallel()
	s := evaluators.Stack{{Rule: evaluators.Learned{CaptureTarget: 0.8}}}
	at, visits := january, 0
	w := s.Next(evaluators.WaitInput{First: true, State: evaluators.Changed, Evidence: evaluators.Evidence{At: at}})
	for ; w.Interval < 30*24*time.Hour; visits++ {
		at = at.Add(w.Interval)
		w = s.Next(evaluators.WaitInput{
			State: evaluators.Unchanged, Previous: w.Asked(), Evidence: evaluators.Evidence{At: at, Memory: w.Memory},
		})
	}
	if visits > 40 {
		t.Errorf("it took %d visits until the wait was a month", visits)
	}
}
