package rate

import "math"

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
