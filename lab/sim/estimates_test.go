package sim_test

import (
	"cmp"
	"flag"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/lab/sim"
)

var recorded = flag.String("histories", "", "file with histories for TestNoOtherEstimateOfAHostIsBetter")

// judgedHost is a host whose captured share is known, and estimated.
type judgedHost struct {
	source    string
	share     float64 // captured
	used      float64 // the estimate in use
	model     float64 // the same without its correction
	byOdds    float64 // the same, with the versions of a visit by the probability of a change
	found     []float64
	shareOdds float64 // logarithm of captured to missed versions
}

// judgedHosts plays the learned rule, and returns the hosts with 100 versions or more.
func judgedHosts(all []sim.History, target float64) (judged []judgedHost) {
	rule := sim.Stack("learned", evaluators.Stack{{Rule: evaluators.Learned{CaptureTarget: target, Min: sim.MinWait}}})
	sums, byOdds, hours, sources := map[string]sim.Tally{}, map[string]float64{}, map[string]float64{}, map[string]string{}
	play := rule.Host
	rule.Host = func(knob float64) func(sim.History) sim.Player {
		players := play(knob)
		return func(h sim.History) sim.Player {
			player := players(h)
			return func(v sim.Visit) sim.Plan {
				plan := player(v)
				if x := -math.Log1p(-min(plan.Odds, 0.999)); x > 0 && v.State == evaluators.Changed && !v.First {
					byOdds[h.Host] += x / -math.Expm1(-x)
				}
				return plan
			}
		}
	}
	for i, t := range sim.Play(rule, 0, all) {
		host := all[i].Host
		sums[host], sources[host] = sums[host].Add(t), all[i].Source
		hours[host] += all[i].Watched.Hours()
	}
	for _, host := range slices.Sorted(maps.Keys(sums)) {
		t := sums[host]
		if t.Versions < 100 {
			continue
		}
		day := evaluators.Day{Requests: t.Requests, Seen: t.Captured, Versions: t.Expected, Odds: t.Odds}
		h := judgedHost{source: sources[host], share: t.Share(), used: day.Captured().Share()}
		day.Versions = byOdds[host]
		h.byOdds = day.Captured().Share()
		seen, o := float64(t.Captured), t.Odds
		h.model = math.Min(1, seen/t.Expected)
		h.shareOdds = math.Log((seen + 0.5) / (float64(t.Versions-t.Captured) + 0.5))
		ratio := func(a, b float64) float64 { return math.Log((a + 1) / (b + 1)) }
		h.found = []float64{
			1, ratio(seen, math.Max(t.Expected-seen, 0)), ratio(float64(o.Found), o.Expected),
			ratio(float64(o.Again), float64(o.Found)), ratio(float64(o.Found), float64(o.Visits)),
			math.Log(float64(o.Visits) + 1), float64(t.Shortest) / float64(t.Requests), ratio(float64(o.Visits), hours[host]),
		}
		judged = append(judged, h)
	}
	return judged
}

// fit returns the weights of the inputs that are the best by least squares.
func fit(inputs [][]float64, outputs []float64) []float64 {
	n := len(inputs[0])
	rows := make([][]float64, n) // the normal equations, each with its right side
	for i := range rows {
		rows[i] = make([]float64, n+1)
		rows[i][i] = 1e-6 // inputs may be the same on all hosts
		for k, in := range inputs {
			for j := range n {
				rows[i][j] += in[i] * in[j]
			}
			rows[i][n] += in[i] * outputs[k]
		}
	}
	for i := range n {
		largest := i
		for j := i; j < n; j++ {
			if math.Abs(rows[j][i]) > math.Abs(rows[largest][i]) {
				largest = j
			}
		}
		rows[i], rows[largest] = rows[largest], rows[i]
		for j := range n {
			if f := rows[j][i] / rows[i][i]; j != i {
				for k := i; k <= n; k++ {
					rows[j][k] -= f * rows[i][k]
				}
			}
		}
	}
	weights := make([]float64, n)
	for i := range n {
		weights[i] = rows[i][n] / rows[i][i]
	}
	return weights
}

