package rate

import (
	"math"
	"time"
)

// The constants of the clock.
const (
	hourPrior, dayPrior = 2.0, 4.7 // changes that each hour and day begins with, as if predicted exactly
	dayPower            = 0.43     // exponent that moves the weights of days towards 1
	maxHourWeight       = 4.0      // maximum weight of an hour, in usual hours
	clockHorizon        = 40.0     // days; time constant of forgetting
	partPrior           = 8.0      // the same as hourPrior, for parts of the hour
	maxPartWait         = 6.0      // hours; after a longer wait, the part of the hour of a change is not known
	maxClockWait        = 2.0      // days; after a longer wait, the hour of a change is not known
)

const (
	hoursOfDay = 24
	daysOfWeek = 7
	clockCells = hoursOfDay + daysOfWeek
	hours      = hoursOfDay * daysOfWeek
	hourParts  = 12

	secondsPerHour = 3600
	secondsPerDay  = 24 * secondsPerHour
	partLength     = secondsPerHour / hourParts
)

// clock holds how much more than usual a URI changes in each hour of the day, day of the week and part of the hour,
// in UTC. The shape of a cell is the number of changes seen, its exposure the number of changes expected.
type clock struct {
	cells  [clockCells]belief // the 24 hours, then the 7 days from Thursday on
	shared *hourWeights       // initial weights; nil = all times have the same weight
	parts  [hourParts]belief  // the parts of the hour, because publishers and machines are punctual to the minute
}

// profile holds the weights of the hours of the week, from the first hour of 1970 on, and of the parts of each hour.
// The means are about one.
type profile struct {
	hour [hours]float64
	week float64 // exposure of a whole week, in days
	part [hourParts]float64
	upTo [hourParts + 1]float64 // weighted seconds of an hour before each part
}

// profile writes what the clock has learned to w. A cell that has learned little keeps its shared weight.
func (c *clock) profile(w *profile) {
	u := noSharedHours
	if c.shared != nil {
		u = *c.shared
	}
	var hour [hoursOfDay]float64
	for i := range hour {
		before, after := c.cells[(i+hoursOfDay-1)%hoursOfDay], c.cells[(i+1)%hoursOfDay]
		seen := c.cells[i].shape + (before.shape+after.shape)/2
		expected := c.cells[i].exposure + (before.exposure+after.exposure)/2
		hour[i] = (seen + u.hourPrior*u.cells[i]) / (expected + u.hourPrior)
	}
	sum := 0.0
	for d, cell := range c.cells[hoursOfDay:] {
		ratio := (cell.shape + u.dayPrior*u.cells[hoursOfDay+d]) / (cell.exposure + u.dayPrior)
		day := math.Exp(dayPower * math.Log(ratio))
		of := w.hour[d*hoursOfDay:][:hoursOfDay]
		for h, usual := range hour {
			of[h] = usual * day
			sum += usual * day
		}
	}
	week := 0.0
	for i, x := range w.hour {
		if x = x * hours / sum; x > maxHourWeight {
			x = maxHourWeight
		}
		w.hour[i] = x
		week += x
	}
	w.week = week / hoursOfDay
	sum = 0
	for i, cell := range c.parts {
		w.part[i] = (cell.shape + partPrior) / (cell.exposure + partPrior)
		sum += w.part[i]
	}
	for i := range w.part {
		w.part[i] *= hourParts / sum
		w.upTo[i+1] = w.upTo[i] + w.part[i]*partLength
	}
}

// before returns the weighted seconds of an hour before one of its seconds.
func (w *profile) before(second float64) float64 {
	i := min(max(int(second/partLength), 0), hourParts-1)
	return w.upTo[i] + (second-float64(i)*partLength)*w.part[i]
}

// after is the inverse of before: it returns the second of an hour with the given number of weighted seconds before it.
func (w *profile) after(weighted float64) float64 {
	i := 0
	for i < hourParts-1 && w.upTo[i+1] < weighted {
		i++
	}
	return float64(i)*partLength + (weighted-w.upTo[i])/w.part[i]
}

