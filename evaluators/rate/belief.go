package rate

import "math"

// belief is a Gamma distribution of a rate of change. Its mean is shape ÷ exposure.
type belief struct{ shape, exposure float64 }

func (b belief) mean() float64 { return b.shape / b.exposure }

// logNoChange returns the logarithm of the probability that nothing changes over an exposure, according to the belief.
func (b belief) logNoChange(exposure float64) float64 {
	return b.shape * math.Log(b.exposure/(b.exposure+exposure))
}

const (
	minProbability = 1e-9
	minLogCount    = -60.0 // the smallest logarithm of the probability of a count; smaller ones count as impossible
)

// after returns the belief after a visit, and the logarithm of the probability that the belief had predicted for the
// outcome. Without a change the exposure grows, which is exact. With a change, at least one event fell into the
// exposure: the result has the mean and the variance of the rate under that condition.
func (b belief) after(exposure float64, changed bool) (belief, float64) {
	logNoChange := b.logNoChange(exposure)
	s, e, longer := b.shape, b.exposure, b.exposure+exposure
	if !changed {
		return belief{s, longer}.bounded(), logNoChange
	}
	noChange := math.Exp(logNoChange)
	if 1-noChange < minProbability { // the exposure is so short that the change says everything
		return belief{s + 1, longer}.bounded(), math.Log(minProbability)
	}
	first := (s/e - noChange*s/longer) / (1 - noChange)
	second := (s*(s+1)/(e*e) - noChange*s*(s+1)/(longer*longer)) / (1 - noChange)
	variance := max(second-first*first, 1e-12*first*first)
	return belief{first * first / variance, first / variance}.bounded(), math.Log(1 - noChange)
}

// afterDated is after for a visit that found a change and knows when the last change was: sinceChange is the exposure
// since then. The rest of the exposure is ignored. The probability is the density at that moment times the exposure.
func (b belief) afterDated(exposure, sinceChange float64) (belief, float64) {
	atMoment := math.Log(max(exposure*b.shape/(b.exposure+sinceChange), minProbability)) + b.logNoChange(sinceChange)
	return belief{b.shape + 1, b.exposure + sinceChange}.bounded(), atMoment
}

// afterCount is after for a visit that knows the number of changes, which is exact. Under a Gamma belief the number of
// changes is distributed as a negative binomial.
func (b belief) afterCount(exposure, changes float64) (belief, float64) {
	longer := b.exposure + exposure
	to, _ := math.Lgamma(b.shape + changes)
	from, _ := math.Lgamma(b.shape)
	ways, _ := math.Lgamma(changes + 1)
	likely := to - from - ways + b.shape*math.Log(b.exposure/longer) + changes*math.Log(exposure/longer)
	return belief{b.shape + changes, longer}.bounded(), max(likely, minLogCount)
}

// faded moves the belief towards another one, which has the share 1−kept of the result.
func (b belief) faded(to belief, kept float64) belief {
	return belief{to.shape + (b.shape-to.shape)*kept, to.exposure + (b.exposure-to.exposure)*kept}
}

// The bounds of a belief's numbers.
const minBelief, maxBelief = 1e-9, 1e9

// sound reports whether both numbers are within the bounds.
func (b belief) sound() bool {
	return b.shape >= minBelief && b.shape <= maxBelief && b.exposure >= minBelief && b.exposure <= maxBelief
}

func (b belief) bounded() belief {
	return belief{
		min(max(b.shape, 2*minBelief), maxBelief/2),
		min(max(b.exposure, 2*minBelief), maxBelief/2),
	}
}
