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
	Odds     Odds    // how well that model foresaw what visits found
	Blind    int     // of Seen, versions of URIs that changed at every visit so far: nothing bounds how many were missed
}

// Plus returns the sum of both.
func (d Day) Plus(o Day) Day {
	return Day{
		Requests: d.Requests + o.Requests, Seen: d.Seen + o.Seen, Versions: d.Versions + o.Versions,
		Odds: d.Odds.Plus(o.Odds), Blind: d.Blind + o.Blind,
	}
}

// VersionsFound estimates how many versions appeared since the visit before, if the last visit found one. visits is the
// number of judged visits, of which the first one found a version too, and versions is how many found one. With p as
// the share of the later visits that did, the result is x ÷ (1 − e^−x) for x = −ln(1 − p), as if changes came at random
// and visits at even intervals. Half a visit with and half a visit without a change are added (Cho and Garcia-Molina
// 2003, see package rate).
func VersionsFound(visits, versions int) float64 {
	later := max(visits, versions, 2) - 1
	x := -math.Log((float64(later-max(versions-1, 0)) + 0.5) / (float64(later) + 0.5))
	return 1 / rate.Captured(x)
}

// BlindIf returns what a captured version adds to [Day.Blind]: 1 if each of the visits of its URI found a version, and
// the URI does not say how many there were.
func BlindIf(visits, versions int, told bool) int {
	if told || versions < visits {
		return 0
	}
	return 1
}

// Odds compares what visits found with what the rule had expected. Only rules that expect something count here.
type Odds struct {
	Visits   int
	Found    int     // visits that found a change
	Again    int     // visits that found a change, as the visit before had done
	Expected float64 // sum of the probabilities of a change
}

// OddsOf returns one visit. probability is what the rule had expected; zero if it had expected nothing.
func OddsOf(probability float64, changed, again bool) (o Odds) {
	if !(probability > 0) {
		return Odds{}
	}
	o = Odds{Visits: 1, Expected: min(probability, 1)}
	if changed {
		o.Found = 1
	}
	if changed && again {
		o.Again = 1
	}
	return o
}

// Plus returns the sum of both.
func (o Odds) Plus(p Odds) Odds {
	return Odds{o.Visits + p.Visits, o.Found + p.Found, o.Again + p.Again, o.Expected + p.Expected}
}

// The constants of the correction were chosen on recorded histories, see docs/scheduling-figures.md.
const (
	oddsPrior                    = 5.0 // visits that found a change, and were foreseen exactly
	minCorrection, maxCorrection = 0.2, 3.0

	// missedSpread is the factor by which the model is off at most, apart from chance.
	missedSpread = 3.0
	// blindSpread is the number of versions that one of [Day.Blind] hides at most.
	blindSpread = 20.0
	// nineOfTen is the number of standard deviations that nine of ten values are within.
	nineOfTen = 1.645
)

// correction returns the factor by which the number of missed versions differs from the model.
//
// Where visits find a change more often than expected, changes come more evenly than the model assumes, so fewer
// versions are missed. Where a change is more likely soon after another one, more are missed.
func (o Odds) correction() float64 {
	if o.Visits == 0 {
		return 1
	}
	found := float64(o.Found) + oddsPrior
	surprise := (o.Expected + oddsPrior) / found
	usual := (float64(o.Found) + 0.5) / (float64(o.Visits) + 1)
	soon := (float64(o.Again) + oddsPrior*usual) / found
	return min(max(surprise*surprise*soon/usual, minCorrection), maxCorrection)
}

// Captured holds how many versions were captured, and estimates of how many were missed.
type Captured struct {
	Requests int
	Seen     int
	Missed   float64 // the estimate
	// In nine cases of ten, the number of missed versions is between Missed−Fewer and Missed+More.
	Fewer, More float64
	Blind       int // see [Day.Blind]
}

// Captured returns the estimate for a host: by the model of its wait rule, corrected by what visits found.
//
// The mean m of the missed versions follows from the model, which is off by [missedSpread] at most. Missed versions are
// events of a Poisson process: their number has the variance of its mean. So the bounds are m ÷ 3 and m × 3, and 1.645
// times the root of each (Johnson, Kemp and Kotz, Univariate Discrete Distributions, 2005, 4.7; one is added below the
// root of the upper one, which is then at least 1.645). A URI that changed at every visit has the likelihood
// (1 − e^−x)^n of x changes between visits, which only grows with x: there is no upper bound (Cho and Garcia-Molina
// 2003, section 4). For those, one version in twenty hides more than twenty others, as if log x were equally likely.
func (d Day) Captured() Captured {
	c := Captured{Requests: d.Requests, Seen: d.Seen, Blind: d.Blind}
	if d.Seen == 0 && d.Versions == 0 {
		return c
	}
	c.Missed = max(d.Versions-float64(d.Seen), 0) * d.Odds.correction()
	low, high := c.Missed/missedSpread, c.Missed*missedSpread
	c.Fewer = c.Missed - max(low-nineOfTen*math.Sqrt(low), 0)
	c.More = high + nineOfTen*math.Sqrt(high+1) + blindSpread*float64(d.Blind) - c.Missed
	return c
}

// Plus returns the sum of the estimates of two hosts, or of two days. Their errors are independent.
func (c Captured) Plus(o Captured) Captured {
	return Captured{
		Requests: c.Requests + o.Requests, Seen: c.Seen + o.Seen, Missed: c.Missed + o.Missed,
		Fewer: math.Hypot(c.Fewer, o.Fewer), More: math.Hypot(c.More, o.More), Blind: c.Blind + o.Blind,
	}
}

// Versions returns the estimated number of all versions.
func (c Captured) Versions() float64 { return float64(c.Seen) + c.Missed }

// Known reports whether anything bounds the share: a version was seen, and most of them of URIs that a visit has also
// found unchanged.
func (c Captured) Known() bool { return c.Seen > 0 && 2*c.Blind <= c.Seen }

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
	return c.shareIf(c.Missed + c.More), c.shareIf(max(c.Missed-c.Fewer, 0))
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
