package frontier

import (
	"bytes"
	"encoding/binary"
)

// place is where a URI is in the queue of its host: its due time in ms, then its fingerprint. Places compare as
// bytes. The zero place means no place, since no URI is due at 0.
type place [placeLen]byte

// lastPlace is above all places of URIs; it is the watermark of an empty queue.
var lastPlace = place(bytes.Repeat([]byte{0xff}, placeLen))

func newPlace(due int64, fp fingerprint) place {
	if due <= 0 {
		return place{}
	}
	var at place
	binary.BigEndian.PutUint64(at[:8], uint64(due))
	copy(at[8:], fp[:])
	return at
}

func (p place) isNone() bool        { return p == place{} }
func (p place) due() int64          { return int64(binary.BigEndian.Uint64(p[:8])) }
func (p place) fp() fingerprint     { return fingerprint(p[8:]) }
func (p place) compare(q place) int { return bytes.Compare(p[:], q[:]) }
func (p place) before(q place) bool { return p.compare(q) < 0 }

// earlierPlace returns the lower one of two places, either of which may be zero.
func earlierPlace(p, q place) place {
	if p.isNone() || !q.isNone() && q.before(p) {
		return q
	}
	return p
}

// below returns the place just below p.
func (p place) below() place {
	for i := len(p) - 1; i >= 0; i-- {
		p[i]--
		if p[i] != 0xff {
			return p
		}
	}
	return place{} // there is nothing below the first place
}
