package evaluators

import (
	"fmt"
	"math"
	"strings"
)

// Rhythm is at which hours of the day and on which days of the week the URIs of one kind on a host change: what was seen of
// each, and what would have been at the mean rate of each URI. The zero value knows nothing. What a visit tells is one too.
// Both fade in 40 days.
type Rhythm struct {
	At       float64             // seconds since 1970 up to which it is told; zero where nothing is known
	Seen     [clockCells]float64 // changes in each of the 24 hours of UTC, then on each of the 7 days from Thursday on
	Expected [clockCells]float64 // the same if they came at any time alike
}

// Plus is both together, as of the later one.
func (y Rhythm) Plus(o Rhythm) Rhythm {
	if y.At < o.At {
		y, o = o, y
	}
	if o.At == 0 {
		return y
	}
	kept := math.Exp(-(y.At - o.At) / secondsPerDay / clockForgets)
	for i := range y.Seen {
		y.Seen[i] += kept * o.Seen[i]
		y.Expected[i] += kept * o.Expected[i]
	}
	return y
}

// add takes in what was seen and expected within an hour of the week.
func (y *Rhythm) add(hour int, seen, expected float64) {
	for _, cell := range [2]int{hour % hoursOfDay, hoursOfDay + hour/hoursOfDay} {
		y.Seen[cell] += seen
		y.Expected[cell] += expected
	}
}

// tell is what a visit says to relatives: so many changes were expected between two moments, and so many are thought to have
// been, spread as the profile has it where their moments are not known. It compares with the mean rate of the URI, not with what was
// believed at the time: what is new is believed to change often, and the hours in which a crawl begins would look dead. It counts by the
// chance that nothing had changed, as a change that is certain to be found says nothing of its hour.
func (r *remembered) tell(from, to, expected, seen float64, w *profile) (y Rhythm) {
	whole := w.exposure(from, to)
	if !(whole > 0) {
		return y
	}
	y.At = to
	all := r.rates[len(horizons)-1]
	mean := max(all.shape-priorShape, 0) / all.exposure // without the changes that every URI is believed to have had
	telling := math.Exp(-expected)
	if len(r.moments) > 0 {
		telling = 1
	}
	for _, t := range r.moments {
		hour, _ := hourOf(unix(t))
		y.add(hour, 1, 0)
	}
	seen = max(seen-float64(len(r.moments)), 0)
	hour, end := hourOf(from)
	for from < to {
		stop := min(end, to)
		y.add(hour, telling*seen*w.within(from, stop, hour, end)/whole, telling*mean*(stop-from)/secondsPerDay)
		from = stop
		hour, end = nextHour(hour, end)
	}
	return y
}

// The rhythm of a kind's URIs is that of each, as far as it is known, with a weight of so many changes an hour or day at
// most. It is known as far as there are changes enough, and URIs enough: what one alone has it knows itself.
const (
	rhythmWeight = 8.0
	rhythmHalf   = 20.0 // changes at which half of that weight is given
	rhythmPrior  = 5.0  // changes that every hour and day of the kind is thought to have been right about
)

// usual is what a clock that knows nothing of its own shows: how much each hour and day counts, and how many changes that
// is worth.
type usual struct {
	cells     [clockCells]float64
	hour, day float64
}

// nothingUsual is what it shows where there are no relatives either.
var nothingUsual = func() (u usual) {
	u.hour, u.day = hourPrior, dayPrior
	for i := range u.cells {
		u.cells[i] = 1
	}
	return u
}()

// tells reports whether it has half of the weight that it can have, so that it is worth a word.
func (u *usual) tells() bool { return u != nil && u.hour >= hourPrior+rhythmWeight/2 }

// usual is what the relatives' rhythm says of a URI that is one of them.
func (k *Relatives) usual() *usual {
	total := 0.0
	for _, x := range k.Rhythm.Seen[:hoursOfDay] {
		total += x
	}
	if !(k.URIs >= 2 && total > 0) {
		return nil
	}
	u := usual{hour: hourPrior, day: dayPrior}
	for i := range u.cells {
		u.cells[i] = (k.Rhythm.Seen[i] + rhythmPrior) / (k.Rhythm.Expected[i] + rhythmPrior)
	}
	weight := rhythmWeight * total / (total + rhythmHalf) * (1 - 1/k.URIs)
	u.hour += weight
	u.day += weight
	return &u
}

// String says when most and when least changes, such as "most from 07 to 09, least from 02 to 04 UTC, least on Sunday". It is
// empty where nothing is known.
func (y Rhythm) String() string {
	var of [clockCells]float64
	total := 0.0
	for i := range of {
		of[i] = (y.Seen[i] + rhythmPrior) / (y.Expected[i] + rhythmPrior)
		total += y.Seen[i]
	}
	if !(total > 0) {
		return ""
	}
	most, least := 0, 0
	for i := range hoursOfDay {
		if around(of[:hoursOfDay], i) > around(of[:hoursOfDay], most) {
			most = i
		}
		if around(of[:hoursOfDay], i) < around(of[:hoursOfDay], least) {
			least = i
		}
	}
	quiet := 0
	for i, x := range of[hoursOfDay:] {
		if x < of[hoursOfDay+quiet] {
			quiet = i
		}
	}
	days := strings.Fields("Thursday Friday Saturday Sunday Monday Tuesday Wednesday")
	return fmt.Sprintf("most from %s, least from %s UTC and on %s", span(most), span(least), days[quiet])
}

// around is the mean of an hour and those before and after it.
func around(hour []float64, i int) float64 {
	n := len(hour)
	return (hour[(i+n-1)%n] + hour[i] + hour[(i+1)%n]) / 3
}

// span is three hours around one.
func span(hour int) string {
	return fmt.Sprintf("%02d to %02d", (hour+hoursOfDay-1)%hoursOfDay, (hour+2)%hoursOfDay)
}
