package sim_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/sim"
)

func TestPagesOfTheSameHoursLearnFromEachOther(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	site := sim.Daylight(1, 120, 40)
	alone := sim.Daylight(1, 120, 40)
	for i := range alone {
		alone[i].Host += strconv.Itoa(i)
	}
	base := sim.Base(site)
	learned := sim.Learned(28 * 24 * time.Hour)
	_, together := sim.Spend(learned, 2*base, site)
	_, strangers := sim.Spend(learned, 2*base, alone)
	gain := sim.Sum(together).Share() - sim.Sum(strangers).Share()
	if gain < 0.015 {
		t.Errorf("%.3f captured, and %.3f if each page is on a host of its own: want 0.015 more", sim.Sum(together).Share(), sim.Sum(strangers).Share())
	}
}

func TestExplainPlaysTheWholeHost(t *testing.T) {
	t.Parallel()
	site := sim.Daylight(1, 30, 30)
	learned := func(_, _ string) evaluators.Stack { return evaluators.Stack{{Rule: evaluators.Learned{}}} }
	steps, like := sim.Explain(learned, site, 7)
	if len(steps) == 0 || !steps[0].At.Equal(site[7].Start) {
		t.Fatalf("%d steps, not of the page that was asked for", len(steps))
	}
	if like.URIs != 30 || like.Rhythm.String() == "" {
		t.Errorf("%v like it, that change %q", like.URIs, like.Rhythm)
	}
}
