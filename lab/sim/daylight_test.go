package sim_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/lab/sim"
)

func TestPagesOfTheSameHoursLearnFromEachOther(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, slow.OneGoroutine)
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
		t.Errorf("captured share: %.3f on one host, %.3f with one host per page; want a difference of at least 0.015", sim.Sum(together).Share(), sim.Sum(strangers).Share())
	}
}

func TestExplainPlaysTheWholeHost(t *testing.T) {
	t.Parallel()
	site := sim.Daylight(1, 30, 30)
	learned := func(_, _ string) evaluators.Stack { return evaluators.Stack{{Rule: evaluators.Learned{}}} }
	steps, like := sim.Explain(learned, site, 7)
	if len(steps) == 0 || !steps[0].At.Equal(site[7].Start) {
		t.Fatalf("Explain returns %d steps, or steps of another page", len(steps))
	}
	if like.URIs != 30 || like.Rhythm.String() == "" {
		t.Errorf("similar URIs: %v with the rhythm %q", like.URIs, like.Rhythm)
	}
}
