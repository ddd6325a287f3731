package rate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
)

// Memory holds what an [Estimator] keeps of a URI from visit to visit: at most 256 bytes, to be stored with the URI.
// Nil is the memory of a new URI. The bytes carry their version. A Memory is never changed.
type Memory []byte

// ErrMemory says that a memory is damaged, or of a version that this program does not know.
var ErrMemory = errors.New("memory of a URI cannot be read")

// Kind returns the class of the URI; zero if the memory does not know it.
func (m Memory) Kind() Kind {
	if len(m) != memorySize || m[0] != memoryVersion {
		return 0
	}
	return Kind(m[2])
}

// The layout is:
//
//	version, quiet visits, kind    1 byte each; to the quiet visits, 16 times a Probe is added
//	last visit                     5 bytes, seconds since 1970
//	age                            32-bit float, seconds
//	the belief that never fades and the one of the logarithmic age, pairs of 32-bit floats
//	the other beliefs, the weights, the cells and parts of the clock, 16-bit numbers
//
// All numbers are big-endian. The number 1 belonged to a layout from before the first release.
const (
	memoryVersion = 2
	memoryHead    = 1 + 1 + 1 + 5 + 4
	fadingBeliefs = len(horizons) - 1 + len(stageHorizons)*stages
	memorySize    = memoryHead + 2*8 + fadingBeliefs*4 + weights*2 + clockCells*4 + hourParts*4
)

// noVisit is the time of the last visit in a memory without a judged visit. It is 17,000 years before 1970.
const noVisit = -(1 << 39)

// Memory returns the state to store until the next visit.
func (r *Estimator) Memory() Memory {
	p := packer{bytes: make([]byte, 0, memorySize)}
	last := int64(noVisit)
	if !r.last.IsZero() {
		last = min(max(r.last.Unix(), noVisit+1), 1<<39-1)
	}
	p.dice = uint64(last)
	p.bytes = append(p.bytes, memoryVersion, byte(r.quietVisits), byte(r.kind), byte(last>>32))
	p.bytes = binary.BigEndian.AppendUint32(p.bytes, uint32(last))
	p.float(r.age)
	for _, g := range r.lasting() {
		p.float(g.shape)
		p.float(g.exposure)
	}
	for _, g := range r.fading() {
		p.number(wide(g.shape))
		p.number(wide(g.exposure))
	}
	for _, w := range r.weight {
		p.number(w / minWeight * math.MaxUint16)
	}
	if r.clockBytes != nil {
		return append(p.bytes, r.clockBytes...)
	}
	for _, all := range [2][]belief{r.clock.cells[:], r.clock.parts[:]} {
		for _, cell := range all {
			p.number(small(cell.shape))
			p.number(small(cell.exposure))
		}
	}
	return p.bytes
}

// packer writes numbers.
type packer struct {
	bytes []byte
	dice  uint64
}

func (p *packer) float(x float64) {
	p.bytes = binary.BigEndian.AppendUint32(p.bytes, math.Float32bits(float32(x)))
}

// number writes a number from 0 to 65535. It is rounded up or down at random, seeded by the time of the visit.
// Rounded to the nearest, a number that changes by less than a step at each visit would never change.
func (p *packer) number(x float64) {
	p.dice = p.dice*6364136223846793005 + 1442695040888963407 // the generator of Knuth's MMIX
	if x < 0 {
		x = 0
	} else if x > math.MaxUint16 {
		x = math.MaxUint16
	}
	whole := int64(x + 0.5)
	if math.Abs(x-float64(whole)) > 1e-6 { // otherwise the number has not changed since it was read
		whole = min(int64(x+float64(int64(p.dice>>11))/(1<<53)), math.MaxUint16)
	}
	p.bytes = binary.BigEndian.AppendUint16(p.bytes, uint16(whole))
}

// lasting returns the beliefs in which small changes add up for years.
func (r *Estimator) lasting() [2]*belief { return [2]*belief{&r.rates[len(horizons)-1], &r.aged} }

