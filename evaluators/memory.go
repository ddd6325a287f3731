package evaluators

import (
	"errors"
	"math"
	"time"
)

// Memory is what the rule [Learned] keeps of a URI from visit to visit: at most [MaxMemory] bytes, to be stored with
// the URI and handed in again as they are. Nil is a URI of which nothing is known. The bytes carry their version; what
// is given back is always new, what was handed in is never written to.
type Memory []byte

// MaxMemory bounds the bytes of a [Memory].
const MaxMemory = 256

// ErrMemory is a memory that is damaged, or of a version that this program does not know.
var ErrMemory = errors.New("memory of a URI cannot be read")

// Check reports whether the memory can be read; nil can. [Stack.Next] takes one that cannot as nil, and says so in its
// reason.
func (m Memory) Check() error {
	var r remembered
	return r.open(m)
}

// Kind is the class of the URI that the memory is of; zero if it does not know.
func (m Memory) Kind() Kind {
	if len(m) != memorySize || m[0] != memoryVersion {
		return 0
	}
	return Kind(m[2])
}

// belief is a Gamma distribution of a rate of change; its mean is shape ÷ exposure.
type belief struct{ shape, exposure float64 }

func (b belief) mean() float64 { return b.shape / b.exposure }

// quiet is the logarithm of the probability that nothing changes over an exposure, according to the belief.
func (b belief) quiet(exposure float64) float64 {
	return b.shape * math.Log(b.exposure/(b.exposure+exposure))
}

const leastLikely = 1e-9

// after is the belief after a visit, and the logarithm of the probability that it had given to what was seen. Without
// a change the exposure grows, which is exact. With one, at least one event fell into the exposure: the result has the
// mean and the variance that the rate has given that.
func (b belief) after(exposure float64, changed bool) (belief, float64) {
	logQuiet := b.quiet(exposure)
	s, e, longer := b.shape, b.exposure, b.exposure+exposure
	if !changed {
		return belief{s, longer}.bounded(), logQuiet
	}
	quiet := math.Exp(logQuiet)
	if 1-quiet < leastLikely { // so short a time that the change says everything
		return belief{s + 1, longer}.bounded(), math.Log(leastLikely)
	}
	first := (s/e - quiet*s/longer) / (1 - quiet)
	second := (s*(s+1)/(e*e) - quiet*s*(s+1)/(longer*longer)) / (1 - quiet)
	spread := max(second-first*first, 1e-12*first*first)
	return belief{first * first / spread, first / spread}.bounded(), math.Log(1 - quiet)
}

// faded moves the belief towards another one, of which a share of 1−kept is then in it.
func (b belief) faded(to belief, kept float64) belief {
	return belief{to.shape + (b.shape-to.shape)*kept, to.exposure + (b.exposure-to.exposure)*kept}
}

// exactly is the same after a visit that found a change and knows when the last one was: what the exposure since then was. What
// was before in the exposure is not known. The probability is that of the moment, taken so many times as the exposure is long.
func (b belief) exactly(exposure, quiet float64) (belief, float64) {
	moment := math.Log(max(exposure*b.shape/(b.exposure+quiet), leastLikely)) + b.quiet(quiet)
	return belief{b.shape + 1, b.exposure + quiet}.bounded(), moment
}

// remembered is an opened memory.
type remembered struct {
	last   time.Time                // the last visit that was judged; zero: none
	age    float64                  // seconds since birth at that visit; below zero: unknown
	kind   Kind                     // of which it is; zero: not counted among its relatives
	misses int                      // judged visits since the last change, counted up to the last stage
	rates  [len(horizons)]belief    // one for each horizon
	staged [len(stagings)][3]belief // one for each stage: after a change, after one quiet visit, after more
	aged   belief                   // counts in logarithmic age
	weight [experts]float64         // logarithms, the best is 0: rates, staged, aged
	clock  clock
	told   Rhythm  // by the last visit
	quiet  float64 // exposure since the change that the visit found; zero if it is not known when that was

	clockBytes []byte  // of which clock was read, as long as nothing was learned since; nil if there are none
	profile    profile // of clock, if it is known
	profiled   bool

	counted int         // changes that the visit found; zero if it is not known how many
	moments []time.Time // when those were, if that is known
}

const (
	stages    = 3
	usualRate = 3 // index of the horizon that tells what is usual
	experts   = len(horizons) + len(stagings) + 1
	agedIndex = experts - 1
)

// forget makes it the memory of a URI of which nothing is known.
func (r *remembered) forget() {
	*r = remembered{age: -1, aged: agePrior}
	for i := range r.rates {
		r.rates[i] = ratePrior
	}
	for i := range r.staged {
		for k := range r.staged[i] {
			r.staged[i][k] = ratePrior
		}
	}
}

// habits are what the clock has learned.
func (r *remembered) habits() *profile {
	if !r.profiled {
		r.clock.profile(&r.profile)
		r.profiled = true
	}
	return &r.profile
}

// The bounds of a belief's numbers. What grows beyond them says no more.
const leastBelief, mostBelief = 1e-9, 1e9

func (b belief) sound() bool {
	return b.shape >= leastBelief && b.shape <= mostBelief && b.exposure >= leastBelief && b.exposure <= mostBelief
}

func (b belief) bounded() belief {
	return belief{
		min(max(b.shape, 2*leastBelief), mostBelief/2),
		min(max(b.exposure, 2*leastBelief), mostBelief/2),
	}
}
