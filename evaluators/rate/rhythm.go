package rate

import (
	"math"
	"time"
)

// Rhythm holds at which hours of the day and on which days of the week the URIs of one kind on a host change. It
// holds the number of changes seen, and the number expected at the mean rate of each URI. The contribution of a visit
// is a Rhythm too. The zero value knows nothing. Counts fade in 40 days.
type Rhythm struct {
	At       float64             // seconds since 1970 up to which it counts; zero if nothing is known
	Seen     [clockCells]float64 // changes in each of the 24 hours of UTC, then on each of the 7 days from Thursday on
	Expected [clockCells]float64 // the same if the rate were the same at all times
}

// Plus returns the sum of both rhythms, as of the later one.
func (y Rhythm) Plus(o Rhythm) Rhythm {
	if y.At < o.At {
		y, o = o, y
	}
	if o.At == 0 {
		return y
	}
	kept := math.Exp(-(y.At - o.At) / secondsPerDay / clockHorizon)
	for i := range y.Seen {
		y.Seen[i] += kept * o.Seen[i]
		y.Expected[i] += kept * o.Expected[i]
	}
	return y
}

// add adds the numbers of changes seen and expected within an hour of the week.
func (y *Rhythm) add(hour int, seen, expected float64) {
	for _, cell := range [2]int{hour % hoursOfDay, hoursOfDay + hour/hoursOfDay} {
		y.Seen[cell] += seen
		y.Expected[cell] += expected
	}
}

// rhythmOf returns what a visit adds to the rhythm of the relatives: how many changes were expected between two
// moments, and how many there probably were. Changes without a known moment are distributed by the weights of the
// profile.
//
// It compares with the mean rate of the URI, not with the rate that was believed at the time. A new URI is believed
// to change often, so the hours in which a crawl begins would seem to have few changes. The weight of a visit is the
// probability that nothing changed: a change that was certain to be found says nothing about its hour.
func (r *Estimator) rhythmOf(from, to, expected, seen float64, moments []time.Time, w *profile) (y Rhythm) {
	whole := w.exposure(from, to)
	if !(whole > 0) {
		return y
	}
	y.At = to
	all := r.rates[len(horizons)-1]
	mean := max(all.shape-priorShape, 0) / all.exposure // without the changes of the prior
	telling := math.Exp(-expected)
	if len(moments) > 0 {
		telling = 1
	}
	for _, t := range moments {
		hour, _ := hourOf(unix(t))
		y.add(hour, 1, 0)
	}
	seen = max(seen-float64(len(moments)), 0)
	hour, end := hourOf(from)
	for from < to {
		stop := min(end, to)
		y.add(hour, telling*seen*w.within(from, stop, hour, end)/whole, telling*mean*(stop-from)/secondsPerDay)
		from = stop
		hour, end = nextHour(hour, end)
	}
	return y
}

// The rhythm of the relatives counts as a number of changes in each hour and on each day, up to rhythmWeight. The
// number grows with the changes and URIs in the rhythm. A single URI does not need it, because its own clock has the
// same rhythm.
const (
	rhythmWeight = 8.0
	rhythmHalf   = 20.0 // number of changes at which half of that weight is reached
	rhythmPrior  = 5.0  // changes that each hour and day of the kind begins with, as if predicted exactly
)

// hourWeights holds the initial state of a clock: the weight of each hour and day, and the number of changes that it
// counts as.
type hourWeights struct {
	cells               [clockCells]float64
	hourPrior, dayPrior float64
}

// noSharedHours is the initial state of a clock without relatives.
var noSharedHours = func() (u hourWeights) {
	u.hourPrior, u.dayPrior = hourPrior, dayPrior
	for i := range u.cells {
		u.cells[i] = 1
	}
	return u
}()

// hours returns the initial state of the clock of a relative; nil if nothing is known.
func (k *Relatives) hours() *hourWeights {
	total := 0.0
	for _, x := range k.Rhythm.Seen[:hoursOfDay] {
		total += x
	}
	if !(k.URIs >= 2 && total > 0) {
		return nil
	}
	u := hourWeights{hourPrior: hourPrior, dayPrior: dayPrior}
	for i := range u.cells {
		u.cells[i] = (k.Rhythm.Seen[i] + rhythmPrior) / (k.Rhythm.Expected[i] + rhythmPrior)
	}
	weight := rhythmWeight * total / (total + rhythmHalf) * (1 - 1/k.URIs)
	u.hourPrior += weight
	u.dayPrior += weight
	return &u
}

// SharesHours reports whether the rhythm of the relatives has at least half of the weight that it can have, so that it
// is worth mentioning.
func (r *Estimator) SharesHours() bool {
	return r.clock.shared != nil && r.clock.shared.hourPrior >= hourPrior+rhythmWeight/2
}
