package evaluators

import (
	"math"
	"time"
)

// clock tells how much more than usual a URI changes in an hour of the day and on a day of the week: changes seen and
// changes expected, for the 24 hours and then for the 7 days from Thursday on, in UTC.
type clock [clockCells]belief

const (
	hoursOfDay = 24
	daysOfWeek = 7
	clockCells = hoursOfDay + daysOfWeek
	hours      = hoursOfDay * daysOfWeek
)

// week is how much each hour of the week, beginning with 1970's first, counts; the mean is about one.
type week [hours]float64

// week is the profile that the clock has learned. What it knows little of counts like any other hour.
func (c *clock) week() *week {
	var hour [hoursOfDay]float64
	for i := range hour {
		before, after := c[(i+hoursOfDay-1)%hoursOfDay], c[(i+1)%hoursOfDay]
		seen := c[i].shape + (before.shape+after.shape)/2
		expected := c[i].exposure + (before.exposure+after.exposure)/2
		hour[i] = (seen + hourPrior) / (expected + hourPrior)
	}
	var w week
	sum := 0.0
	for d := range daysOfWeek {
		cell := c[hoursOfDay+d]
		day := math.Pow((cell.shape+dayPrior)/(cell.exposure+dayPrior), dayPower)
		for h := range hoursOfDay {
			w[d*hoursOfDay+h] = hour[h] * day
			sum += hour[h] * day
		}
	}
	for i := range w {
		w[i] = math.Min(w[i]*hours/sum, mostOfHour)
	}
	return &w
}

// hourOf is the hour of the week of a moment, in seconds since 1970, and the end of that hour.
func hourOf(at float64) (hour int, end float64) {
	n := math.Floor(at / secondsPerHour)
	hour = int(math.Mod(n, hours))
	if hour < 0 {
		hour += hours
	}
	return hour, (n + 1) * secondsPerHour
}

const (
	secondsPerHour = 3600
	secondsPerDay  = 24 * secondsPerHour
)

// exposure is the time between two moments in days, each hour counted by its weight.
func (w *week) exposure(from, to float64) float64 {
	sum := 0.0
	if weeks := math.Floor((to - from) / (hours * secondsPerHour)); weeks >= 1 {
		sum = weeks * w.whole()
		from += weeks * hours * secondsPerHour
	}
	for from < to {
		hour, end := hourOf(from)
		end = math.Min(end, to)
		sum += (end - from) / secondsPerDay * w[hour]
		from = end
	}
	return sum
}

// whole is the exposure of a whole week.
func (w *week) whole() float64 {
	sum := 0.0
	for _, x := range w {
		sum += x
	}
	return sum / hoursOfDay
}

// learn takes in a visit: so many changes were expected between two moments, and so many are thought to have been.
func (c *clock) learn(from, to, expected, seen float64, w *week) {
	days := (to - from) / secondsPerDay
	kept := math.Exp(-days / clockForgets)
	for i := range c {
		c[i] = c[i].faded(belief{}, kept)
	}
	whole := w.exposure(from, to)
	if !(whole > 0) {
		return
	}
	for from < to {
		hour, end := hourOf(from)
		end = math.Min(end, to)
		part := (end - from) / secondsPerDay
		more := belief{seen * part * w[hour] / whole, expected * part / whole}
		for _, cell := range [2]int{hour % hoursOfDay, hoursOfDay + hour/hoursOfDay} {
			c[cell].shape += more.shape
			c[cell].exposure += more.exposure
		}
		from = end
	}
}

func unix(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }
