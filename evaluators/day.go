package evaluators

import (
	"fmt"
	"math"
	"strconv"

	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/internal/human"
)

// Day counts a host's visits in a day, or in any other period.
type Day struct {
	Requests int
	Seen     int     // versions captured
	Versions float64 // versions that probably appeared by the model of the wait rule, see [Estimate]
	Spread   float64 // sum over URIs of the square of the versions that were missed; few URIs missed many if it is large
	Young    int     // of Seen, versions that were among the first few that visits of their URI found
	Blind    int     // of Seen, versions of URIs that changed at every visit so far: nothing bounds how many were missed
}

// Plus returns the sum of both.
func (d Day) Plus(o Day) Day {
	return Day{
		Requests: d.Requests + o.Requests, Seen: d.Seen + o.Seen, Versions: d.Versions + o.Versions,
		Spread: d.Spread + o.Spread, Young: d.Young + o.Young, Blind: d.Blind + o.Blind,
	}
}

// VersionsFound estimates how many versions appeared since the visit before, if the last visit found one. visits is
// the number of judged visits, of which the first one found a version too, and versions is how many found one. With p
// as the share of the later visits that did, the result is x ÷ (1 − e^−x) for x = −ln(1 − p), as if changes came at
// random and visits at even intervals. Half a visit with and half a visit without a change are added (Cho and Garcia-
// Molina 2003, see package rate).
func VersionsFound(visits, versions int) float64 {
	later := max(visits, versions, 2) - 1
	x := -math.Log((float64(later-max(versions-1, 0)) + 0.5) / (float64(later) + 0.5))
	return 1 / rate.Captured(x)
}

// BlindIf returns what a captured version adds to [Day.Blind]: 1 if each of the visits of its URI found a version.
func BlindIf(visits, versions int) int {
	if versions < visits {
		return 0
	}
	return 1
}

// Found returns the count of a visit that captured a version. missed is how many others probably appeared since the
// visit before, found how many visits of the URI captured one so far.
func Found(missed float64, found, blind int) Day {
	missed = max(missed, 0)
	// After n visits that missed m each, the square of their sum is n²m². The nth visit adds (2n − 1)m² to it.
	spread := missed * missed * float64(2*max(found, 1)-1)
	d := Day{Requests: 1, Seen: 1, Versions: 1 + missed, Spread: spread, Blind: blind}
	if found <= fewFound {
		d.Young = 1
	}
	return d
}

// The constants of the bounds were chosen on invented sites.
const (
	// The model is off by the factor e^common for all URIs together, and by e^ownFewer or e^ownMore more for one URI.
	common, ownFewer, ownMore = 0.2, 1.2, 1.2
	// youngSpread is the number of versions that one of [Day.Young] hides at most besides. The first fewFound changes of a
	// page do not show whether it changes in bursts.
	youngSpread, fewFound = 0.8, 6
	// blindSpread is the number of versions that one of [Day.Blind] hides at most.
	blindSpread = 20.0
	// nineOfTen is the number of standard deviations that nine of ten values are within.
	nineOfTen = 1.645
	// maxApart is the distance of two bounds that say something.
	maxApart = 0.65
)

// Captured holds how many versions were captured, and estimates of how many were missed.
type Captured struct {
	Requests int
	Seen     int
	Missed   float64 // the estimate
	// In nine cases of ten, the number of missed versions is between Missed−Fewer and Missed+More.
	Fewer, More float64
	Blind       int // see [Day.Blind]
}

// Captured returns the estimate for a host, by the model of its wait rule.
//
// The mean m of the missed versions follows from the model. That is off by a factor: by a common one, and by one for
// each URI, whose logarithms are independent. If one URI missed all, Spread is m² and the whole of the second one
// counts; if n URIs missed the same, it is m² ÷ n and the root of n remains. Missed versions are events of a Poisson
// process: their number has the variance of its mean. So the bounds are m divided and multiplied by these factors, and
// 1.645 times the root of each (Johnson, Kemp and Kotz, Univariate Discrete Distributions, 2005, 4.7; one is added
// below the root of the upper one, which is then at least 1.645). A URI that changed at every visit has the likelihood
// (1 − e^−x)^n of x changes between visits, which only grows with x: there is no upper bound (Cho and Garcia-Molina
// 2003, section 4). For those, one version in twenty hides more than twenty others, as if log x were equally likely.
func (d Day) Captured() Captured {
	c := Captured{Requests: d.Requests, Seen: d.Seen, Blind: d.Blind}
	if d.Seen == 0 && d.Versions == 0 {
		return c
	}
	c.Missed = max(d.Versions-float64(d.Seen), 0)
	own := 1.0 // of days that were counted before there was a Spread
	if d.Spread > 0 {
		own = min(math.Sqrt(d.Spread)/c.Missed, 1)
	}
	low, high := c.Missed/math.Exp(common+ownFewer*own), c.Missed*math.Exp(common+ownMore*own)
	c.Fewer = c.Missed - max(low-nineOfTen*math.Sqrt(low), 0)
	c.More = high + nineOfTen*math.Sqrt(high+1) + youngSpread*float64(d.Young) + blindSpread*float64(d.Blind) - c.Missed
	return c
}

