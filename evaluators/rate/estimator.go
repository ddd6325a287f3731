package rate

import (
	"math"
	"slices"
	"time"
)

// The constants of the estimator; the package comment says where they come from.
const (
	// A new URI is believed to change often, so that a first mistake is noticed soon.
	priorShape, priorExposure = 0.858, 0.046 // days
	agedShape, agedExposure   = 0.32, 1.52   // units of logarithmic age

	birthScale = 300.0 // seconds that are added to an age before its logarithm is taken
	minWeight  = -6.0  // logarithm of the smallest weight, so that a belief can come back
	stageShare = 0.32  // share of what one stage learns that the other two also learn

	minCrowding, maxCrowding = 0.1, 2.0
	crowdingPrior            = 10.0 // number of changes that count as having come at random
	crowdingPower            = 0.7  // how much a crowd is visited more, see crowding
	maxCount                 = 1000 // maximum number of changes between two visits; more would not be more informative
)

var (
	ratePrior = belief{priorShape, priorExposure}
	agePrior  = belief{agedShape, agedExposure}
	// horizons holds the days in which the beliefs of the rate forget; zero is never.
	horizons = [5]float64{0.05, 0.5, 4, 32, 0}
	// stageHorizons holds the same for the two sets of beliefs that distinguish stages.
	stageHorizons = [2]float64{6, 60}
)

const (
	stages    = 3 // after a change, after one quiet visit, after more
	usualRate = 3 // index of the horizon whose rate counts as usual
	weights   = len(horizons) + len(stageHorizons) + 1
	agedIndex = weights - 1
)

// Estimator estimates the rate of change of one URI. [Estimator.Open] makes it ready.
type Estimator struct {
	last        time.Time                          // the last judged visit; zero = none
	age         float64                            // seconds since birth at that visit; below zero = unknown
	kind        Kind                               // zero = not counted among its relatives
	quietVisits int                                // judged visits since the last change, up to the last stage
	rates       [len(horizons)]belief              // one for each horizon
	staged      [len(stageHorizons)][stages]belief // one for each stage
	aged        belief                             // counts in logarithmic age
	weight      [weights]float64                   // logarithms, the best is 0: rates, staged, aged

	clock      clock
	clockBytes []byte // the bytes that the clock was read from; nil once it has learned
	profile    profile
	profiled   bool // profile is up to date with the clock

	before Relatives // the share of the URI in its relatives before the visit, negative
	rhythm Rhythm    // of the visit
}

// Observation is a visit that could be judged.
type Observation struct {
	At      time.Time
	Changed bool

	// Jumped is how far the clock has jumped since the last visit, below zero if backward. It is no time that passed.
	Jumped time.Duration

	// The other fields are read if the URI changed since an earlier visit. They take precedence in this order. Times that
	// are not between that visit and this one are ignored.

	Moments   []time.Time // all times at which the URI changed, oldest first; nil if they are not known
	Changes   int         // how often it changed; zero if that is not known
	ChangedAt time.Time   // when it last changed; zero if that is not known
	Silent    time.Time   // before ChangedAt; there was no change from the last visit up to this time
}

// Finding holds the results of an observation.
type Finding struct {
	Versions float64   // versions that probably appeared since the last judged visit, if they come at random
	Hidden   float64   // how many times more of these are missed, as far as the URI's changes come otherwise
	Odds     float64   // probability of a change since that visit, as believed before this one; zero if there was none
	Again    bool      // the visit found a change, and so did the last judged visit
	Count    int       // number of changes, if the observation has it; zero if it does not
	Last     time.Time // when the last change was, if the observation has it; zero if it does not
}

// reset makes r the estimator of a new URI.
func (r *Estimator) reset() {
	*r = Estimator{age: -1, aged: agePrior}
	r.believe(ratePrior)
}

// believe sets all beliefs of the rate.
func (r *Estimator) believe(b belief) {
	for i := range r.rates {
		r.rates[i] = b
	}
	for i := range r.staged {
		for k := range r.staged[i] {
			r.staged[i][k] = b
		}
	}
}

// SetBirth sets the age of a URI at its first visit. Nothing else may be known about the URI.
func (r *Estimator) SetBirth(age time.Duration) { r.age = age.Seconds() }

// SetInterval sets the time of the last visit, and the interval at which about half of the visits found a change.
// Nothing else may be known about the URI.
func (r *Estimator) SetInterval(last time.Time, interval time.Duration) {
	r.last = last
	r.believe(belief{1, interval.Hours() / 24 / math.Ln2}.bounded())
}

