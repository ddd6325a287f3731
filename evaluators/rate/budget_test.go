package rate_test

import (
	"math"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators/rate"
)

// asked returns a host on which a visit with the rest after it takes the given time, and the visits a day that it is
// asked for.
func asked(took time.Duration, elastic, rigid float64) *rate.Budget {
	var p rate.Budget
	for range 10 {
		p.Visit(took, true)
	}
	p.Ask(elastic, true)
	p.Ask(rigid, false)
	return &p
}

func TestStretchMakesTheWaitsFit(t *testing.T) {
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
		if got := asked(took, c.elastic, c.rigid).Stretch(c.slots, time.Second); got != c.want {
			t.Errorf("%s: stretched by %v, want %v", c.name, got, c.want)
		}
	}
	var p rate.Budget
	p.Ask(600, true)
	if got := p.Stretch(1, took); got != 4 {
		t.Errorf("before the first visit: stretched by %v, want 4 by what is usual", got)
	}
	p.Ask(-700, true)
	if got := p.Stretch(1, took); got != 1 {
		t.Errorf("with nothing left to visit: stretched by %v", got)
	}
}

func TestOtherVisitsReduceTheBudget(t *testing.T) {
	t.Parallel()
	p := asked(864*time.Second, 600, 0)
	for n := range 1000 {
		p.Visit(864*time.Second, n%2 == 0)
	}
	if got := p.Stretch(1, 0); got < 7 || got > 9 {
		t.Errorf("with each second visit a first one: stretched by %v, want about 8", got)
	}
}

func TestImportantURIsAreStretchedLast(t *testing.T) {
	t.Parallel()
	const took = 864 * time.Second // a hundred visits a day
	for _, c := range []struct {
		name               string
		elastic, important float64
		want, first        float64
	}{
		{"the important ones keep their waits, and the others share the rest", 600, 40, 600 / 110., 1},
		{"half of the pace is for important ones at most", 600, 500, 6, 10},
		{"what the others do not need they have too", 30, 120, 1, 1},
		{"alone they are stretched as others are", 0, 600, 1, 4},
	} {
		b := asked(took, c.elastic, 0)
		b.AskImportant(c.important)
		all, first := b.Stretch(1, took), b.StretchImportant(1, took)
		if math.Abs(all-c.want) > 1e-9 || math.Abs(first-c.first) > 1e-9 {
			t.Errorf("%s: stretched by %v and %v, want %v and %v", c.name, first, all, c.first, c.want)
		}
	}
}