// fading returns the other beliefs.
func (r *Estimator) fading() [fadingBeliefs]*belief {
	var all [fadingBeliefs]*belief
	n := 0
	for i := range len(horizons) - 1 {
		all[n] = &r.rates[i]
		n++
	}
	for i := range r.staged {
		for k := range r.staged[i] {
			all[n] = &r.staged[i][k]
			n++
		}
	}
	return all
}

// unpacker reads numbers. It panics at the end of the bytes.
type unpacker struct {
	bytes  []byte
	larges []float64 // the result of larges
	sound  bool      // false once a belief was impossible
}

func (u *unpacker) float() float64 {
	x := float64(math.Float32frombits(binary.BigEndian.Uint32(u.bytes)))
	u.bytes = u.bytes[4:]
	return x
}

func (u *unpacker) number() float64 {
	x := float64(binary.BigEndian.Uint16(u.bytes))
	u.bytes = u.bytes[2:]
	return x
}

// wide and small read numbers that the functions wide and small have packed.
func (u *unpacker) wide() float64 { return narrow(u.number()) }

func (u *unpacker) small() float64 {
	n := binary.BigEndian.Uint16(u.bytes)
	u.bytes = u.bytes[2:]
	if n < knownLarge {
		return u.larges[n]
	}
	return large(float64(n))
}

func (u *unpacker) belief(shape, exposure float64) belief {
	g := belief{shape, exposure}
	u.sound = u.sound && g.sound()
	return g
}

// Open reads a memory. If that fails, r is the estimator of a new URI.
func (r *Estimator) Open(m Memory) error {
	r.reset()
	if len(m) == 0 {
		return nil
	}
	if m[0] != memoryVersion || len(m) != memorySize || m[1]%probeUnit >= stages {
		return fmt.Errorf("%w: unknown version %d with %d bytes", ErrMemory, m[0], len(m))
	}
	r.quietVisits = int(m[1] % probeUnit)
	u := unpacker{bytes: m[2:], sound: true, larges: larges()}
	u.read(r)
	if !u.sound || math.IsNaN(r.age) || math.IsInf(r.age, 0) {
		r.reset()
		return fmt.Errorf("%w: a number is out of range", ErrMemory)
	}
	return nil
}

// read reads the bytes after the quiet visits.
func (u *unpacker) read(r *Estimator) {
	r.kind = Kind(u.bytes[0])
	last := int64(int8(u.bytes[1]))<<32 | int64(binary.BigEndian.Uint32(u.bytes[2:]))
	if last != noVisit {
		r.last = time.Unix(last, 0).UTC()
	}
	u.bytes = u.bytes[6:]
	r.age = u.float()
	for _, g := range r.lasting() {
		*g = u.belief(u.float(), u.float())
	}
	for _, g := range r.fading() {
		*g = u.belief(u.wide(), u.wide())
	}
	u.weights(r)
	r.clockBytes = u.bytes
	u.cells(r.clock.cells[:])
	u.cells(r.clock.parts[:])
}

func (u *unpacker) weights(r *Estimator) {
	for i := range r.weight {
		r.weight[i] = u.number() / math.MaxUint16 * minWeight
	}
}

func (u *unpacker) cells(all []belief) {
	for i := range all {
		all[i] = belief{u.small(), u.small()}
	}
}

// small and large pack a number from 0 to about 4·10⁹ into 16 bits and unpack it, to about 3 parts in 10,000.
func small(x float64) float64 { return math.Log1p(max(x, 0)) * (2048 / math.Ln2) }

func large(u float64) float64 { return math.Expm1(u * (math.Ln2 / 2048)) }

// larges returns a table of large for the numbers below knownLarge, whose results are up to about 65,000. Each visit
// reads 86 of them for the clock.
var larges = sync.OnceValue(func() []float64 {
	all := make([]float64, knownLarge)
	for i := range all {
		all[i] = large(float64(i))
	}
	return all
})

const knownLarge = 1 << 15

// wide and narrow pack a number between the bounds of beliefs into 16 bits and unpack it, to about 6 parts in 10,000.
func wide(x float64) float64 { return math.Log(x/minBelief) * (wideStep / math.Ln2) }

func narrow(u float64) float64 { return minBelief * math.Exp(u*(math.Ln2/wideStep)) }

const wideStep = 1090 // 2^(65535/1090) is a little more than maxBelief ÷ minBelief
