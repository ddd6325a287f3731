package evaluators_test

import (
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
)

// priced is a host on which a visit takes so long with the rest after it, asked for so many visits a day.
func priced(took time.Duration, elastic, rigid float64) *evaluators.Price {
	var p evaluators.Price
	for range 10 {
		p.Visit(took, true)
	}
	p.Asks(elastic, true)
	p.Asks(rigid, false)
	return &p
}

func TestAPriceIsWhatMakesTheWaitsFit(t *testing.T) {
	t.Parallel()
	const took = 864 * time.Second // a hundred visits a day
	for _, c := range []struct {
		name           string
		elastic, rigid float64
		slots          int
		want           float64
	}{
		{"a host that can carry what is asked has none", 100, 0, 1, 1},
		{"nor one that is a little over, where the order decides", 140, 0, 1, 1},
		{"one that is asked for six times as much stretches to one and a half times", 600, 0, 1, 4},
		{"two slots carry twice as much", 600, 0, 2, 2},
		{"what does not stretch takes its part first", 600, 50, 1, 8},
		{"but not all of it", 600, 1000, 1, 40},
		{"there is an end to it", 1e9, 0, 1, 1000},
	} {
		if got := priced(took, c.elastic, c.rigid).Stretch(c.slots, time.Second); got != c.want {
			t.Errorf("%s: stretched by %v, want %v", c.name, got, c.want)
		}
	}
	var p evaluators.Price
	p.Asks(600, true)
	if got := p.Stretch(1, took); got != 4 {
		t.Errorf("before the first visit: stretched by %v, want 4 by what is usual", got)
	}
	p.Asks(-700, true)
	if got := p.Stretch(1, took); got != 1 {
		t.Errorf("with nothing left to visit: stretched by %v", got)
	}
}

func TestVisitsThatNoWaitAskedForLeaveLess(t *testing.T) {
	t.Parallel()
	p := priced(864*time.Second, 600, 0)
	for n := range 1000 {
		p.Visit(864*time.Second, n%2 == 0)
	}
	if got := p.Stretch(1, 0); got < 7 || got > 9 {
		t.Errorf("with each second visit a first one: stretched by %v, want about 8", got)
	}
}

func TestAStretchedWaitSaysSoAndWhatWasAsked(t *testing.T) {
	t.Parallel()
	stack := evaluators.Stack{{Name: "news", Rule: evaluators.Learned{CaptureTarget: 0.9, Max: 48 * time.Hour}}}
	in := evaluators.WaitInput{MIME: "text/html", State: evaluators.Changed, First: true, Evidence: evaluators.Evidence{At: time.Unix(0, 0)}}
	one := stack.Next(in)
	in.Stretch = 3
	three := stack.Next(in)
	if ratio := three.Interval.Seconds() / one.Interval.Seconds(); ratio < 2.9 || ratio > 3.1 || three.Stretch != 3 || !strings.HasSuffix(three.Reason, "stretched × 3 as the host cannot carry more") {
		t.Errorf("%v became %v, %v: %s", one.Interval, three.Interval, three.Stretch, three.Reason)
	}
	if off := three.Asked() - one.Interval; off < -time.Minute || off > time.Minute {
		t.Errorf("%v was asked for, want %v", three.Asked(), one.Interval)
	}
	for range 24 { // a page that never changes comes to rest at the longest wait, which is stretched as well
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
	classic := evaluators.Default().Next(evaluators.WaitInput{MIME: "text/html", State: evaluators.Changed, First: true, Evidence: evaluators.Evidence{Stretch: 3}})
	if classic.Interval != 12*time.Hour || classic.Asked() != 12*time.Hour {
		t.Errorf("the classic rule was stretched: %v", classic)
	}
}
