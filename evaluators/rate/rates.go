package rate

import (
	"math"
	"time"
)

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
