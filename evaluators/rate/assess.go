package rate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/internal/human"
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
	Leading  bool          // important URIs, whose waits are stretched last, see [Budget.AskImportant]
}

// schedule says when visits are made: when the number of expected changes is stretch times what the target asks for,
// but not below minExpected. made is the share of these visits that can be made.
type schedule struct{ stretch, minExpected, made float64 }

// plan holds the schedules of important URIs and of all others.
type plan struct{ leading, others schedule }

// unstretched is the plan that the targets ask for.
var unstretched = plan{schedule{stretch: 1, made: 1}, schedule{stretch: 1, made: 1}}

// of returns the schedule of a part.
func (s plan) of(p Part) schedule {
	if p.Leading {
		return s.leading
	}
	return s.others
}

// visits returns how many visits a day a schedule makes, how many versions appear, and how many are captured.
func (p Part) visits(s schedule) (perDay, changes, captured float64) {
	x := s.stretch * ExpectedFor(p.Target)
	shortest := max(p.Min, time.Second)
	longest := max(p.Max, shortest)
	for _, bin := range p.Rates.bins {
		if bin.uris == 0 {
			continue
		}
		n, each := float64(bin.uris), bin.sum/float64(bin.uris)
		wanted := x
		if p.Slow {
			wanted *= Slow(each)
		}
		wanted = max(wanted, s.minExpected) // the most valuable comes first, however slow it is
		days := math.Min(math.Max(wanted/each, shortest.Hours()/24), longest.Hours()/24)
		perDay += n / days
		captured += bin.sum * Captured(each*days)
		changes += bin.sum
	}
	return perDay, changes, captured
}

// parts holds all URIs of a host.
type parts []Part

// visits returns how many visits a day a plan makes.
func (ps parts) visits(s plan) (perDay float64) {
	for _, p := range ps {
		more, _, _ := p.visits(s.of(p))
		perDay += more
	}
	return perDay
}

// split returns the important URIs, and all others.
func (ps parts) split() (leading, others parts) {
	for _, p := range ps {
		if p.Leading {
			leading = append(leading, p)
		} else {
			others = append(others, p)
		}
	}
	return leading, others
}

// uris returns the number of URIs.
func (ps parts) uris() (n int) {
	for _, p := range ps {
		n += p.Rates.uris
	}
	return n
}

// captured returns the shares that a plan captures: each for the URIs of one target, highest target first, and
// share for all versions. target is the share that all targets together ask for.
func (ps parts) captured(s plan) (each []TargetShare, target, share float64) {
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
		_, changes, captured := p.visits(s.of(p))
		captured *= s.of(p).made
		byTarget[key].changes += changes
		byTarget[key].captured += captured
		all.changes += changes
		all.captured += captured
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
	Leading    float64       // the share that can be captured of important URIs, if that is more than of others; else 0

	Wanted   float64 // visits a day that the targets need
	Possible float64 // visits a day that politeness allows, without those that follow from no target

	Rest, NeededRest time.Duration // between requests: at present, and for the targets; 0 = no rest is short enough
	URIs             int           // number of URIs that have a target
	Restless         int           // number of URIs that differ at each fetch, which are not counted
	// Excess is the number of URIs to remove if nothing else changes: of those that are not important, if that is enough,
	// and in proportion of each target.
	Excess int
}

// Assess returns which targets the limits allow. of must have at least one part.
//
// If the targets cannot be met, waits are stretched until 1.5 times the possible visits are asked for, as a [Budget]
// does: by one factor, and important URIs last. The most valuable of the late URIs is visited first. So every URI is
// visited only when at least the same minimum number of changes is expected. Important URIs are not late while the
// waits of the others are stretched more.
func Assess(of []Part, limits Limits) Assessment {
	all := parts(of)
	a := Assessment{Rest: limits.Rest, Wanted: all.visits(unstretched), Possible: math.Inf(1), NeededRest: limits.Rest}
	a.URIs = all.uris()
	a.Each, a.Target, a.Share = all.captured(unstretched)
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
	leading, others := all.split()
	a.Excess = excess(all, a.Wanted, a.Possible)
	if most := others.visits(unstretched); most > a.Wanted-a.Possible {
		a.Excess = excess(others, most, most-(a.Wanted-a.Possible))
	}
	s, first := all.planned(a.Possible)
	a.Each, _, a.Share = all.captured(s)
	if first && len(leading) > 0 {
		_, _, a.Leading = leading.captured(s)
	}
	return a
}

// excess returns how many of some URIs to remove in proportion, so that they ask for possible instead of wanted visits
// a day.
func excess(of parts, wanted, possible float64) int {
	return int(math.Ceil(float64(of.uris()) * (1 - possible/wanted)))
}