// Plus returns the sum of the estimates of two hosts, or of two days. Their errors are independent, apart from the
// common one, see [Captured.Range].
func (c Captured) Plus(o Captured) Captured {
	return Captured{
		Requests: c.Requests + o.Requests, Seen: c.Seen + o.Seen, Missed: c.Missed + o.Missed,
		Fewer: math.Hypot(c.Fewer, o.Fewer), More: math.Hypot(c.More, o.More), Blind: c.Blind + o.Blind,
	}
}

// Versions returns the estimated number of all versions.
func (c Captured) Versions() float64 { return float64(c.Seen) + c.Missed }

// Known reports whether anything bounds the share: a version was seen, most of them of URIs that a visit has also found
// unchanged, and the bounds are not too far apart.
func (c Captured) Known() bool {
	low, high := c.bounds()
	return c.Seen > 0 && 2*c.Blind <= c.Seen && high-low <= maxApart
}

// Share returns the share of the versions that was seen, 0 if it is not known.
func (c Captured) Share() float64 {
	if !c.Known() {
		return 0
	}
	return c.shareIf(c.Missed)
}

// Range returns the bounds of the share in nine cases of ten. They are 0 if the share is not known.
func (c Captured) Range() (low, high float64) {
	if !c.Known() {
		return 0, 0
	}
	return c.bounds()
}

// bounds returns the bounds of the share. However many hosts are summed up, the common error remains.
func (c Captured) bounds() (low, high float64) {
	more := max(c.More, c.Missed*math.Expm1(common))
	fewer := max(c.Fewer, c.Missed*-math.Expm1(-common))
	return c.shareIf(c.Missed + more), c.shareIf(max(c.Missed-fewer, 0))
}

func (c Captured) shareIf(missed float64) float64 {
	if !(missed > 0) {
		return 1
	}
	return float64(c.Seen) / (float64(c.Seen) + missed)
}

// Unknown says why the share is not known; "" if it is known, or if no version was seen.
func (c Captured) Unknown() string {
	switch {
	case c.Seen == 0 || c.Known():
		return ""
	case c.Blind == c.Seen:
		return fmt.Sprintf("not known yet: every visit found a change; at least %s", human.Count(c.Seen, "change"))
	case 2*c.Blind <= c.Seen:
		low, high := c.bounds()
		return fmt.Sprintf("not known yet: between %s and %s %%; at least %s",
			percents(low), percents(high), human.Count(c.Seen, "change"))
	}
	return fmt.Sprintf("not known yet: %d of %d changes are of URIs that changed at every visit; at least %d changes",
		c.Blind, c.Seen, c.Seen)
}

// Percent returns the share and its bounds, for example "82 %, probably 60 to 93 %".
func (c Captured) Percent() string {
	low, high := c.Range()
	return percents(c.Share()) + " %, probably " + percents(low) + " to " + percents(high) + " %"
}

func percents(share float64) string { return strconv.Itoa(int(math.Round(100 * share))) }

// String returns for example "412 changes captured of some 503 (82 %, probably 60 to 93 %), 2.3 requests each".
func (c Captured) String() string {
	switch {
	case c.Seen == 0:
		return fmt.Sprintf("no change captured with %d requests", c.Requests)
	case !c.Known():
		return "captured share " + c.Unknown()
	}
	return fmt.Sprintf("%s captured of some %s (%s), %.1f requests each",
		human.Count(c.Seen, "change"), strconv.FormatFloat(math.Round(c.Versions()), 'f', 0, 64), c.Percent(),
		float64(c.Requests)/float64(c.Seen))
}
