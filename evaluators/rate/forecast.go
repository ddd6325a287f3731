package rate

import (
	"math"
	"time"
)

// Forecast says how many changes to expect after a visit. It is valid until its [Estimator] changes.
type Forecast struct {
	by           *Estimator
	from, age    float64 // seconds since 1970 and since birth; the age is below zero if the birth is unknown
	perDay, aged float64 // changes per day of exposure and per unit of logarithmic age
	profile      *profile
}

// Forecast returns what to expect after a visit.
func (r *Estimator) Forecast(at time.Time) Forecast {
	f := Forecast{by: r, from: unix(at), age: r.age, profile: r.habits()}
	f.perDay, f.aged = r.mean()
	if passed := f.from - unix(r.last); f.age >= 0 && !r.last.IsZero() && passed > 0 {
		f.age += passed // the visit itself was not judged
	}
	return f
}

// Wait returns the seconds to wait until the wanted number of changes is expected, at most longest. The number is
// meant for changes that come at random. It is lowered for a URI that changes in bursts, and raised for one that
// changes at regular intervals.
func (f Forecast) Wait(wanted, longest float64) float64 {
	wait, _ := f.until(wanted*math.Pow(f.by.crowding(), -crowdingPower), longest)
	return wait
}

// Wanted is the inverse of [Forecast.Wait]: it returns the number of changes for which a wait takes a
// number of seconds.
func (f Forecast) Wanted(seconds float64) float64 {
	return f.within(seconds) * math.Pow(f.by.crowding(), crowdingPower)
}

// Over returns the number of changes to expect over an interval, and the share of versions that a next visit at its
// end will have missed.
func (f Forecast) Over(interval time.Duration) (expected, missed float64) {
	seconds := interval.Seconds()
	f.perDay = f.by.likely(f.profile.exposure(f.from, f.from+seconds))
	expected = f.within(seconds)
	captured := 1 / (1 + f.by.crowding()*(1/Captured(expected)-1)) // see crowding
	return expected, 1 - captured
}

// until returns the seconds until the wanted number of changes is expected, at most longest, and how many are expected
// by then.
func (f Forecast) until(wanted, longest float64) (wait, expected float64) {
	if f.age >= 0 {
		return f.untilAged(wanted, longest)
	}
	const week = hours * secondsPerHour
	each := f.perDay * f.profile.week
	weeks := math.Floor(min(wanted*(1-1e-9)/each, longest/week))
	wait, expected = weeks*week, weeks*each
	hour, end := hourOf(f.from + wait)
	for wait < longest {
		stop := min(end-f.from, longest)
		more := f.perDay * f.profile.within(f.from+wait, f.from+stop, hour, end)
		if expected+more >= wanted { // not in proportion, as some minutes count more than others
			start := f.from + wait - (end - secondsPerHour)
			seconds := (wanted - expected) / (f.perDay * f.profile.hour[hour]) * secondsPerDay
			return wait + max(f.profile.after(f.profile.before(start)+seconds)-start, 0), wanted
		}
		expected += more
		wait = stop
		hour, end = nextHour(hour, end)
	}
	return longest, expected
}

// untilAged does the same for a URI whose age is known.
func (f Forecast) untilAged(wanted, longest float64) (wait, expected float64) {
	hour, end := hourOf(f.from)
	for wait < longest {
		stop := min(end-f.from, longest)
		if wait < secondsPerHour { // the logarithm of an age grows fast at first
			stop = min(stop, wait+max(60, (f.age+wait)/8))
		}
		more := f.perDay * f.profile.within(f.from+wait, f.from+stop, hour, end)
		more += f.aged * math.Log((f.age+stop+birthScale)/(f.age+wait+birthScale))
		if expected+more >= wanted {
			return wait + (stop-wait)*(wanted-expected)/more, wanted
		}
		expected += more
		if wait = stop; wait >= end-f.from {
			hour, end = nextHour(hour, end)
		}
	}
	return longest, expected
}

// within returns the number of changes to expect within a number of seconds.
func (f Forecast) within(wait float64) float64 {
	expected := f.perDay * f.profile.exposure(f.from, f.from+wait)
	if f.age >= 0 {
		expected += f.aged * math.Log((f.age+wait+birthScale)/(f.age+birthScale))
	}
	return expected
}

// The constants of slow pages, see [Slow].
const (
	slowBelow = 0.4 // changes a day; a URI that changes less often is slow
	slowPower = 0.4 // exponent of its rate

	// slowest is the rate, in changes a day, below which the factor falls no further. Most URIs of a crawl change never
	// again: without this bound they are visited ever more often in comparison.
	slowest = 1. / 30
)

// Slow returns the factor, at most 1, of the number of changes to wait for at a URI that changes perDay times a day.
// At an equal number, most requests go to URIs that change often, and the estimate of a slow URI is so late that more
// of its versions are missed than the number says.
func Slow(perDay float64) float64 {
	if !(perDay < slowBelow) {
		return 1
	}
	return math.Pow(max(perDay, slowest)/slowBelow, slowPower)
}

// Slow returns the factor for the URI, from all that is known of it. It is 1 for a URI whose birth is known: such a URI
// changes less and less often, and is visited by its age.
func (f Forecast) Slow() float64 {
	if f.age >= 0 {
		return 1
	}
	return Slow(f.by.rates[len(horizons)-1].mean())
}
