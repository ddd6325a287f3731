package evaluators

import (
	"fmt"
	"math"
	"strconv"

	"github.com/arcrawl/arcrawl/evaluators/rate"
)

// Day counts a host's visits in a day, or in any other period.
type Day struct {
	Requests int
	Seen     int     // versions captured
	Versions float64 // versions that probably appeared by the model of the wait rule, see [Estimate]
	Odds     Odds    // how well that model foresaw what visits found
}

// Plus returns the sum of both.
func (d Day) Plus(o Day) Day {
	return Day{
		Requests: d.Requests + o.Requests, Seen: d.Seen + o.Seen, Versions: d.Versions + o.Versions,
		Odds: d.Odds.Plus(o.Odds),
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

	// missedSpread is the factor by which the number of missed versions is off at most on four hosts of five.
	missedSpread = 3.0
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
	// In four cases of five, the number of missed versions is between Missed−Fewer and Missed+More. Both are zero if
	// that is not known.
	Fewer, More float64
}

// Captured returns the estimate for a host: by the model of its wait rule, corrected by what visits found.
func (d Day) Captured() Captured {
	c := Captured{Requests: d.Requests, Seen: d.Seen}
	c.Missed = max(d.Versions-float64(d.Seen), 0) * d.Odds.correction()
	if d.Odds.Visits > 0 {
		c.Fewer, c.More = c.Missed*(1-1/missedSpread), c.Missed*(missedSpread-1)
	}
	return c
}

// Plus returns the sum of the estimates of two hosts, or of two days. Their errors are independent.
func (c Captured) Plus(o Captured) Captured {
	return Captured{
		Requests: c.Requests + o.Requests, Seen: c.Seen + o.Seen, Missed: c.Missed + o.Missed,
		Fewer: math.Hypot(c.Fewer, o.Fewer), More: math.Hypot(c.More, o.More),
	}
}

// Versions returns the estimated number of all versions.
func (c Captured) Versions() float64 { return float64(c.Seen) + c.Missed }

// Share returns the share of the versions that was seen; 1 if there were no versions.
func (c Captured) Share() float64 { return c.shareIf(c.Missed) }

// Range returns the bounds of the share in four cases of five. ok is false if they are not known.
func (c Captured) Range() (low, high float64, ok bool) {
	return c.shareIf(c.Missed + c.More), c.shareIf(max(c.Missed-c.Fewer, 0)), c.Fewer > 0 && c.Seen > 0
}

func (c Captured) shareIf(missed float64) float64 {
	if !(missed > 0) {
		return 1
	}
	return float64(c.Seen) / (float64(c.Seen) + missed)
}

// Percent returns the share and its bounds, for example "82 %, probably 60 to 93 %".
func (c Captured) Percent() string {
	text := percents(c.Share()) + " %"
	if low, high, ok := c.Range(); ok && percents(low) != percents(high) {
		text += ", probably " + percents(low) + " to " + percents(high) + " %"
	}
	return text
}

func percents(share float64) string { return strconv.Itoa(int(math.Round(100 * share))) }

// String returns for example "412 versions seen of some 503 (82 %, probably 60 to 93 %), 2.3 requests each".
func (c Captured) String() string {
	if c.Seen == 0 {
		return fmt.Sprintf("no version seen with %d requests", c.Requests)
	}
	return fmt.Sprintf("%d versions seen of some %s (%s), %.1f requests each",
		c.Seen, strconv.FormatFloat(math.Round(c.Versions()), 'f', 0, 64), c.Percent(), float64(c.Requests)/float64(c.Seen))
}
