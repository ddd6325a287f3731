package evaluators

import (
	"encoding/binary"
	"fmt"

	"github.com/arcrawl/arcrawl/digest"
)

// Ring holds the last comparison digests of a URI, newest first, each shortened to four bytes. Zero is an empty place.
type Ring [8]uint32

// Push returns the ring with one more digest and without its oldest one. A zero digest changes nothing.
func (r Ring) Push(d digest.Digest) Ring {
	if d.IsZero() {
		return r
	}
	copy(r[1:], r[:len(r)-1])
	r[0] = max(1, binary.BigEndian.Uint32(d[:4]))
	return r
}

// Bytes returns the ring as it is stored, without empty places.
func (r Ring) Bytes() []byte {
	var b []byte
	for _, d := range r {
		if d != 0 {
			b = binary.BigEndian.AppendUint32(b, d)
		}
	}
	return b
}

// RingOf reads the result of [Ring.Bytes]. It ignores surplus bytes and an incomplete digest.
func RingOf(b []byte) (r Ring) {
	for i := range r {
		if len(b) < 4 {
			break
		}
		r[i], b = binary.BigEndian.Uint32(b), b[4:]
	}
	return r
}

// minRing is the minimum number of digests in a restless ring.
const minRing = 5

// Restless returns why a URI seems to differ at every visit: it changed at each of the last visits, or it alternates
// between a few versions. It returns an empty text if neither is true.
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
	case known < minRing:
	case len(seen) <= 3 && changes > len(seen):
		return fmt.Sprintf("goes back and forth between %d versions", len(seen))
	case changes == known-1:
		return fmt.Sprintf("changed at each of the last %d visits", known)
	}
	return ""
}
