package evaluators_test

import (
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
	if ratio := three.Interval.Seconds() / one.Interval.Seconds(); ratio < 2.9 || ratio > 3.1 || three.Stretch != 3 || !strings.HasSuffix(three.Reason, "stretched × 3 as the host cannot carry more") {
		t.Errorf("%v became %v, %v: %s", one.Interval, three.Interval, three.Stretch, three.Reason)
	}
	if off := three.Asked() - one.Interval; off < -time.Minute || off > time.Minute {
		t.Errorf("%v was asked for, want %v", three.Asked(), one.Interval)
	}
	for range 40 { // a page that never changes comes to rest at the longest wait, which is stretched as well
		in.At, in.First, in.State, in.Memory = in.At.Add(three.Interval), false, evaluators.Unchanged, three.Memory
		three = stack.Next(in)
	}
	if three.Interval != 144*time.Hour {
		t.Errorf("the longest wait is %v, want three times 48h", three.Interval)
	}
	in.Stretch = 1e6
	if far := stack.Next(in); far.Interval > 366*24*time.Hour {
		t.Errorf("stretched without end: %v", far.Interval)
	}
	classic := evaluators.Default().Next(evaluators.WaitInput{
		MIME: "text/html", State: evaluators.Changed, First: true, Evidence: evaluators.Evidence{Stretch: 3},
	})
	if classic.Interval != 12*time.Hour || classic.Asked() != 12*time.Hour {
		t.Errorf("the classic rule was stretched: %v", classic)
	}
}
