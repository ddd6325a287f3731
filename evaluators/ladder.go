package evaluators

import (
	"math"
	"time"
)

// Ladder is the wait after failures in a row: First after the first one, then each time Factor times as long, at most
// Max. No failure exiles a URI for ever, and none touches the interval learned from its answers.
//
// First defaults to 1m, Max to 28d, where zero or negative; a Factor of zero or no number counts as 2, one below 1 as
// 1.
type Ladder struct {
	First, Max time.Duration
	Factor     float64
}

// Wait is the wait after so many failures in a row, rounded to milliseconds and never more than Max; fewer than one
// count as one.
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