// within returns the exposure, in days, between two moments of one hour that ends at end.
func (w *profile) within(from, to float64, hour int, end float64) float64 {
	start := end - secondsPerHour
	if from == start && to == end {
		return w.hour[hour] / hoursOfDay
	}
	return (w.before(to-start) - w.before(from-start)) / secondsPerDay * w.hour[hour]
}

// exposure returns the time between two moments in days, each hour and part of it counted by its weight.
func (w *profile) exposure(from, to float64) float64 {
	sum := 0.0
	if weeks := math.Floor((to - from) / (hours * secondsPerHour)); weeks >= 1 {
		sum = weeks * w.week
		from += weeks * hours * secondsPerHour
	}
	if !(from < to) {
		return sum
	}
	hour, end := hourOf(from)
	sum += w.within(from, min(end, to), hour, end)
	for from = end; from < to; from = end {
		if hour, end = nextHour(hour, end); end <= to {
			sum += w.hour[hour] / hoursOfDay
		} else {
			sum += w.within(from, to, hour, end)
		}
	}
	return sum
}

// hourOf returns the hour of the week of a moment, in seconds since 1970, and the end of that hour.
func hourOf(at float64) (hour int, end float64) {
	n := math.Floor(at / secondsPerHour)
	hour = min(max(int(n-hours*math.Floor(n/hours)), 0), hours-1)
	return hour, (n + 1) * secondsPerHour
}

// nextHour returns the hour of the week after the one that ends at end, and its end.
func nextHour(hour int, end float64) (int, float64) {
	if hour++; hour == hours {
		hour = 0
	}
	return hour, end + secondsPerHour
}

// learn adds the changes between two moments: the number expected, and the number that probably occurred. It
// distributes them over the time between by the weights of the profile.
func (c *clock) learn(from, to, expected, seen float64, w *profile) {
	kept := math.Exp(-(to - from) / secondsPerDay / clockHorizon)
	for i := range c.cells {
		c.cells[i] = c.cells[i].faded(belief{}, kept)
	}
	for i := range c.parts {
		c.parts[i] = c.parts[i].faded(belief{}, kept)
	}
	whole := w.exposure(from, to)
	if !(whole > 0) {
		return
	}
	fine := to-from < maxPartWait*secondsPerHour
	hour, end := hourOf(from)
	for from < to {
		stop := min(end, to)
		more := belief{seen * w.within(from, stop, hour, end) / whole, expected * (stop - from) / secondsPerDay / whole}
		for _, cell := range [2]int{hour % hoursOfDay, hoursOfDay + hour/hoursOfDay} {
			c.cells[cell].shape += more.shape
			c.cells[cell].exposure += more.exposure
		}
		if fine {
			start := end - secondsPerHour
			c.learnParts(from-start, stop-start, expected*w.hour[hour]/whole, seen*w.hour[hour]/whole, w)
		}
		from = stop
		hour, end = nextHour(hour, end)
	}
}

// learnParts does the same for the seconds of one hour. expected and seen are per day.
func (c *clock) learnParts(from, to, expected, seen float64, w *profile) {
	for i := range c.parts {
		low, high := max(from, float64(i)*partLength), min(to, float64(i+1)*partLength)
		if low < high {
			days := (high - low) / secondsPerDay
			c.parts[i].shape += seen * days * w.part[i]
			c.parts[i].exposure += expected * days
		}
	}
}

// mark adds changes at known moments. If fine is set, it also learns the parts of the hour.
func (c *clock) mark(moments []time.Time, fine bool) {
	for _, t := range moments {
		hour, end := hourOf(unix(t))
		c.cells[hour%hoursOfDay].shape++
		c.cells[hoursOfDay+hour/hoursOfDay].shape++
		if fine {
			second := unix(t) - (end - secondsPerHour)
			c.parts[min(max(int(second/partLength), 0), hourParts-1)].shape++
		}
	}
}

// unix returns a time in seconds since 1970.
func unix(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }
