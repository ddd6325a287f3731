package evaluators

import (
	"math"
	"time"
)

// The rule's constants. They were found on public change histories of news pages, feeds, lists, live data, terms of
// service and articles, by a random search on one half of the resources, checked on the other.
const (
	// ratePrior: what is unknown is thought to change often, so that a first mistake is found out soon.
	priorShape, priorExposure = 0.858, 0.046 // days
	agedShape, agedExposure   = 0.32, 1.52   // units of logarithmic age

	birthScale  = 300.0 // seconds that are added to an age before its logarithm is taken
	weightFloor = 6.0   // no memory falls further behind the best, so that it can come back
	spreads     = 0.32  // of what one stage learns, the share that the others take in

	hourPrior, dayPrior = 2.0, 4.7 // changes that every hour and day is thought to have been right about
	dayPower            = 0.43     // days differ less than they seem to
	mostOfHour          = 4.0      // no hour counts more than so many usual ones
	clockForgets        = 40.0     // days
	partPrior           = 8.0      // the same for parts of the hour
	partLooks           = 6.0      // hours; a change within a longer wait says nothing of the part of the hour
	clockLooks          = 2.0      // days; a change within a longer wait says nothing of the hour

	fewestCrowding, mostCrowding = 0.1, 2.0 // bounds of how crowded changes are thought to be
	crowdingPrior                = 10.0     // changes that are thought to have come at random
	unseenAtMost                 = 2.0      // versions that a visit is thought to have found beyond those it waited for
	crowdingPower                = 0.7      // how much a crowd is visited more; see crowding
)

var (
	ratePrior = belief{priorShape, priorExposure}
	agePrior  = belief{agedShape, agedExposure}
	// horizons are the days in which the memories of the rate forget; zero is never.
	horizons = [5]float64{0.05, 0.5, 4, 32, 0}
	// stagings are the same for the memories that tell the time after a change from quieter ones.
	stagings = [2]float64{6, 60}
)

// learn takes in a judged visit. It gives back how many versions are thought to have come into being since the last one.
func (r *remembered) learn(at time.Time, changed bool) (versions float64) {
	now := unix(at)
	last := now
	if !r.last.IsZero() {
		last = min(unix(r.last), now)
	}
	r.last = at
	passed := now - last
	if passed <= 0 {
		return 0
	}
	w := r.habits()
	exposure := max(w.exposure(last, now), leastBelief)
	ageing := r.ageing(passed)
	rate, aged := r.rate()
	expected := max(rate*exposure+aged*ageing, leastBelief)
	seen := 0.0
	switch {
	case changed && r.counted > 0:
		seen = float64(r.counted)
		versions = seen
	case changed:
		seen = expected / -math.Expm1(-expected)
		versions = 1 + r.crowding()*(seen-1)
	}
	if passed < clockLooks*secondsPerDay {
		r.clock.learn(last, now, expected, seen-float64(len(r.moments)), w)
		r.clock.mark(r.moments, now-last < partLooks*secondsPerHour)
		r.told = r.tell(last, now, expected, seen, w)
		r.profiled, r.clockBytes = false, nil
	}
	r.weigh(passed/secondsPerDay, exposure, ageing, changed)
	if r.age >= 0 {
		r.age += passed
	}
	if changed {
		r.misses = 0
	} else {
		r.misses = min(r.misses+1, stages-1)
	}
	return versions
}

// crowding is how much likelier than usual another change is soon after one: 1 at random, less where changes keep a
// distance, more where they come in crowds. A visit captures one of the versions that came since the last; of those
// beyond the first there are so many times what chance would have. So a share of 1 ÷ (1 + crowding·x/2), about, of the
// versions is captured where x changes are expected between visits, and what one more visit gains is the same for all URIs
// where x² × crowding is: those that keep a distance need fewer.
func (r *remembered) crowding() float64 {
	soon := r.staged[1][0].mean()
	known := max(r.staged[1][0].shape-priorShape, 0)
	c := math.Pow(soon/r.rates[usualRate].mean(), known/(known+crowdingPrior))
	return min(max(c, fewestCrowding), mostCrowding)
}

// weigh lets every memory forget, weighs it by what it had foreseen of the visit, and tells it.
func (r *remembered) weigh(days, exposure, ageing float64, changed bool) {
	for i, horizon := range horizons {
		if horizon > 0 {
			r.rates[i] = r.rates[i].faded(ratePrior, math.Exp(-days/horizon))
		}
		foresaw := 0.0
		r.rates[i], foresaw = r.seen(r.rates[i], exposure, changed)
		r.weight[i] += foresaw
	}
	for i, horizon := range stagings {
		kept := math.Exp(-days / horizon)
		for k := range r.staged[i] {
			r.staged[i][k] = r.staged[i][k].faded(ratePrior, kept)
		}
		for k, g := range r.staged[i] {
			foresaw := 0.0
			switch {
			case k == r.misses:
				g, foresaw = r.seen(g, exposure, changed)
			case changed:
				g = belief{g.shape + spreads/2*float64(max(r.counted, 1)), g.exposure + spreads/2*exposure}.bounded()
			default:
				g = belief{g.shape, g.exposure + spreads/2*exposure}.bounded()
			}
			r.staged[i][k] = g
			r.weight[len(horizons)+i] += foresaw
		}
	}
	if r.age >= 0 {
		foresaw := 0.0
		r.aged, foresaw = r.aged.after(ageing, changed)
		r.weight[agedIndex] += foresaw
	}
	best := math.Inf(-1)
	for i, w := range r.weight {
		if i != agedIndex || r.age >= 0 {
			best = max(best, w)
		}
	}
	for i := range r.weight {
		r.weight[i] = min(0, max(-weightFloor, r.weight[i]-best))
	}
}

// seen is a belief after a visit, and the logarithm of the probability that it had given to what was seen.
func (r *remembered) seen(g belief, exposure float64, changed bool) (belief, float64) {
	switch {
	case changed && r.counted > 0:
		return g.counted(exposure, float64(r.counted))
	case changed && r.quiet > 0:
		return g.exactly(exposure, min(r.quiet, exposure))
	}
	return g.after(exposure, changed)
}

// ageing is the growth of the logarithm of the age within so many seconds; zero if the birth is unknown.
func (r *remembered) ageing(passed float64) float64 {
	if r.age < 0 {
		return 0
	}
	return max(math.Log((r.age+passed+birthScale)/(r.age+birthScale)), leastBelief)
}

// rate is the weighted mean of what the memories expect: changes per day of exposure, and per unit of logarithmic age.
func (r *remembered) rate() (perDay, aged float64) {
	sum := 0.0
	for i, g := range r.rates {
		w := math.Exp(r.weight[i])
		sum += w
		perDay += w * g.mean()
	}
	for i := range r.staged {
		w := math.Exp(r.weight[len(horizons)+i])
		sum += w
		perDay += w * r.staged[i][r.misses].mean()
	}
	if r.age >= 0 {
		w := math.Exp(r.weight[agedIndex])
		sum += w
		aged = w * r.aged.mean() / sum
	}
	perDay /= sum
	return perDay, aged
}

// likely is the rate, in changes per day of exposure, at which it is as probable that nothing changes over an exposure as the
// memories believe together. Where nearly every visit finds a change, some of them believe in any high rate; the mean then is of
// those, and this one of what visits can tell.
func (r *remembered) likely(exposure float64) (perDay float64) {
	exposure = max(exposure, leastBelief)
	sum, quiet := 0.0, 0.0
	add := func(weight float64, g belief) {
		w := math.Exp(weight)
		sum += w
		quiet += w * math.Exp(g.quiet(exposure))
	}
	for i, g := range r.rates {
		add(r.weight[i], g)
	}
	for i := range r.staged {
		add(r.weight[len(horizons)+i], r.staged[i][r.misses])
	}
	perDay = -math.Log(max(quiet/sum, leastLikely)) / exposure
	if r.age >= 0 {
		perDay *= sum / (sum + math.Exp(r.weight[agedIndex]))
	}
	return perDay
}

// forecast says how many changes are expected after a visit.
type forecast struct {
	from, age    float64 // seconds since 1970 and since birth
	perDay, aged float64
	profile      *profile
}

func (r *remembered) forecast(at time.Time) forecast {
	f := forecast{from: unix(at), age: r.age, profile: r.habits()}
	f.perDay, f.aged = r.rate()
	if passed := f.from - unix(r.last); f.age >= 0 && !r.last.IsZero() && passed > 0 {
		f.age += passed // the visit itself was not judged
	}
	return f
}

// until is the seconds until so many changes are expected, at most so many, and how many are expected by then.
func (f forecast) until(wanted, most float64) (wait, expected float64) {
	if f.age >= 0 {
		return f.ageing(wanted, most)
	}
	const week = hours * secondsPerHour
	each := f.perDay * f.profile.week
	weeks := math.Floor(min(wanted*(1-1e-9)/each, most/week))
	wait, expected = weeks*week, weeks*each
	hour, end := hourOf(f.from + wait)
	for wait < most {
		next := min(end-f.from, most)
		more := f.perDay * f.profile.within(f.from+wait, f.from+next, hour, end)
		if expected+more >= wanted { // not in proportion, as some minutes count more than others
			start := f.from + wait - (end - secondsPerHour)
			seconds := (wanted - expected) / (f.perDay * f.profile.hour[hour]) * secondsPerDay
			return wait + max(f.profile.after(f.profile.before(start)+seconds)-start, 0), wanted
		}
		expected += more
		wait = next
		hour, end = nextHour(hour, end)
	}
	return most, expected
}

// ageing is the same where the age is known.
func (f forecast) ageing(wanted, most float64) (wait, expected float64) {
	hour, end := hourOf(f.from)
	for wait < most {
		next := min(end-f.from, most)
		if wait < secondsPerHour { // an age runs fast at first
			next = min(next, wait+max(60, (f.age+wait)/8))
		}
		more := f.perDay * f.profile.within(f.from+wait, f.from+next, hour, end)
		more += f.aged * math.Log((f.age+next+birthScale)/(f.age+wait+birthScale))
		if expected+more >= wanted {
			return wait + (next-wait)*(wanted-expected)/more, wanted
		}
		expected += more
		if wait = next; wait >= end-f.from {
			hour, end = nextHour(hour, end)
		}
	}
	return most, expected
}

// within is how many changes are expected within so many seconds.
func (f forecast) within(wait float64) float64 {
	expected := f.perDay * f.profile.exposure(f.from, f.from+wait)
	if f.age >= 0 {
		expected += f.aged * math.Log((f.age+wait+birthScale)/(f.age+birthScale))
	}
	return expected
}

// begin takes into an empty memory what is known without one: the birth, and an interval learned by another rule, at
// which about half of the visits found a change.
func (r *remembered) begin(in WaitInput) {
	switch {
	case in.First && !in.Born.IsZero() && !in.At.Before(in.Born):
		r.age = in.At.Sub(in.Born).Seconds()
	case !in.First && in.Previous > 0:
		r.last = in.At.Add(-in.Previous - max(in.Overdue, 0))
		learned := belief{1, in.Previous.Hours() / 24 / math.Ln2}.bounded()
		for i := range r.rates {
			r.rates[i] = learned
		}
		for i := range r.staged {
			for k := range r.staged[i] {
				r.staged[i][k] = learned
			}
		}
	}
}
