package evaluators

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/evaluators/rate"
)

// Load is how often the URIs of a host are expected to change: how many there are at about each rate, and their mean. Its
// zero value is a host without URIs.
type Load struct {
	rates [loadRates]struct { // by the logarithm of the changes per day
		uris int
		sum  float64
	}
	uris int
}

// The rates run from one change in 45 years to one in 5 seconds, four to a doubling.
const (
	loadRates   = 112
	loadOctave  = 4
	lowestOfAll = 1.0 / (1 << 14)
)

// Add takes in a URI that is expected to change so many times a day. Where that is not known it is once in each wait.
func (l *Load) Add(perDay float64, wait time.Duration) {
	if !(perDay > 0) { // or no number
		perDay = 0
	}
	if perDay == 0 && wait > 0 {
		perDay = 24 / wait.Hours()
	}
	i := 0
	if perDay = math.Max(perDay, lowestOfAll); perDay > lowestOfAll {
		i = int(math.Min(math.Round(loadOctave*math.Log2(perDay/lowestOfAll)), loadRates-1))
	}
	l.rates[i].uris++
	l.rates[i].sum += perDay
	l.uris++
}

// URIs is how many were added.
func (l *Load) URIs() int { return l.uris }

// Changes is how many versions a day come into being, as expected.
func (l *Load) Changes() float64 {
	sum := 0.0
	for _, r := range l.rates {
		sum += r.sum
	}
	return sum
}

// Terms are what a host's visits are subject to. Target, Least and Most are those of all its URIs; see [Part].
type Terms struct {
	Target      float64       // the share of versions to be captured, between 0 and 1
	Least, Most time.Duration // bounds of a wait
	Rest        time.Duration // between two requests, from the beginning of one to that of the next
	Valence     int           // how many visits go on at once; 0 is 1
	Other       float64       // requests a day that follow from no target: of other rules, first visits, robots.txt
}

// Part is those URIs of a host that have the same target and bounds.
type Part struct {
	Of          string // what they are, for people; needed where a host has several targets
	Load        *Load
	Target      float64       // the share of versions to be captured, between 0 and 1
	Least, Most time.Duration // bounds of a wait
}

// pace is how visits are made: when so many times the number of changes is expected as the target asks for, but not before it is
// so many.
type pace struct{ stretch, least float64 }

// visits is how many visits a day are made at a pace, how many versions come into being, and how many of them are captured.
func (p Part) visits(at pace) (perDay, changes, captured float64) {
	x := max(at.stretch*rate.ExpectedFor(p.Target), at.least)
	shortest := max(p.Least, time.Second)
	longest := max(p.Most, shortest)
	for _, r := range p.Load.rates {
		if r.uris == 0 {
			continue
		}
		n, each := float64(r.uris), r.sum/float64(r.uris)
		days := math.Min(math.Max(x/each, shortest.Hours()/24), longest.Hours()/24)
		perDay += n / days
		captured += r.sum * rate.Captured(each*days)
		changes += r.sum
	}
	return perDay, changes, captured
}

// parts are all URIs of a host.
type parts []Part

func (ps parts) visits(at pace) (perDay float64) {
	for _, p := range ps {
		more, _, _ := p.visits(at)
		perDay += more
	}
	return perDay
}

// kept is what is captured of each target, the highest first, and of all versions, and what all targets together ask for.
func (ps parts) kept(at pace, made float64) (each []Kept, target, share float64) {
	type sums struct{ changes, captured float64 }
	of := map[string]*sums{}
	var all sums
	for _, p := range ps {
		name := percent(p.Target)
		i := slices.IndexFunc(each, func(k Kept) bool { return percent(k.Target) == name })
		if i < 0 {
			i = len(each)
			each = append(each, Kept{Target: p.Target})
			of[name] = new(sums)
		}
		if p.Of != "" && !slices.Contains(each[i].Of, p.Of) {
			each[i].Of = append(each[i].Of, p.Of)
		}
		_, changes, captured := p.visits(at)
		of[name].changes += changes
		of[name].captured += captured * made
		all.changes += changes
		all.captured += captured * made
		target += p.Target * changes
	}
	for i, k := range each {
		if each[i].Share = 1; of[percent(k.Target)].changes > 0 {
			each[i].Share = of[percent(k.Target)].captured / of[percent(k.Target)].changes
		}
	}
	slices.SortStableFunc(each, func(a, b Kept) int { return cmp.Compare(b.Target, a.Target) })
	if all.changes == 0 {
		return each, ps[0].Target, 1
	}
	return each, target / all.changes, all.captured / all.changes
}

