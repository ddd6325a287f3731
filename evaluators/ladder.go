package evaluators

import (
	"math"
	"time"
)

// Ladder describes the waits after failures in a row. The first wait is First, and each next one Factor times as long,
// up to Max. Every wait is finite, so no failure excludes a URI forever. None changes the interval learned from
// answers.
//
// First defaults to 1m and Max to 28d if zero or negative. A Factor that is zero or not a number counts as 2, one
// below 1 as 1.
type Ladder struct {
	First, Max time.Duration
	Factor     float64
}

// Wait returns the wait after a number of failures in a row, rounded to milliseconds and never more than Max. A number
// below one counts as one.
func (l Ladder) Wait(failures int) time.Duration {
	first, longest, factor := l.First, l.Max, l.Factor
	if first <= 0 {
		first = time.Minute
	}
	if longest <= 0 {
		longest = defaultMax
	}
	if factor == 0 || math.IsNaN(factor) {
		factor = 2
	}
	if failures <= 1 || first >= longest {
		return min(first, longest)
	}
	ms := first.Seconds() * 1000 * math.Pow(max(factor, 1), float64(failures-1))
	if !(ms < longest.Seconds()*1000) {
		return longest
	}
	return max(first, min(longest, milliseconds(math.Round(ms))))
}
