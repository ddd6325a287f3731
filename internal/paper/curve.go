package main

import (
	"cmp"
	"math"
	"slices"

	"github.com/arcrawl/arcrawl/lab/sim"
)

// The fields of counts.
const (
	requests     = iota
	toNoise      // requests for noisy pages
	captured     // versions of pages that are not noisy
	versions     // the same, all of them
	shares       // the shares of the pages, summed
	pages        // pages with a version
	slowCaptured // versions of pages that change less than weekly
	slowVersions
	fields
)

// counts holds what a policy did to some pages.
type counts [fields]float64

// measure is a share in two fields of counts: the part and the whole.
type measure struct{ part, of int }

var (
	allVersions = measure{captured, versions}
	meanPage    = measure{shares, pages}
	slowPages   = measure{slowCaptured, slowVersions}
	onNoise     = measure{toNoise, requests}
)

// countsOf returns what a policy did to a page.
func countsOf(h sim.History, t sim.Tally) (c counts) {
	c[requests] = float64(t.Requests)
	if h.Noise {
		c[toNoise] = c[requests]
		return c
	}
	c[captured], c[versions] = float64(t.Captured), float64(t.Versions)
	if t.Versions > 0 {
		c[shares], c[pages] = t.Share(), 1
	}
	if h.Slow() {
		c[slowCaptured], c[slowVersions] = c[captured], c[versions]
	}
	return c
}

// in returns the share; it is not a number if the whole is zero.
func (m measure) in(c counts) float64 { return c[m.part] / c[m.of] }

// crawl is a list of histories, and the unit that each of them belongs to.
type crawl struct {
	all   []sim.History
	unit  []int
	units int
	base  []sim.Tally // of Heritrix's rule with its defaults, see [sim.Base]
}

// crawlBy returns the histories with a unit for each name by which they are grouped.
func crawlBy(all []sim.History, nameOf func(sim.History) string) crawl {
	c := crawl{all: all, base: sim.Play(sim.Classic(), 0, sim.Cold(all))}
	number := map[string]int{}
	for _, h := range all {
		name := nameOf(h)
		if _, ok := number[name]; !ok {
			number[name] = len(number)
		}
		c.unit = append(c.unit, number[name])
	}
	c.units = len(number)
	return c
}

func byHost(h sim.History) string { return h.Host }

// sum adds up the tallies of each unit.
func (c crawl) sum(tallies []sim.Tally) []counts {
	sums := make([]counts, c.units)
	for i, t := range tallies {
		sum := &sums[c.unit[i]]
		for k, n := range countsOf(c.all[i], t) {
			sum[k] += n
		}
	}
	return sums
}

// unitOf returns the requests of the classic rule with its defaults for each unit.
func (c crawl) unitOf() []float64 {
	base := make([]float64, c.units)
	for i, n := range c.sum(c.base) {
		base[i] = n[requests]
	}
	return base
}

// curve holds what a policy captured of each unit, at several values of its knob or for several settings.
type curve struct {
	base   []float64 // requests of Heritrix's rule with its defaults
	points [][]counts
}

// The curves reach from fewest to most requests, as multiples of what Heritrix's rule makes with its defaults. That is
// more than the budgets need, because the draws of a bootstrap have other requests for the same knob. From one point to
// the next the requests grow by a factor: fine, or step where a play takes long.
const (
	fewest    = 0.25
	most      = 7.0
	step      = 1.56
	fine      = 1.2
	maxPoints = 20 // in each direction
)

// trace plays a policy at several values of its knob, from the given one in both directions.
func (c crawl) trace(p sim.Policy, knob, by float64) *curve {
	base := float64(sim.Sum(c.base).Requests)
	traced := &curve{base: c.unitOf()}
	try := func(knob float64) (times float64) {
		return float64(sim.Sum(traced.play(c, p, knob)).Requests) / base
	}
	first := try(knob)
	walk := func(by, until float64) {
		at, times, slope := knob, first, -1.0
		for range maxPoints {
			want := times * by
			if by > 1 && times > until*0.97 || by < 1 && times < until*1.03 {
				return
			}
			if want > until == (by > 1) {
				want = until
			}
			next := at * math.Exp(min(max(math.Log(want/times)/slope, -1), 1))
			if next < p.Low || next > p.High {
				return
			}
			got := try(next)
			slope = min(max(math.Log(got/times)/math.Log(next/at), -3), -0.3)
			at, times = next, got
		}
	}
	walk(by, most)
	walk(1/by, fewest)
	return traced
}

