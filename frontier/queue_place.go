package frontier

import (
	"bytes"
	"encoding/binary"
	"math"
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

// A hint is stored at a place in the queue and describes its URI, so that the URIs of a crowd can be compared without
// reading their rows. It is: one byte of flags; two uvarints, the time of the last visit and the wait interval, in ms;
// and the rate, eight bytes big-endian, if there is one. The row is read instead of a hint that cannot be read.
const (
	hintSource = 1 << iota
	hintUrgent
)

// hint returns the hint for the place of the URI with this row.
func (w *uriRow) hint() []byte {
	c := newContender(place{}, w.contender())
	b := make([]byte, 1, 24)
	if c.source {
		b[0] |= hintSource
	}
	if c.urgent {
		b[0] |= hintUrgent
	}
	b = binary.AppendUvarint(b, uint64(max(c.visited, 0)))
	b = binary.AppendUvarint(b, uint64(max(c.wait, 0)))
	if c.rate != 0 {
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(c.rate))
	}
	return b
}

// parseHint returns the contender that a hint describes; ok is false if its row must be read instead.
func parseHint(at place, b []byte) (c contender, ok bool) {
	if len(b) == 0 || b[0]&^(hintSource|hintUrgent) != 0 {
		return c, false
	}
	c = contender{at: at, source: b[0]&hintSource != 0, urgent: b[0]&hintUrgent != 0}
	b = b[1:]
	for _, to := range []*int64{&c.visited, &c.wait} {
		x, n := binary.Uvarint(b)
		if n <= 0 || x > math.MaxInt64 {
			return contender{}, false
		}
		*to, b = int64(x), b[n:]
	}
	switch len(b) {
	case 0:
		return c, true
	case 8:
		c.rate = finite(math.Float64frombits(binary.BigEndian.Uint64(b)))
		return c, true
	}
	return contender{}, false
}
