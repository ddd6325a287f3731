package evaluators

import (
	"encoding/binary"
	"fmt"

	"github.com/arcrawl/arcrawl/digest"
)

// Ring is the last comparison digests of a URI, the newest first, each shortened to four bytes; zero where there is
// none.
type Ring [8]uint32

// Push is the ring with one digest more, without its oldest. A zero digest leaves it as it is.
func (r Ring) Push(d digest.Digest) Ring {
	if d.IsZero() {
		return r
	}
	copy(r[1:], r[:len(r)-1])
	r[0] = max(1, binary.BigEndian.Uint32(d[:4]))
	return r
}

// Bytes is the ring as it is stored, without the places that are empty.
func (r Ring) Bytes() []byte {
	var b []byte
	for _, d := range r {
		if d != 0 {
			b = binary.BigEndian.AppendUint32(b, d)
		}
	}
	return b
}

// RingOf reads what [Ring.Bytes] gives. What is too long or cut is left out.
func RingOf(b []byte) (r Ring) {
	for i := range r {
		if len(b) < 4 {
			break
		}
		r[i], b = binary.BigEndian.Uint32(b), b[4:]
	}
	return r
}

// fewest is how many digests there must be before they say something.
const fewest = 5

// Restless says why a URI looks as if something in it differed at every visit: it changed at each of the last visits,
// or goes back and forth between a few versions. It is empty if neither is so.
func (r Ring) Restless() string {
	seen := map[uint32]bool{}
	known, changes := 0, 0
	for i, d := range r {
		if d == 0 {
			break
		}
		known++
		seen[d] = true
		if i > 0 && d != r[i-1] {
			changes++
		}
	}
	switch {
	case known < fewest:
	case len(seen) <= 3 && changes > len(seen):
		return fmt.Sprintf("goes back and forth between %d versions", len(seen))
	case changes == known-1:
		return fmt.Sprintf("changed at each of the last %d visits", known)
	}
	return ""
}
