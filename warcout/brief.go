package warcout

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
)

// briefLimit is the longest record that [brief] compresses. Requests, metadata and revisits are seldom longer than 1 KiB.
const briefLimit = 4 << 10

const (
	briefHash    = 11  // bits of the table of places
	briefChain   = 2   // earlier places that are looked at for each
	briefShort   = 4   // shortest match
	briefLong    = 130 // longest match; longer ones would need further code lengths in the header of each member
	briefLiteral = 256 // number of literals; the same number ends a block
)

// brief compresses short records of plain ASCII, each into a gzip member with one block (RFC 1951). A general encoder
// makes a Huffman code for each block, which takes several times as long as all the rest for a record of 600 bytes, and
// writes it in front of the block. All these records are alike, so there is one code for them, [briefLengths], chosen so
// that the code and what it codes are short together. It is used by one visit at a time.
type brief struct {
	code  *briefCode
	last  [1 << briefHash]uint16 // place of the last four bytes with this hash, plus one
	prior [briefLimit]uint16     // the place before, with the same hash
	price [briefLimit + 1]uint16 // bits of all literals up to here; RFC 1951 has none over 15
	acc   uint64                 // bits that are not in the member yet
	fill  uint                   // how many
}

// member appends the record as a gzip member. It reports false, and appends nothing, for a record that is not plain ASCII
// or does not get shorter.
func (b *brief) member(dst, raw []byte) ([]byte, bool) {
	if !b.weigh(raw) {
		return dst, false
	}
	from := len(dst)
	dst = append(dst, 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff) // deflate; no name, no time, no system
	dst = append(dst, briefHeader[:len(briefHeader)-1]...)
	b.acc, b.fill = uint64(briefHeader[len(briefHeader)-1]), briefHeaderRest
	clear(b.last[:])
	dst = b.tokens(dst, raw)
	dst = b.put(dst, b.code.literal[briefLiteral])
	for ; b.fill > 0; b.fill -= min(b.fill, 8) {
		dst = append(dst, byte(b.acc))
		b.acc >>= 8
	}
	dst = binary.LittleEndian.AppendUint32(dst, crc32.ChecksumIEEE(raw))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(raw)))
	if len(dst)-from >= len(raw) {
		return dst[:from], false
	}
	return dst, true
}

// weigh adds up what the literals cost, and reports whether all have a code.
func (b *brief) weigh(raw []byte) bool {
	if len(raw) > briefLimit {
		return false
	}
	total := uint16(0)
	for i, c := range raw {
		n := uint16(b.code.literal[c].n)
		if n == 0 {
			return false
		}
		total += n
		b.price[i+1] = total
	}
	return true
}

// tokens writes literals and matches. A match is taken when it saves bits, unless that of the next place saves more.
func (b *brief) tokens(dst, raw []byte) []byte {
	length, distance, saved := b.match(raw, 0)
	for i := 0; i < len(raw); {
		nextLength, nextDistance, nextSaved := b.match(raw, i+1)
		if saved <= 0 || nextSaved > saved {
			dst = b.put(dst, b.code.literal[raw[i]])
			length, distance, saved = nextLength, nextDistance, nextSaved
			i++
			continue
		}
		dst = b.put(dst, b.code.length[length])
		symbol, extra := distanceSymbol(distance)
		dst = b.put(dst, b.code.distance[symbol])
		dst = b.put(dst, bitString{bits: uint32(distance-1) & (1<<extra - 1), n: extra})
		end := i + length
		for i += 2; i < end; i++ {
			b.enter(raw, i)
		}
		length, distance, saved = b.match(raw, i)
	}
	return dst
}

// match finds the match at i that saves most bits, and enters i. It is asked once for each place.
func (b *brief) match(raw []byte, i int) (length, distance, saved int) {
	if i+briefShort > len(raw) {
		return 0, 0, 0
	}
	longest := min(briefLong, len(raw)-i)
	at := b.enter(raw, i)
	four := binary.LittleEndian.Uint32(raw[i:])
	for range briefChain {
		if at == 0 {
			break
		}
		from := int(at) - 1
		at = b.prior[from]
		if binary.LittleEndian.Uint32(raw[from:]) != four {
			continue
		}
		n := briefShort + common(raw[from+briefShort:], raw[i+briefShort:i+longest])
		if n <= length {
			continue
		}
		symbol, extra := distanceSymbol(i - from)
		cost := int(b.code.length[n].n) + int(b.code.distance[symbol].n) + int(extra)
		if gain := int(b.price[i+n]-b.price[i]) - cost; gain > saved {
			length, distance, saved = n, i-from, gain
		}
	}
	return length, distance, saved
}

// enter notes that the four bytes at i are there, and tells where such were before, plus one.
func (b *brief) enter(raw []byte, i int) uint16 {
	if i+briefShort > len(raw) {
		return 0
	}
	h := binary.LittleEndian.Uint32(raw[i:]) * 0x9e3779b1 >> (32 - briefHash)
	before := b.last[h]
	b.prior[i], b.last[h] = before, uint16(i+1)
	return before
}

// common is how many bytes of q p begins with. p begins before q, and is longer.
func common(p, q []byte) int {
	n := 0
	for ; n+8 <= len(q); n += 8 {
		if x := binary.LittleEndian.Uint64(p[n:]) ^ binary.LittleEndian.Uint64(q[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)>>3
		}
	}
	for n < len(q) && p[n] == q[n] {
		n++
	}
	return n
}

// put appends bits to the member.
func (b *brief) put(dst []byte, s bitString) []byte {
	b.acc |= uint64(s.bits) << b.fill
	b.fill += uint(s.n)
	if b.fill >= 32 {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(b.acc))
		b.acc >>= 32
		b.fill -= 32
	}
	return dst
}
