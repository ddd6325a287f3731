package evaluators

import (
	"fmt"
	"math"
	"strconv"
)

// Day counts a host's visits in a day, or in any other period.
type Day struct {
	Requests int
	Seen     int     // versions captured
	Versions float64 // versions that probably appeared, see [Estimate]
}

// Plus returns the sum of both.
func (d Day) Plus(o Day) Day {
	return Day{Requests: d.Requests + o.Requests, Seen: d.Seen + o.Seen, Versions: d.Versions + o.Versions}
}

// Share returns the share of the versions that was seen; 1 if there were no versions.
func (d Day) Share() float64 {
	if !(d.Versions > float64(d.Seen)) {
		return 1
	}
	return float64(d.Seen) / d.Versions
}

// String returns for example "412 versions seen of some 503 (82 %), 2.3 requests each".
func (d Day) String() string {
	if d.Seen == 0 {
		return fmt.Sprintf("no version seen with %d requests", d.Requests)
	}
	versions := strconv.FormatFloat(math.Round(math.Max(d.Versions, float64(d.Seen))), 'f', 0, 64)
	percent := strconv.Itoa(int(math.Round(100*d.Share()))) + " %"
	return fmt.Sprintf("%d versions seen of some %s (%s), %.1f requests each",
		d.Seen, versions, percent, float64(d.Requests)/float64(d.Seen))
}