// Kept is what can be kept of one target.
type Kept struct {
	Target float64  // what is wanted
	Share  float64  // of the versions that can be captured
	Of     []string // the parts that have this target
}

// Promise is what can be kept of the capture targets of a host.
type Promise struct {
	Target float64 // what is wanted of all versions; between its targets where a host has several
	Share  float64 // of the versions that can be captured; the target or more where politeness carries it
	Bound  bool    // politeness does not carry the targets
	Short  bool    // the shortest wait stands in the way too, or alone
	Each   []Kept  // the highest target first

	Wanted   float64 // visits a day that the targets need
	Possible float64 // visits a day that politeness allows, less those that follow from no target, as [Price] has it

	Rest, NeededRest time.Duration // between requests: as it is, and as the targets need it; 0 is that none is short enough
	URIs, Fewer      int           // that have a target, and how many there are too many if all others stay as they are, of each target in proportion
}

// Promise says what the terms allow where all URIs have one target; see [Promised].
func (l *Load) Promise(t Terms) Promise {
	return Promised([]Part{{Load: l, Target: t.Target, Least: t.Least, Most: t.Most}}, t)
}

// Promised says what the terms allow, of which those that stand in each part do not count; there is at least one. Where the
// targets cannot be kept waits are stretched by one factor until half as many visits again are asked for as can be made, as [Price]
// has it; from what is late the one of the largest [Value] comes first, so that nothing is visited before a number of changes is
// expected that is the same for all.
func Promised(of []Part, t Terms) Promise {
	all, plain := parts(of), pace{stretch: 1}
	p := Promise{Rest: t.Rest, Wanted: all.visits(plain), Possible: math.Inf(1), NeededRest: t.Rest}
	for _, part := range of {
		p.URIs += part.Load.uris
	}
	p.Each, p.Target, p.Share = all.kept(plain, 1)
	p.Short = slices.ContainsFunc(p.Each, func(k Kept) bool { return k.Share < k.Target-0.01 })
	if t.Rest > 0 {
		all := float64(max(t.Valence, 1)) * 24 / t.Rest.Hours()
		p.Possible = math.Max(all-t.Other, all*leastForWait)
	}
	if p.Wanted <= p.Possible {
		return p
	}
	p.Bound = true
	p.NeededRest = time.Duration(float64(max(t.Valence, 1)) * 24 * float64(time.Hour) / (p.Wanted + t.Other))
	p.Fewer = int(math.Ceil(float64(p.URIs) * (1 - p.Possible/p.Wanted)))
	stretch := least(1, func(x float64) bool { return all.visits(pace{stretch: x}) <= priceAsks*p.Possible })
	late := least(lowestLate, func(x float64) bool { return all.visits(pace{stretch, x}) <= p.Possible })
	made, visits := 1.0, all.visits(pace{stretch, late})
	if visits > p.Possible { // even the longest waits are too many
		made = p.Possible / visits
	}
	p.Each, _, p.Share = all.kept(pace{stretch, late}, made)
	return p
}

// The bounds between which [least] looks.
const lowestLate, mostLate = 1e-6, 1e9

// least is the lowest number from a bound on that is enough, to many digits, or one beyond all bounds if none is.
func least(from float64, enough func(float64) bool) float64 {
	if enough(from) {
		return from
	}
	low, high := math.Log(from), math.Log(mostLate)
	for range 60 {
		if mid := (low + high) / 2; enough(math.Exp(mid)) {
			high = mid
		} else {
			low = mid
		}
	}
	return math.Exp(high)
}