// habits returns what the clock has learned.
func (r *Estimator) habits() *profile {
	if !r.profiled {
		r.clock.profile(&r.profile)
		r.profiled = true
	}
	return &r.profile
}

// Observe learns from a visit.
func (r *Estimator) Observe(o Observation) Finding {
	if !r.last.IsZero() {
		r.last = r.last.Add(o.Jumped)
	}
	found, d := r.date(o)
	now := unix(o.At)
	last := now
	if !r.last.IsZero() {
		last = min(unix(r.last), now)
	}
	r.last = o.At
	passed := now - last
	if passed <= 0 {
		return found
	}
	w := r.habits()
	exposure := max(w.exposure(last, now), minBelief)
	ageing := r.ageing(passed)
	perDay, aged := r.mean()
	expected := max(perDay*exposure+aged*ageing, minBelief)
	likely := max(r.likely(exposure)*exposure+aged*ageing, minBelief)
	found.Odds = -math.Expm1(-likely)
	found.Again = o.Changed && r.quietVisits == 0
	seen := 0.0
	switch {
	case o.Changed && d.count > 0:
		seen = float64(d.count)
		found.Versions = seen
	case o.Changed:
		seen = expected / -math.Expm1(-expected)
		if found.Versions, found.Hidden = seen, r.hidden(); d.sinceChange > 0 { // the others came before the last one
			found.Versions = 1 + expected*max(1-d.sinceChange/exposure, 0)
		}
	}
	if passed < maxClockWait*secondsPerDay {
		r.clock.learn(last, now, expected, seen-float64(len(d.moments)), w)
		r.clock.mark(d.moments, now-last < maxPartWait*secondsPerHour)
		r.rhythm = r.rhythmOf(last, now, expected, seen, d.moments, w)
		r.profiled, r.clockBytes = false, nil
	}
	r.update(passed/secondsPerDay, exposure, ageing, o.Changed, d)
	if r.age >= 0 {
		r.age += passed
	}
	if o.Changed {
		r.quietVisits = 0
	} else {
		r.quietVisits = min(r.quietVisits+1, stages-1)
	}
	return found
}

// dated holds what a visit found out about the times of changes.
type dated struct {
	count       int         // changes that the visit found; zero if that is not known
	moments     []time.Time // known times of these changes
	sinceChange float64     // exposure without a change; zero if that is not known
}

// date reads the times of changes from an observation. It ignores times that are not between the last visit and this
// one.
func (r *Estimator) date(o Observation) (f Finding, d dated) {
	if !o.Changed || r.last.IsZero() {
		return f, d
	}
	within := func(t time.Time) bool { return t.After(r.last) && t.Before(o.At) }
	for _, t := range o.Moments {
		if within(t) && len(d.moments) < maxCount {
			d.moments = append(d.moments, t)
		}
	}
	switch {
	case len(d.moments) > 0:
		d.count = min(max(len(d.moments), o.Changes), maxCount)
		f.Last = slices.MaxFunc(d.moments, time.Time.Compare)
	case o.Changes > 0:
		d.count = min(o.Changes, maxCount)
	case within(o.ChangedAt):
		w := r.habits()
		d.sinceChange = w.exposure(unix(o.ChangedAt), unix(o.At))
		if o.Silent.After(r.last) && o.Silent.Before(o.ChangedAt) {
			d.sinceChange += w.exposure(unix(r.last), unix(o.Silent))
		}
		d.sinceChange = max(d.sinceChange, minBelief)
		f.Last = o.ChangedAt
	}
	f.Count = d.count
	return f, d
}

// crowding returns how much more likely than usual a change is soon after another one. It is 1 if changes come at
// random, less if they come at regular intervals, and more if they come in bursts.
//
// A visit captures one of the versions that appeared since the last visit. The number of versions beyond the first is
// crowding times the number that is expected if changes come at random. So about 1 ÷ (1 + crowding·x/2) of the
// versions are captured if x changes are expected between visits. One more visit gains the same for all URIs with
// equal x² × crowding, so URIs that change at regular intervals need fewer visits.
func (r *Estimator) crowding() float64 {
	soon := r.staged[1][0].mean()
	known := max(r.staged[1][0].shape-priorShape, 0)
	c := math.Pow(soon/r.rates[usualRate].mean(), known/(known+crowdingPrior))
	return min(max(c, minCrowding), maxCrowding)
}

