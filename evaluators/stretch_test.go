package evaluators_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
)

func TestAStretchedWaitReportsTheWaitThatWasAsked(t *testing.T) {
	t.Parallel()
	stack := evaluators.Stack{{Name: "news", Rule: evaluators.Learned{CaptureTarget: 0.9, Max: 48 * time.Hour}}}
	in := evaluators.WaitInput{
		MIME: "text/html", State: evaluators.Changed, First: true, Evidence: evaluators.Evidence{At: time.Unix(0, 0)},
	}
	one := stack.Next(in)
	in.Stretch = 3
	three := stack.Next(in)
	if ratio := three.Interval.Seconds() / one.Interval.Seconds(); ratio < 2.9 || ratio > 3.1 || three.Stretch < 2.9 || three.Stretch > 3.1 || !strings.HasSuffix(three.Reason, "stretched × 3 as the host cannot carry more") {
		t.Errorf("%v became %v, %v: %s", one.Interval, three.Interval, three.Stretch, three.Reason)
	}
	if off := three.Asked() - one.Interval; off < -time.Minute || off > time.Minute {
		t.Errorf("%v was asked for, want %v", three.Asked(), one.Interval)
	}
	for range 40 { // a page that never changes comes to rest at the longest wait
		in.At, in.First, in.State, in.Memory = in.At.Add(three.Interval), false, evaluators.Unchanged, three.Memory
		three = stack.Next(in)
	}
	if three.Interval != 48*time.Hour || three.Asked() > 48*time.Hour || three.Asked() < 40*time.Hour {
		t.Errorf("the longest wait is %v, stretched × %v, want 48h whatever the host carries", three.Interval, three.Stretch)
	}
	classic := evaluators.Default().Next(evaluators.WaitInput{
		MIME: "text/html", State: evaluators.Changed, First: true, Evidence: evaluators.Evidence{Stretch: 3},
	})
	if classic.Interval != 12*time.Hour || classic.Asked() != 12*time.Hour {
		t.Errorf("the classic rule was stretched: %v", classic)
	}
}

// A page that changes twice a day, on a host that carries a hundredth of what is asked, may wait for 24 hours at most.
// It is visited about each 24 hours, and the wait that its target asks for is still known.
func TestTheLongestWaitHoldsOnAnOverloadedHost(t *testing.T) {
	t.Parallel()
	rule := evaluators.Learned{Max: 24 * time.Hour}
	for _, by := range []float64{1, 2, 58, 1000, 1e9, math.Inf(1)} {
		in := evaluators.WaitInput{
			MIME: "text/html", State: evaluators.Changed, First: true,
			Evidence: evaluators.Evidence{At: time.Unix(0, 0), Stretch: by},
		}
		var w evaluators.Wait
		for i := range 60 {
			w = rule.Next(in)
			if w.Interval > 24*time.Hour {
				t.Fatalf("stretched × %v, visit %d: %v, above the longest wait of 24h", by, i, w.Interval)
			}
			in.At, in.First, in.Memory = in.At.Add(w.Interval), false, w.Memory
			in.State = evaluators.Unchanged
			const every = 12 * 3600
			if before := in.At.Add(-w.Interval); in.At.Unix()/every > before.Unix()/every {
				in.State = evaluators.Changed
			}
		}
		if by >= 58 && !math.IsInf(by, 1) && (w.Interval < 20*time.Hour || w.Asked() > 12*time.Hour || w.Stretch < 2) {
			t.Errorf("stretched × %v: %v, and %v without it; want about 24h, and at most 12h", by, w.Interval, w.Asked())
		}
	}
}