// String says it in a sentence, such as "a capture target of 90 % needs a delay of 2.1s instead of 9.4s, or 1400 URIs
// fewer; at present 61 %", or "capture targets of 90 % (text/html) and 50 % (application/json) need a delay of …; at present 61 %
// and 22 %".
func (p Promise) String() string {
	target, needs, present := p.targets()
	switch {
	case p.Bound && p.NeededRest < time.Millisecond:
		return fmt.Sprintf("%s %s out of reach, or %s %d of %d URIs fewer; at present %s", target, is(needs), needs, p.Fewer, p.URIs, present)
	case p.Bound:
		short := ""
		if p.Short {
			short = ", and waits shorter than wait.min"
		}
		return fmt.Sprintf("%s %s a delay of %s instead of %s, or %d URIs fewer%s; at present %s", target, needs, brief(p.NeededRest), brief(p.Rest), p.Fewer, short, present)
	case p.Short:
		return fmt.Sprintf("%s %s waits shorter than wait.min; at present %s", target, needs, present)
	}
	return fmt.Sprintf("%s can be kept, with %s visits a day of %s that politeness allows", target, count(p.Wanted), count(p.Possible))
}

func is(needs string) string {
	if needs == "need" {
		return "are"
	}
	return "is"
}

// The bounds of what a sentence names.
const (
	namedTargets = 4
	namedParts   = 3
)

// targets are the subject of the sentence, its verb, and what is captured at present.
func (p Promise) targets() (subject, needs, present string) {
	if len(p.Each) < 2 {
		return "a capture target of " + percent(p.Target), "needs", percent(p.Share)
	}
	var wanted, shares []string
	for _, k := range p.Each[:min(len(p.Each), namedTargets)] {
		of := ""
		if len(k.Of) > 0 {
			of = " (" + strings.Join(k.Of[:min(len(k.Of), namedParts)], ", ")
			if len(k.Of) > namedParts {
				of += " and others"
			}
			of += ")"
		}
		wanted, shares = append(wanted, percent(k.Target)+of), append(shares, percent(k.Share))
	}
	if len(p.Each) > namedTargets {
		wanted, shares = append(wanted, "others"), append(shares, "less")
	}
	return "capture targets of " + listed(wanted), "need", listed(shares)
}

// listed joins two words and more.
func listed(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Day is an account of a host's visits in a day, or in any period.
type Day struct {
	Requests int
	Seen     int     // versions captured
	Versions float64 // that are thought to have come into being, see [Wait.Versions]
}

// Plus is both accounts together.
func (d Day) Plus(o Day) Day {
	return Day{Requests: d.Requests + o.Requests, Seen: d.Seen + o.Seen, Versions: d.Versions + o.Versions}
}

// Since is how many versions are thought to have come into being between two visits of a URI of which the later one found a
// change, where no rule estimates it: going by how many of its judged visits after the first found one. With a share p of
// them that is x ÷ (1 − e^−x), x = −ln(1 − p), as if it changed at random and its visits came at even intervals; p is counted
// with half a visit more of each kind, as Cho and Garcia-Molina (2003) have it.
func Since(visits, changes int) float64 {
	visits = max(visits, changes, 1)
	x := -math.Log((float64(visits-max(changes, 0)) + 0.5) / (float64(visits) + 0.5))
	return 1 / rate.Captured(x)
}

// Share is the share of the versions that was seen; 1 if there were none.
func (d Day) Share() float64 {
	if !(d.Versions > float64(d.Seen)) {
		return 1
	}
	return float64(d.Seen) / d.Versions
}

// String is for example "412 versions seen of some 503 (82 %), 2.3 requests each".
func (d Day) String() string {
	if d.Seen == 0 {
		return fmt.Sprintf("no version seen with %d requests", d.Requests)
	}
	return fmt.Sprintf("%d versions seen of some %s (%s), %.1f requests each", d.Seen, count(math.Max(d.Versions, float64(d.Seen))), percent(d.Share()), float64(d.Requests)/float64(d.Seen))
}

func percent(share float64) string { return strconv.Itoa(int(math.Round(100*share))) + " %" }

func count(f float64) string {
	if math.IsInf(f, 1) {
		return "any number"
	}
	return strconv.FormatFloat(math.Round(f), 'f', 0, 64)
}

// brief writes a duration with two digits.
func brief(d time.Duration) string {
	unit := time.Millisecond
	for d/unit >= 100 {
		unit *= 10
	}
	return spell(d.Round(unit))
}