// fitted returns the share of a host by a fit to hosts, of which there are more than inputs.
func fitted(h judgedHost, to []judgedHost) float64 {
	var inputs [][]float64
	var outputs []float64
	for _, o := range to {
		inputs, outputs = append(inputs, o.found), append(outputs, o.shareOdds)
	}
	sum := 0.0
	for i, w := range fit(inputs, outputs) {
		sum += w * h.found[i]
	}
	return 1 / (1 + math.Exp(-sum))
}

// alike returns the median share of the n hosts whose visits found most like the visits of h.
func alike(h judgedHost, among []judgedHost, n int) float64 {
	spread := make([]float64, len(h.found))
	for i := range spread {
		for _, o := range among {
			spread[i] += math.Abs(o.found[i]-h.found[i]) / float64(len(among))
		}
	}
	distance := func(o judgedHost) (d float64) {
		for i, s := range spread {
			if s > 0 {
				d += math.Pow((o.found[i]-h.found[i])/s, 2)
			}
		}
		return d
	}
	closer := func(a, b judgedHost) int { return cmp.Compare(distance(a), distance(b)) }
	nearest := slices.SortedFunc(slices.Values(among), closer)
	var shares []float64
	for _, o := range nearest[:min(n, len(nearest))] {
		shares = append(shares, o.share)
	}
	slices.Sort(shares)
	return (shares[(len(shares)-1)/2] + shares[len(shares)/2]) / 2
}

// bestShare returns on how many hosts the best share for all is within 10 points.
func bestShare(within func(func(judgedHost) float64) int) (best int) {
	for percent := range 101 {
		best = max(best, within(func(judgedHost) float64 { return float64(percent) / 100 }))
	}
	return best
}

// TestNoOtherEstimateOfAHostIsBetter compares estimates of the share that was captured of a host: on how many hosts are
// they within 10 points? Some are shown for comparison only, as they know the captured shares of the same source.
//
//	go test ./lab/sim -run TestNoOtherEstimateOfAHostIsBetter -v -histories FILE
func TestNoOtherEstimateOfAHostIsBetter(t *testing.T) {
	if *recorded == "" {
		t.Skip("needs recorded histories: -histories FILE")
	}
	all, err := sim.ReadFile(*recorded)
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []float64{.5, .8, .9} {
		hosts := judgedHosts(all, target)
		within := func(estimate func(h judgedHost) float64) (n int) {
			for _, h := range hosts {
				if math.Abs(estimate(h)-h.share) <= 0.1 {
					n++
				}
			}
			return n
		}
		without := func(leave func(o judgedHost) bool) []judgedHost { return slices.DeleteFunc(slices.Clone(hosts), leave) }
		others := func(h judgedHost) []judgedHost {
			return without(func(o judgedHost) bool { return o.source == h.source })
		}
		used := within(func(h judgedHost) float64 { return h.used })
		t.Logf("target %g: the estimate in use is within 10 points on %d of %d hosts", target, used, len(hosts))
		for _, e := range []struct {
			name   string
			fair   bool // it does not know what is judged
			within int
		}{
			{"without its correction", true, within(func(h judgedHost) float64 { return h.model })},
			{"versions by the probability of a change", true, within(func(h judgedHost) float64 { return h.byOdds })},
			{"a fit to the same hosts", false, within(func(h judgedHost) float64 { return fitted(h, hosts) })},
			{"a fit to hosts of other sources", true, within(func(h judgedHost) float64 { return fitted(h, others(h)) })},
			{"the ten most alike", false, within(func(h judgedHost) float64 {
				return alike(h, without(func(o judgedHost) bool { return &o.found[0] == &h.found[0] }), 10)
			})},
			{"the five most alike of other sources", true, within(func(h judgedHost) float64 { return alike(h, others(h), 5) })},
			{"one share for all, in hindsight", false, bestShare(within)},
		} {
			t.Logf("  %s: %d", e.name, e.within)
			if e.fair && e.within > used+len(hosts)/10 {
				t.Errorf("%s is better: %d hosts, %d with the estimate in use", e.name, e.within, used)
			}
		}
	}
}
