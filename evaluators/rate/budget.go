package rate

import (
	"math"
	"time"
)

// Budget compares the visits that the waits of a host ask for with those that its pace allows. Its zero value is the
// budget of a new host.
//
// Waits are stretched until they ask for 1.5 times the visits that the host can make. So URIs are visited late by
// about half of their interval, there is always a choice of which one comes first, and no slot is idle.
type Budget struct {
	elastic float64 // visits a day that follow from capture targets, before stretching
	leading float64 // the same of important URIs, such as seeds, front pages and feeds
	rigid   float64 // visits a day that follow from other rules
	pace    float64 // fading mean of the seconds that a visit and its rest occupy a slot; 0 = not known
	other   float64 // fading mean of the share of visits that no wait asked for: first visits, robots.txt, failures
}

const (
	meanWeight      = 0.02 // weight of the last visit in the means
	maxDemand       = 1.5  // maximum demand, as a multiple of the visits that the pace allows
	minElasticShare = 0.1  // minimum share of the pace for stretched waits, whatever other rules ask for
	maxLeadingShare = 0.5  // maximum share of the pace for important URIs, if the others need the rest
	minStretch      = 1.02 // a smaller factor counts as 1
	maxStretch      = 1000
)

// Ask adds visits a day that the wait of a URI asks for, or removes them if perDay is negative. elastic visits follow
// from a capture target; they count as before stretching. See [Demand].
func (b *Budget) Ask(perDay float64, elastic bool) {
	if elastic {
		b.elastic = max(b.elastic+perDay, 0)
	} else {
		b.rigid = max(b.rigid+perDay, 0)
	}
}

// AskImportant is [Budget.Ask] for elastic visits of an important URI. They are stretched only if all important URIs
// together ask for more than half of the pace.
func (b *Budget) AskImportant(perDay float64) { b.leading = max(b.leading+perDay, 0) }

// Demand returns how many visits a day a URI with the given wait asks for. The wait counts as before stretching. The
// demand is elastic if changes are expected of the URI: only rules that follow a capture target expect a number of
// them.
func Demand(wait time.Duration, changesPerDay float64) (perDay float64, elastic bool) {
	if wait <= 0 {
		return 0, false
	}
	return 24 / wait.Hours(), changesPerDay > 0
}

// PerDay returns the visits a day that the waits of the host ask for.
func (b *Budget) PerDay() float64 { return b.elastic + b.leading + b.rigid }

// Reset removes all demand, so that it can be counted again.
func (b *Budget) Reset() { b.elastic, b.leading, b.rigid = 0, 0, 0 }

// AskAll adds the demand of another budget.
func (b *Budget) AskAll(o *Budget) {
	b.elastic, b.leading, b.rigid = b.elastic+o.elastic, b.leading+o.leading, b.rigid+o.rigid
}

// Visit records how long a visit and the rest after it took, and whether a wait had asked for the visit.
func (b *Budget) Visit(took time.Duration, asked bool) {
	other := 1.0
	if asked {
		other = 0
	}
	if b.pace == 0 {
		b.pace = took.Seconds() // no wait asks for a first visit, so it does not count in the share
		return
	}
	b.pace += meanWeight * (took.Seconds() - b.pace)
	b.other += meanWeight * (other - b.other)
}

// Stretch returns the factor, 1 or more, by which waits that follow from a capture target are stretched. slots is the
// number of slots of the host. usual is the time of a visit and the rest after it; it is used until there was a
// visit.
func (b *Budget) Stretch(slots int, usual time.Duration) float64 {
	possible := b.possible(slots, usual)
	left := maxDemand*(possible*(1-b.other)-b.rigid) - min(b.leading, b.forImportant(possible))
	return factor(b.elastic, max(left, maxDemand*possible*minElasticShare))
}

// StretchImportant returns the factor for important URIs.
func (b *Budget) StretchImportant(slots int, usual time.Duration) float64 {
	possible := b.possible(slots, usual)
	return factor(b.leading, b.forImportant(possible))
}

// Cycle returns the time between two requests to the host. slots and usual are as for [Budget.Stretch].
func (b *Budget) Cycle(slots int, usual time.Duration) time.Duration {
	return time.Duration(secondsPerDay / b.possible(slots, usual) * float64(time.Second))
}

// possible returns the number of visits a day that the pace allows.
func (b *Budget) possible(slots int, usual time.Duration) float64 {
	pace := b.pace
	if pace == 0 {
		pace = usual.Seconds()
	}
	return float64(max(slots, 1)) * secondsPerDay / pace
}

// forImportant returns how many visits a day important URIs may ask for, of those that are possible.
func (b *Budget) forImportant(possible float64) float64 {
	left := maxDemand*max(possible*(1-b.other)-b.rigid, possible*minElasticShare) - b.elastic
	return max(left, possible*maxLeadingShare*(1-b.other))
}

// factor returns asked ÷ allowed within its bounds, and 1 if there is no limit.
func factor(asked, allowed float64) float64 {
	s := math.Min(asked/allowed, maxStretch)
	if !(s > minStretch) {
		return 1
	}
	return s
}

// Rates counts the URIs of a host by how often they are expected to change. Its zero value is a host without URIs.
type Rates struct {
	bins [bins]struct { // by the logarithm of the changes per day
		uris int
		sum  float64
	}
	uris int
}

// The bins reach from one change in 45 years to one in 5 seconds, with four bins for each doubling.
const (
	bins          = 112
	binsPerOctave = 4
	minRate       = 1.0 / (1 << 14) // changes a day
)

// Add adds a URI that is expected to change perDay times a day. If perDay is not above zero, the URI counts as changing
// once in each wait.
func (r *Rates) Add(perDay float64, wait time.Duration) {
	if !(perDay > 0) { // or not a number
		perDay = 0
	}
	if perDay == 0 && wait > 0 {
		perDay = 24 / wait.Hours()
	}
	i := 0
	if perDay = math.Max(perDay, minRate); perDay > minRate {
		i = int(math.Min(math.Round(binsPerOctave*math.Log2(perDay/minRate)), bins-1))
	}
	r.bins[i].uris++
	r.bins[i].sum += perDay
	r.uris++
}

// URIs returns the number of URIs that were added.
func (r *Rates) URIs() int { return r.uris }

// Changes returns the number of versions a day that are expected to appear.
func (r *Rates) Changes() float64 {
	sum := 0.0
	for _, bin := range r.bins {
		sum += bin.sum
	}
	return sum
}