// play adds a point: what a policy does at one value of its knob.
func (c *curve) play(through crawl, p sim.Policy, knob float64) []sim.Tally {
	tallies := sim.Play(p, knob, through.all)
	c.points = append(c.points, through.sum(tallies))
	return tallies
}

// regrouped returns a curve with other units: unit of[i] instead of unit i.
func (c *curve) regrouped(of []int, units int) *curve {
	other := &curve{base: make([]float64, units)}
	for i, n := range c.base {
		other.base[of[i]] += n
	}
	for _, point := range c.points {
		sums := make([]counts, units)
		for i := range point {
			for k, n := range point[i] {
				sums[of[i]][k] += n
			}
		}
		other.points = append(other.points, sums)
	}
	return other
}

// sum returns the points of a curve for the units of a draw, and its base.
func (d *draw) sum(c *curve) ([]counts, float64) {
	if points, ok := d.sums[c]; ok {
		return points, d.bases[c]
	}
	points, base := make([]counts, len(c.points)), 0.0
	for unit, weight := range d.weights {
		if weight == 0 {
			continue
		}
		base += weight * c.base[unit]
		for i := range points {
			for k, n := range c.points[i][unit] {
				points[i][k] += weight * n
			}
		}
	}
	d.sums[c], d.bases[c] = points, base
	return points, base
}

// sorted returns the points for a draw from few requests to many, and the base.
func (d *draw) sorted(c *curve) ([]counts, float64) {
	points, base := d.sum(c)
	points = slices.Clone(points)
	slices.SortFunc(points, func(a, b counts) int { return cmp.Compare(a[requests], b[requests]) })
	return points, base
}

// between returns a share at a logarithm of requests from point i to the next one: on the parabola through these two
// and the nearest third one, but not beyond the shares of the two.
func between(points []counts, i int, x float64, m measure) float64 {
	at := func(i int) float64 { return math.Log(points[i][requests]) }
	three := []int{i, i + 1}
	switch {
	case i > 0 && (i+2 >= len(points) || x-at(i-1) < at(i+2)-x):
		three = append(three, i-1)
	case i+2 < len(points):
		three = append(three, i+2)
	}
	sum := 0.0
	for _, k := range three {
		part := m.in(points[k])
		for _, other := range three {
			if other != k {
				part *= (x - at(other)) / (at(k) - at(other))
			}
		}
		sum += part
	}
	a, b := m.in(points[i]), m.in(points[i+1])
	return min(max(sum, min(a, b)), max(a, b))
}

// at returns a share at a multiple of the requests of Heritrix's rule.
func (d *draw) at(c *curve, m measure, times float64) float64 {
	points, base := d.sorted(c)
	x := math.Log(times * base)
	for i := range len(points) - 1 {
		low, high := math.Log(points[i][requests]), math.Log(points[i+1][requests])
		if low <= x && x <= high && low < high {
			return between(points, i, x, m)
		}
	}
	return math.NaN()
}

// needed returns with how many requests a policy captures a share of all versions, as a multiple of the requests of
// Heritrix's rule with its defaults.
func (d *draw) needed(c *curve, share float64) float64 {
	points, base := d.sorted(c)
	for i := range len(points) - 1 {
		if !(allVersions.in(points[i]) <= share && share <= allVersions.in(points[i+1])) {
			continue
		}
		low, high := math.Log(points[i][requests]), math.Log(points[i+1][requests])
		for range 30 {
			if x := (low + high) / 2; between(points, i, x, allVersions) < share {
				low = x
			} else {
				high = x
			}
		}
		return math.Exp(high) / base
	}
	return math.NaN()
}
