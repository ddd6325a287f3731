package rate

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
	"time"
)

// Probes counts the probes of a crawl. A probe is a visit at a random time before the page is due; the page is then
// visited when it was due as well. If both visits find a change, the wait hid a version. How often that happens says
// what share of the versions the crawl captures, however their changes are distributed. The zero value is the count of
// a new crawl. Nothing is known about versions that are current for less than the shortest wait.
type Probes struct {
	Expected float64 // pairs that should find two changes, if the crawl captured its target without a factor
	Found    float64 // pairs that found two changes; early ones count less, see [Probes.Pair]
}

const (
	// hiddenTwice is the number of missed versions for each one that follows from a pair if changes come at random. Pages
	// that change in bursts often change several times between the two visits of a pair. It was chosen on one half of the
	// recorded histories.
	hiddenTwice = 1.15

	priorProbes = 2.0   // pairs with two changes that count as found before the first probe
	maxProbes   = 400.0 // pairs above which older ones count less
	maxFactor   = 4.0

	usualProbes = 0.01  // share of the waits in the long run
	firstProbes = 0.05  // share in addition at the beginning
	enough      = 200.0 // pairs with two changes, from which on there is no addition
)

// Plus returns the sum of both. Older pairs fade if there are many.
func (p Probes) Plus(o Probes) Probes {
	p.Expected += o.Expected
	p.Found += o.Found
	if most := max(p.Expected, p.Found); most > maxProbes {
		p.Expected, p.Found = p.Expected*maxProbes/most, p.Found*maxProbes/most
	}
	return p
}

// Sound reports whether both numbers are possible.
func (p Probes) Sound() bool {
	return p.Expected >= 0 && p.Expected <= maxProbes && p.Found >= 0 && p.Found <= maxProbes
}

// Factor returns the factor of the number of changes to wait for, so that the crawl captures its target.
func (p Probes) Factor() float64 {
	return min(max((p.Expected+priorProbes)/(p.Found+priorProbes), 1/maxFactor), maxFactor)
}

// Pair returns the count of the pair of visits that the visit after a probe ends, for a capture target. changed says
// that this visit found a change. The count is zero if neither found one. The more waits are cut, the less each pair
// counts: a crawl makes most probes at its beginning, when it knows least about its pages.
func (p Probes) Pair(target float64, after Probe, changed bool) Probes {
	before, part := after.ended()
	if !before && !changed {
		return Probes{}
	}
	weight := usualProbes / p.share()
	one := Probes{Expected: weight * p.Factor() * bothChanged(Expected(1/(1+(1/target-1)/hiddenTwice)), part)}
	if before && changed {
		one.Found = weight
	}
	return one
}

// bothChanged returns the probability that both visits of a pair find a change, given that one does. x is the number of
// changes expected in the whole wait, and the probe is made after a part of it.
func bothChanged(x, part float64) float64 {
	return math.Expm1(-x*part) * math.Expm1(-x*(1-part)) / -math.Expm1(-x)
}

// share returns the share of the waits that are cut for a probe.
func (p Probes) share() float64 { return usualProbes + firstProbes*max(1-p.Found/enough, 0) }

// Cut returns the wait until a probe, and whether there is one. m is the memory after the visit, which decides at
// random. Neither this wait nor the one after the probe is shorter than shortest.
func (p Probes) Cut(m Memory, whole, shortest time.Duration) (time.Duration, bool) {
	chance, part := m.dice()
	if whole < 2*shortest || chance >= p.share() {
		return whole, false
	}
	return shortest + time.Duration(part*float64(whole-2*shortest)), true
}

// Whole is the reverse of [Probes.Cut]: it returns the wait that was cut.
func Whole(m Memory, cut, shortest time.Duration) time.Duration {
	_, part := m.dice()
	return 2*shortest + time.Duration(float64(max(cut-shortest, 0))/part)
}

// dice returns two random numbers that follow from the bytes of a memory, from 0 to 1 and from 0.02 to 0.98.
func (m Memory) dice() (chance, part float64) {
	hash := fnv.New64a()
	_, _ = hash.Write(m[min(len(m), kindEnd):]) // never fails
	n := mixed(hash.Sum64())
	return float64(n>>32) / (1 << 32), 0.02 + 0.96*float64(uint32(n))/(1<<32)
}

// mixed distributes the bits of a hash: the finalizer of MurmurHash3.
func mixed(n uint64) uint64 {
	n = (n ^ n>>33) * 0xff51afd7ed558ccd
	n = (n ^ n>>33) * 0xc4ceb9fe1a85ec53
	return n ^ n>>33
}

// Probe says what the next visit of a URI is. The numbers are stored: do not change or reuse them. From 2 on it is the
// visit after a probe that found no change, and from 9 on after one that found a change. The numbers in between say
// after which part of the wait the probe was made, in sevenths.
type Probe uint8

// The visits.
const (
	NoProbe      Probe = iota // a usual visit
	ProbeNext                 // a probe
	afterSame                 // the visit after a probe that found no change
	afterChanged = afterSame + probeParts

	probeParts = 7
)

// After returns the visit after a probe that was made after a part of the wait.
func After(changed bool, part float64) Probe {
	p := Probe(min(max(part, 0)*probeParts, probeParts-1))
	if changed {
		return afterChanged + p
	}
	return afterSame + p
}

// ended returns what [After] was made from.
func (p Probe) ended() (changed bool, part float64) {
	if changed = p >= afterChanged; changed {
		p -= probeParts
	}
	return changed, (float64(p-afterSame) + 0.5) / probeParts
}

// Probe returns what the next visit of the URI is.
func (m Memory) Probe() Probe {
	if len(m) != memorySize {
		return NoProbe
	}
	return Probe(m[1] / probeUnit)
}

// Marked returns the memory of a URI whose next visit is p.
func (m Memory) Marked(p Probe) Memory {
	if len(m) != memorySize || m.Probe() == p {
		return m
	}
	m = slices.Clone(m)
	m[1] = m[1]%probeUnit + byte(p)*probeUnit
	return m
}

const (
	probeUnit = 16 // factor of a [Probe] in the byte of a memory that also has the number of quiet visits
	kindEnd   = 3  // the bytes from here on follow from the visits and changes alone
)

// Passed returns the time since the last judged visit; zero if there was none.
func (m Memory) Passed(now time.Time) time.Duration {
	if len(m) != memorySize {
		return 0
	}
	last := int64(int8(m[3]))<<32 | int64(binary.BigEndian.Uint32(m[4:]))
	if last == noVisit {
		return 0
	}
	return now.Sub(time.Unix(last, 0))
}
