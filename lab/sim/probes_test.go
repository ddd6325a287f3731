package sim_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/lab/sim"
)

// rarely returns pages of two hosts that change at random, once in ten days.
func rarely(pages, days int) []sim.History {
	random := rand.New(rand.NewPCG(8, 9))
	all := make([]sim.History, pages)
	for i := range all {
		h := sim.History{
			ID: fmt.Sprint(i), Kind: "page", Host: fmt.Sprintf("h%d.example", i%2), Start: time.Unix(0, 0).UTC(),
			Watched: time.Duration(days) * 24 * time.Hour,
		}
		for day := 10 * random.ExpFloat64(); day < float64(days); day += 10 * random.ExpFloat64() {
			h.Changes = append(h.Changes, time.Duration(day*24*float64(time.Hour)))
		}
		all[i] = h
	}
	return all
}

// Pages that change rarely are visited more often than their rate says, so that more is captured of them than the
// target. If a crawl has no others, its probes show it, and save requests.
func TestProbesBringACrawlNearItsTarget(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, slow.OneGoroutine)
	all := rarely(120, 1500)
	for _, target := range []float64{0.5, 0.7} {
		rule := evaluators.Learned{CaptureTarget: target}
		probed := sim.Stack("probed", evaluators.Stack{{Rule: rule}})
		plain := probed
		plain.Host = func(knob float64) func(sim.History) sim.Player {
			players := probed.Host(knob)
			return func(h sim.History) sim.Player {
				play := players(h)
				return func(v sim.Visit) sim.Plan {
					v.Probes = nil
					return play(v)
				}
			}
		}
		before, after := sim.Sum(sim.Play(plain, 0, all)), sim.Sum(sim.Play(probed, 0, all))
		t.Logf("target %v: %.3f with %d requests, %.3f with %d", target, before.Share(), before.Requests, after.Share(),
			after.Requests)
		if off := math.Abs(after.Share() - target); off > 0.1 || off > 0.75*math.Abs(before.Share()-target) {
			t.Errorf("target %v: captured %.3f without probes and %.3f with them", target, before.Share(), after.Share())
		}
		if after.Requests > before.Requests*9/10 {
			t.Errorf("target %v: %d requests without probes and %d with them", target, before.Requests, after.Requests)
		}
	}
}
