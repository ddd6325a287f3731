package evaluators

import (
	"math"
	"time"
)

// Price is what a visit to a host costs when there are too few of them: by how much all waits that follow from a capture
// target are stretched, so that the pace of the host carries them. It is the multiplier of Lagrange of the host's slots,
// expressed in waits: with it the same number of changes is expected at each visit, but for each target in proportion. Half
// as many visits again are asked for as the host can carry, so that URIs come some half of their interval late, and which of
// them goes first is a choice; in a queue that is never crowded slots would idle. Its zero value is a host of which nothing is known.
type Price struct {
	asked, rigid float64 // visits a day that the waits ask for: those that follow from a target, before stretching, and the others
	pace         float64 // seconds of a slot that a visit takes with the rest after it, a mean that forgets; 0 is not known
	other        float64 // share of the visits that no wait asked for, the same: first visits, robots.txt, failures
}

const (
	priceForgets = 0.02 // weight of the last visit in the means
	priceAsks    = 1.5  // of what the pace allows is asked for: so there is always something due to choose from, and no slot idles
	leastForWait = 0.1  // share of the pace that is left to stretched waits, whatever else there is
	priceStarts  = 1.02 // a price below is none
	mostStretch  = 1000
)

// Asks adds visits a day that the waits of URIs ask for, or takes them away again if they are less than zero. Elastic are those
// that follow from a target, as they were before they were stretched.
func (p *Price) Asks(perDay float64, elastic bool) {
	if elastic {
		p.asked = max(p.asked+perDay, 0)
	} else {
		p.rigid = max(p.rigid+perDay, 0)
	}
}

// Demand is how many visits a day a URI asks for that waits so long, before it was stretched, and of which so many changes a day
// are expected, and whether that is elastic: only rules that follow a target expect a number of changes. See [Price.Asks].
func Demand(wait time.Duration, changesPerDay float64) (perDay float64, elastic bool) {
	if wait <= 0 {
		return 0, false
	}
	return 24 / wait.Hours(), changesPerDay > 0
}

// Forget drops what the waits ask for, to be counted anew.
func (p *Price) Forget() { p.asked, p.rigid = 0, 0 }

// Join adds what the waits of other URIs ask for.
func (p *Price) Join(o *Price) { p.asked, p.rigid = p.asked+o.asked, p.rigid+o.rigid }

// Visit takes in that a visit and the rest after it took so long, and whether a wait had asked for it.
func (p *Price) Visit(took time.Duration, asked bool) {
	other := 1.0
	if asked {
		other = 0
	}
	if p.pace == 0 {
		p.pace = took.Seconds() // what comes first is not usual: nothing follows from it for other
		return
	}
	p.pace += priceForgets * (took.Seconds() - p.pace)
	p.other += priceForgets * (other - p.other)
}

// Stretch is by how much waits that follow from a target are stretched on a host with so many slots: 1 or more. Usual is how
// long a visit takes with the rest after it, for as long as none was made.
func (p *Price) Stretch(slots int, usual time.Duration) float64 {
	pace := p.pace
	if pace == 0 {
		pace = usual.Seconds()
	}
	if !(pace > 0) {
		return 1
	}
	possible := float64(max(slots, 1)) * secondsPerDay / pace
	left := priceAsks * max(possible*(1-p.other)-p.rigid, possible*leastForWait)
	s := math.Min(p.asked/left, mostStretch)
	if !(s > priceStarts) {
		return 1
	}
	return s
}
