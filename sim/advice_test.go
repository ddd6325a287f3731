package sim_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/sim"
)

// atRandom is a host of pages that change at random, from once in four days to twelve times a day.
func atRandom(pages int, days float64) []sim.History {
	random := rand.New(rand.NewPCG(5, 7))
	all := make([]sim.History, pages)
	for i := range all {
		perDay := 0.25 * math.Pow(48, float64(i*37%pages)/float64(pages))
		h := sim.History{ID: fmt.Sprint(i), Kind: "page", Host: "random.example", Start: time.Unix(0, 0).UTC(), Watched: time.Duration(days * 24 * float64(time.Hour))}
		for at := random.ExpFloat64() / perDay; at < days; at += random.ExpFloat64() / perDay {
			h.Changes = append(h.Changes, time.Duration(at*24*float64(time.Hour)))
		}
		all[i] = h
	}
	return all
}

// TestTheAdviceIsTrue plays a host far over its budget, asks what its capture target would need, does each of what is advised,
// and looks whether that is so.
func TestTheAdviceIsTrue(t *testing.T) {
	t.Parallel()
	const pages, days, target, margin = 50, 40, 0.8, 0.05
	all := atRandom(pages, days)
	perDay := make(map[string]float64)
	p := sim.Learned(90 * 24 * time.Hour)
	watched := p
	watched.Host = func(knob float64) func(sim.History) sim.Player {
		players := p.Host(knob)
		return func(h sim.History) sim.Player {
			play := players(h)
			return func(v sim.Visit) sim.Plan {
				plan := play(v)
				perDay[h.ID] = plan.PerDay
				return plan
			}
		}
	}
	captured := func(p sim.Policy, all []sim.History, rest time.Duration) float64 {
		return crowded(t, p, evaluators.Expected(target), all, rest, frontier.ByValue).Share()
	}
	rest := 12 * time.Minute
	before := captured(watched, all, rest)
	var load evaluators.Load
	for _, rate := range perDay {
		load.Add(rate, 0)
	}
	terms := evaluators.Terms{Target: target, Least: sim.MinWait, Most: 90 * 24 * time.Hour, Rest: rest}
	promise := load.Promise(terms)
	t.Logf("%v; captured %.3f", promise, before)
	if !promise.Bound || math.Abs(before-promise.Share) > margin {
		t.Errorf("%v; %.3f was captured", promise, before)
	}
	if after := captured(p, all, promise.NeededRest); after < target-margin || after > target+margin {
		t.Errorf("%v; with that delay %.3f is captured", promise, after)
	}
	if after := captured(p, all[:pages-promise.Fewer], rest); after < target-margin || after > target+2*margin {
		t.Errorf("%v; with so many fewer %.3f is captured", promise, after)
	}
}
