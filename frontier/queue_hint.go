package frontier

import (
	"encoding/binary"
	"math"
)

// A hint is stored at a place in the queue and describes its URI, so that the URIs of a crowd can be compared without
// reading their rows. It is: one byte of flags; two uvarints, the time of the last visit and the wait interval, in ms;
// and the rate, eight bytes big-endian, if there is one. The row is read instead of a hint that cannot be read.
const (
	hintSource = 1 << iota
	hintUrgent
)

// hint returns the hint for the place of the URI with this row.
func (w *uriRow) hint() []byte {
	c := newContender(place{}, w)
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
