package evaluators

import (
	"encoding/binary"
	"errors"
	"fmt"
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
	_, err := m.open()
	return err
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
	spread := math.Max(second-first*first, 1e-12*first*first)
	return belief{first * first / spread, first / spread}.bounded(), math.Log(1 - quiet)
}

// faded moves the belief towards another one, of which a share of 1−kept is then in it.
func (b belief) faded(to belief, kept float64) belief {
	return belief{to.shape + (b.shape-to.shape)*kept, to.exposure + (b.exposure-to.exposure)*kept}
}

// remembered is an opened memory.
type remembered struct {
	last   time.Time                // the last visit that was judged; zero: none
	age    float64                  // seconds since birth at that visit; below zero: unknown
	misses int                      // judged visits since the last change, counted up to the last stage
	rates  [len(horizons)]belief    // one for each horizon
	staged [len(stagings)][3]belief // one for each stage: after a change, after one quiet visit, after more
	aged   belief                   // counts in logarithmic age
	weight [experts]float64         // logarithms, the best is 0: rates, staged, aged
	clock  clock
}

const (
	stages    = 3
	experts   = len(horizons) + len(stagings) + 1
	agedIndex = experts - 1
)

func newRemembered() remembered {
	r := remembered{age: -1, aged: agePrior}
	for i := range r.rates {
		r.rates[i] = ratePrior
	}
	for i := range r.staged {
		for k := range r.staged[i] {
			r.staged[i][k] = ratePrior
		}
	}
	return r
}

// The layout is: version, misses, last visit in seconds since 1970 (8 bytes), age in seconds (4), the beliefs as pairs of
// 32-bit floats, the weights and the clock as 16-bit numbers. All numbers are big-endian.
const (
	memoryVersion = 1
	beliefs       = len(horizons) + len(stagings)*stages + 1
	memorySize    = 1 + 1 + 8 + 4 + beliefs*8 + experts*2 + clockCells*2*2
)

// noVisit stands for a memory without a judged visit.
const noVisit = math.MinInt64

// pack writes a memory.
func (r *remembered) pack() Memory {
	b := make([]byte, 0, memorySize)
	b = append(b, memoryVersion, byte(r.misses))
	last := int64(noVisit)
	if !r.last.IsZero() {
		last = r.last.Unix()
	}
	b = binary.BigEndian.AppendUint64(b, uint64(last))
	b = binary.BigEndian.AppendUint32(b, math.Float32bits(float32(r.age)))
	for _, g := range r.beliefs() {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(float32(g.shape)))
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(float32(g.exposure)))
	}
	for _, w := range r.weight {
		b = binary.BigEndian.AppendUint16(b, uint16(math.Round(-w/weightFloor*math.MaxUint16)))
	}
	for i := range r.clock {
		b = binary.BigEndian.AppendUint16(b, small(r.clock[i].shape))
		b = binary.BigEndian.AppendUint16(b, small(r.clock[i].exposure))
	}
	return b
}

// beliefs lists all beliefs of rates in the order of the layout.
func (r *remembered) beliefs() [beliefs]*belief {
	var all [beliefs]*belief
	n := 0
	for i := range r.rates {
		all[n] = &r.rates[i]
		n++
	}
	for i := range r.staged {
		for k := range r.staged[i] {
			all[n] = &r.staged[i][k]
			n++
		}
	}
	all[n] = &r.aged
	return all
}

// open reads a memory.
func (m Memory) open() (remembered, error) {
	r := newRemembered()
	if len(m) == 0 {
		return r, nil
	}
	if m[0] != memoryVersion || len(m) != memorySize || m[1] >= stages {
		return r, fmt.Errorf("%w: version %d, %d bytes", ErrMemory, m[0], len(m))
	}
	r.misses = int(m[1])
	if last := int64(binary.BigEndian.Uint64(m[2:])); last != noVisit {
		r.last = time.Unix(last, 0).UTC()
	}
	r.age = float64(math.Float32frombits(binary.BigEndian.Uint32(m[10:])))
	at := 14
	sound := !math.IsNaN(r.age) && !math.IsInf(r.age, 0)
	for _, g := range r.beliefs() {
		g.shape = float64(math.Float32frombits(binary.BigEndian.Uint32(m[at:])))
		g.exposure = float64(math.Float32frombits(binary.BigEndian.Uint32(m[at+4:])))
		sound = sound && g.sound()
		at += 8
	}
	if !sound {
		return newRemembered(), fmt.Errorf("%w: a number in it is impossible", ErrMemory)
	}
	for i := range r.weight {
		r.weight[i] = -float64(binary.BigEndian.Uint16(m[at:])) / math.MaxUint16 * weightFloor
		at += 2
	}
	for i := range r.clock {
		r.clock[i] = belief{large(binary.BigEndian.Uint16(m[at:])), large(binary.BigEndian.Uint16(m[at+2:]))}
		at += 4
	}
	return r, nil
}

// The bounds of a belief's numbers. What grows beyond them says no more.
const leastBelief, mostBelief = 1e-9, 1e9

func (b belief) sound() bool {
	return b.shape >= leastBelief && b.shape <= mostBelief && b.exposure >= leastBelief && b.exposure <= mostBelief
}

func (b belief) bounded() belief {
	return belief{
		math.Min(math.Max(b.shape, 2*leastBelief), mostBelief/2),
		math.Min(math.Max(b.exposure, 2*leastBelief), mostBelief/2),
	}
}

// small and large keep a number from 0 to some 4·10⁹ in 16 bits, to about 3 parts in 10,000.
func small(x float64) uint16 {
	return uint16(math.Min(math.Round(math.Log2(1+math.Max(x, 0))*2048), math.MaxUint16))
}

func large(u uint16) float64 { return math.Exp2(float64(u)/2048) - 1 }