// The constants of hidden were chosen on invented pages.
const (
	regular, atRandom = 0.58, 0.70 // ratios of pages that change at regular intervals, and at random
	bursts            = 1.15       // the ratio above which a page changes in bursts
	hiddenPerRatio    = 3.0        // more versions for each 1 above
	maxHidden         = 4.0
	hiddenPrior       = 1.5 // number of changes that count as having come at random
)

// hidden returns how many times more versions are missed than if changes came at random. It follows from how much
// likelier than usual a change is soon after another one. Pages that change at regular intervals are visited several
// times between two changes, and hide none. In a burst several changes follow each other between two visits.
func (r *Estimator) hidden() float64 {
	known := max(r.staged[1][0].shape-priorShape, 0)
	ratio := math.Pow(r.staged[1][0].mean()/r.rates[usualRate].mean(), known/(known+hiddenPrior))
	switch {
	case ratio < atRandom:
		return max(ratio-regular, 0) / (atRandom - regular)
	case ratio > bursts:
		return min(1+hiddenPerRatio*(ratio-bursts), maxHidden)
	}
	return 1
}

// update lets every belief forget, adds to its weight how well it predicted the visit, and learns from the visit.
func (r *Estimator) update(days, exposure, ageing float64, changed bool, d dated) {
	for i, horizon := range horizons {
		if horizon > 0 {
			r.rates[i] = r.rates[i].faded(ratePrior, math.Exp(-days/horizon))
		}
		foresaw := 0.0
		r.rates[i], foresaw = d.after(r.rates[i], exposure, changed)
		r.weight[i] += foresaw
	}
	for i, horizon := range stageHorizons {
		kept := math.Exp(-days / horizon)
		for k := range r.staged[i] {
			r.staged[i][k] = r.staged[i][k].faded(ratePrior, kept)
		}
		for k, g := range r.staged[i] {
			foresaw := 0.0
			switch {
			case k == r.quietVisits:
				g, foresaw = d.after(g, exposure, changed)
			case changed:
				g = belief{g.shape + stageShare/2*float64(max(d.count, 1)), g.exposure + stageShare/2*exposure}.bounded()
			default:
				g = belief{g.shape, g.exposure + stageShare/2*exposure}.bounded()
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
		r.weight[i] = min(0, max(minWeight, r.weight[i]-best))
	}
}

// after returns a belief after a visit, and the logarithm of the probability that it had given to the outcome.
func (d dated) after(g belief, exposure float64, changed bool) (belief, float64) {
	switch {
	case changed && d.count > 0:
		return g.afterCount(exposure, float64(d.count))
	case changed && d.sinceChange > 0:
		return g.afterDated(exposure, min(d.sinceChange, exposure))
	}
	return g.after(exposure, changed)
}

// ageing returns the growth of the logarithm of the age within a number of seconds; zero if the birth is unknown.
func (r *Estimator) ageing(passed float64) float64 {
	if r.age < 0 {
		return 0
	}
	return max(math.Log((r.age+passed+birthScale)/(r.age+birthScale)), minBelief)
}

// mean returns the weighted mean of the beliefs: changes per day of exposure, and per unit of logarithmic age.
func (r *Estimator) mean() (perDay, aged float64) {
	sum := 0.0
	for i, g := range r.rates {
		w := math.Exp(r.weight[i])
		sum += w
		perDay += w * g.mean()
	}
	for i := range r.staged {
		w := math.Exp(r.weight[len(horizons)+i])
		sum += w
		perDay += w * r.staged[i][r.quietVisits].mean()
	}
	if r.age >= 0 {
		w := math.Exp(r.weight[agedIndex])
		sum += w
		aged = w * r.aged.mean() / sum
	}
	perDay /= sum
	return perDay, aged
}

// likely returns the rate, in changes per day of exposure, that has the same probability of no change over an
// exposure as the weighted beliefs have. If nearly every visit finds a change, some beliefs allow any high rate. They
// dominate the mean, but hardly affect this rate.
func (r *Estimator) likely(exposure float64) (perDay float64) {
	exposure = max(exposure, minBelief)
	sum, noChange := 0.0, 0.0
	add := func(weight float64, g belief) {
		w := math.Exp(weight)
		sum += w
		noChange += w * math.Exp(g.logNoChange(exposure))
	}
	for i, g := range r.rates {
		add(r.weight[i], g)
	}
	for i := range r.staged {
		add(r.weight[len(horizons)+i], r.staged[i][r.quietVisits])
	}
	perDay = -math.Log(max(noChange/sum, minProbability)) / exposure
	if r.age >= 0 {
		perDay *= sum / (sum + math.Exp(r.weight[agedIndex]))
	}
	return perDay
}
