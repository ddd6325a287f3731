package capacity

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/arcrawl/arcrawl/evaluators/rate"
)

// Limits holds what bounds the visits of a host.
type Limits struct {
	Rest    time.Duration // from the beginning of one request to the beginning of the next; 0 = no limit
	Valence int           // number of visits at once; 0 counts as 1
	Other   float64       // requests a day that follow from no target: of other rules, first visits, robots.txt
}

// Part is a number of URIs of a host that have the same target and bounds.
type Part struct {
	Name     string // for people; needed if a host has several targets
	Rates    *Rates
	Target   float64       // the share of versions to be captured, between 0 and 1
	Min, Max time.Duration // bounds of a wait
	Slow     bool          // URIs that change rarely are visited more often, see [rate.Slow]
}

// schedule says when visits are made: when the number of expected changes is stretch times what the target asks for,
// but not below minExpected.
type schedule struct{ stretch, minExpected float64 }

// visits returns how many visits a day a schedule makes, how many versions appear, and how many are captured.
func (p Part) visits(s schedule) (perDay, changes, captured float64) {
	x := s.stretch * rate.ExpectedFor(p.Target)
	shortest := max(p.Min, time.Second)
	longest := max(p.Max, shortest)
	for _, bin := range p.Rates.bins {
		if bin.uris == 0 {
			continue
		}
		n, each := float64(bin.uris), bin.sum/float64(bin.uris)
		wanted := x
		if p.Slow {
			wanted *= rate.Slow(each)
		}
		wanted = max(wanted, s.minExpected) // the most valuable comes first, however slow it is
		days := math.Min(math.Max(wanted/each, shortest.Hours()/24), longest.Hours()/24)
		perDay += n / days
		captured += bin.sum * rate.Captured(each*days)
		changes += bin.sum
	}
	return perDay, changes, captured
}

// parts holds all URIs of a host.
type parts []Part

// visits returns how many visits a day a schedule makes.
func (ps parts) visits(s schedule) (perDay float64) {
	for _, p := range ps {
		more, _, _ := p.visits(s)
		perDay += more
	}
	return perDay
}

// captured returns the shares that a schedule captures: each for the URIs of one target, highest target first, and
// share for all versions. target is the share that all targets together ask for. made is the share of the scheduled
// visits that can be made.
func (ps parts) captured(s schedule, made float64) (each []TargetShare, target, share float64) {
	type sums struct{ changes, captured float64 }
	byTarget := map[string]*sums{}
	var all sums
	for _, p := range ps {
		key := percent(p.Target)
		i := slices.IndexFunc(each, func(t TargetShare) bool { return percent(t.Target) == key })
		if i < 0 {
			i = len(each)
			each = append(each, TargetShare{Target: p.Target})
			byTarget[key] = new(sums)
		}
		if p.Name != "" && !slices.Contains(each[i].Parts, p.Name) {
			each[i].Parts = append(each[i].Parts, p.Name)
		}
		_, changes, captured := p.visits(s)
		byTarget[key].changes += changes
		byTarget[key].captured += captured * made
		all.changes += changes
		all.captured += captured * made
		target += p.Target * changes
	}
	for i, t := range each {
		each[i].Share = 1
		if sum := byTarget[percent(t.Target)]; sum.changes > 0 {
			each[i].Share = sum.captured / sum.changes
		}
	}
	slices.SortStableFunc(each, func(a, b TargetShare) int { return cmp.Compare(b.Target, a.Target) })
	if all.changes == 0 {
		return each, ps[0].Target, 1
	}
	return each, target / all.changes, all.captured / all.changes
}

// TargetShare says what can be captured of the URIs with one target.
type TargetShare struct {
	Target float64  // the share to be captured
	Share  float64  // the share that can be captured
	Parts  []string // names of the parts that have this target
}

// Assessment says which capture targets of a host can be met.
type Assessment struct {
	Target float64 // the share to be captured of all versions; between the targets if the host has several
	Share  float64 // the share that can be captured; the target or more if politeness allows it

	OverBudget bool          // politeness does not allow the visits that the targets need
	MinTooLong bool          // the shortest wait is too long for a target
	Each       []TargetShare // highest target first

	Wanted   float64 // visits a day that the targets need
	Possible float64 // visits a day that politeness allows, without those that follow from no target

	Rest, NeededRest time.Duration // between requests: at present, and for the targets; 0 = no rest is short enough
	URIs             int           // number of URIs that have a target
	Restless         int           // number of URIs that differ at each fetch, which are not counted
	Excess           int           // number of URIs to remove if nothing else changes, in proportion of each target
}

// Assess returns which targets the limits allow. of must have at least one part.
//
// If the targets cannot be met, all waits are stretched by one factor, until 1.5 times the possible visits are asked
// for, as a [Budget] does. The most valuable of the late URIs is visited first. So every URI is visited only when at
// least the same minimum number of changes is expected.
func Assess(of []Part, limits Limits) Assessment {
	all, unstretched := parts(of), schedule{stretch: 1}
	a := Assessment{Rest: limits.Rest, Wanted: all.visits(unstretched), Possible: math.Inf(1), NeededRest: limits.Rest}
	for _, part := range of {
		a.URIs += part.Rates.uris
	}
	a.Each, a.Target, a.Share = all.captured(unstretched, 1)
	a.MinTooLong = slices.ContainsFunc(a.Each, func(t TargetShare) bool { return t.Share < t.Target-0.01 })
	slots := float64(max(limits.Valence, 1))
	if limits.Rest > 0 {
		allowed := slots * 24 / limits.Rest.Hours()
		a.Possible = math.Max(allowed-limits.Other, allowed*minElasticShare)
	}
	if a.Wanted <= a.Possible {
		return a
	}
	a.OverBudget = true
	a.NeededRest = time.Duration(slots * 24 * float64(time.Hour) / (a.Wanted + limits.Other))
	a.Excess = int(math.Ceil(float64(a.URIs) * (1 - a.Possible/a.Wanted)))
	s := schedule{stretch: lowest(1, func(x float64) bool {
		return all.visits(schedule{stretch: x}) <= maxDemand*a.Possible
	})}
	s.minExpected = lowest(minLate, func(x float64) bool { return all.visits(schedule{s.stretch, x}) <= a.Possible })
	made, visits := 1.0, all.visits(s)
	if visits > a.Possible { // even with the longest waits
		made = a.Possible / visits
	}
	a.Each, _, a.Share = all.captured(s, made)
	return a
}

// Bounds of the search of lowest.
const minLate, maxLate = 1e-6, 1e9

// lowest returns the lowest number from from on for which enough returns true, or maxLate if there is none. It
// searches the logarithm by bisection.
func lowest(from float64, enough func(float64) bool) float64 {
	if enough(from) {
		return from
	}
	low, high := math.Log(from), math.Log(maxLate)
	for range 60 {
		if mid := (low + high) / 2; enough(math.Exp(mid)) {
			high = mid
		} else {
			low = mid
		}
	}
	return math.Exp(high)
}

func percent(share float64) string { return strconv.Itoa(int(math.Round(100*share))) + " %" }