// planned returns the plan of a host that cannot make all visits that its targets ask for. first reports whether
// important URIs go before the others.
func (ps parts) planned(possible float64) (s plan, first bool) {
	leading, others := ps.split()
	asked, rest := leading.visits(unstretched), others.visits(unstretched)
	forLeading := max(maxDemand*possible-rest, maxLeadingShare*possible)
	forOthers := max(maxDemand*possible-min(asked, forLeading), maxDemand*minElasticShare*possible)
	s = plan{leading.stretched(forLeading), others.stretched(forOthers)}
	if s.leading.stretch < s.others.stretch {
		return s.late(others, possible-leading.visits(s)), true
	}
	return s.late(ps, possible), false
}

// stretched returns the schedule whose visits are allowed.
func (ps parts) stretched(allowed float64) schedule {
	return schedule{made: 1, stretch: lowest(1, func(x float64) bool {
		one := schedule{stretch: x}
		return ps.visits(plan{one, one}) <= allowed
	})}
}

// late returns the plan in which some URIs, either all or all that are not important, are visited late, so that they
// make the possible number of visits.
func (s plan) late(some parts, possible float64) plan {
	all := slices.ContainsFunc(some, func(p Part) bool { return p.Leading })
	possible = max(possible, 0)
	after := func(x float64) plan {
		later := s
		later.others.minExpected = x
		if all {
			later.leading.minExpected = x
		}
		return later
	}
	s = after(lowest(minLate, func(x float64) bool { return some.visits(after(x)) <= possible }))
	if visits := some.visits(s); visits > possible { // even with the longest waits
		s.others.made = possible / visits
		if all {
			s.leading.made = s.others.made
		}
	}
	return s
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

// String returns the assessment as a sentence. Examples are "a capture target of 90 % needs a delay of 2.1s instead
// of 9.4s, or 1400 URIs fewer; at present 61 %" and "capture targets of 90 % (text/html) and 50 % (application/json)
// need a delay of …; at present 61 % and 22 % (90 % of seeds, front pages, sections and feeds)".
func (a Assessment) String() string {
	switch text := a.counted(); a.Restless {
	case 0:
		return text
	case 1:
		return text + "; 1 restless page is not counted"
	default:
		return text + "; " + strconv.Itoa(a.Restless) + " restless pages are not counted"
	}
}

// counted returns the sentence about the URIs that are counted.
func (a Assessment) counted() string {
	target, needs, present := a.targets()
	switch {
	case a.OverBudget && a.NeededRest < time.Millisecond:
		return fmt.Sprintf("%s %s out of reach, or %s %d of %d URIs fewer; at present %s",
			target, is(needs), needs, a.Excess, a.URIs, present)
	case a.OverBudget:
		waits := ""
		if a.MinTooLong {
			waits = ", and waits shorter than wait.min"
		}
		return fmt.Sprintf("%s %s a delay of %s instead of %s, or %d URIs fewer%s; at present %s",
			target, needs, human.About(a.NeededRest), human.About(a.Rest), a.Excess, waits, present)
	case a.MinTooLong:
		return fmt.Sprintf("%s %s waits shorter than wait.min; at present %s", target, needs, present)
	}
	return fmt.Sprintf("%s can be kept, with %s visits a day of %s that politeness allows", target, count(a.Wanted), count(a.Possible))
}

func is(needs string) string {
	if needs == "need" {
		return "are"
	}
	return "is"
}

// Maximum numbers of targets and names in a sentence.
const (
	maxTargets = 4
	maxParts   = 3
)

// targets returns the subject of the sentence, its verb, and what is captured at present.
func (a Assessment) targets() (subject, needs, present string) {
	leading := ""
	if percent(a.Leading) != percent(a.Share) && a.Leading > 0 {
		leading = " (" + percent(a.Leading) + " of seeds, front pages, sections and feeds)"
	}
	if len(a.Each) < 2 {
		return "a capture target of " + percent(a.Target), "needs", percent(a.Share) + leading
	}
	var wanted, shares []string
	for _, t := range a.Each[:min(len(a.Each), maxTargets)] {
		parts := ""
		if len(t.Parts) > 0 {
			parts = " (" + strings.Join(t.Parts[:min(len(t.Parts), maxParts)], ", ")
			if len(t.Parts) > maxParts {
				parts += " and others"
			}
			parts += ")"
		}
		wanted, shares = append(wanted, percent(t.Target)+parts), append(shares, percent(t.Share))
	}
	if len(a.Each) > maxTargets {
		wanted, shares = append(wanted, "others"), append(shares, "less")
	}
	return "capture targets of " + listed(wanted), "need", listed(shares) + leading
}

// listed joins two words or more.
func listed(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

func count(f float64) string {
	if math.IsInf(f, 1) {
		return "any number"
	}
	return strconv.FormatFloat(math.Round(f), 'f', 0, 64)
}
