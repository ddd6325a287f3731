package warcout

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"slices"
)

// briefLimit is the longest record that [brief] compresses. Requests, metadata and revisits are rarely longer than 1
// KiB.
const briefLimit = 4 << 10

const (
	briefHash    = 11  // bits of the table of places
	briefShort   = 4   // shortest match
	briefLong    = 130 // longest match; longer ones would need further code lengths in the header of each member
	briefLiteral = 256 // number of literals, and the symbol that ends a block
	briefSlack   = 32  // more bytes than the end of a block takes, with the bytes written beyond it
)

// brief compresses short records of plain ASCII, each into a gzip member with one block (RFC 1951). A general encoder
// makes a Huffman code for each block and writes it before the block. For a record of 600 bytes that takes several
// times as long as all the rest. These records are alike, so they share one code, [briefLengths], chosen so that the
// code and the coded text are short together. One visit uses a brief at a time.
type brief struct {
	code  *briefCode
	last  [1 << briefHash]uint16 // the last position of four bytes with this hash; 0 if none
	price [briefLimit + 1]uint16 // bits of all literals up to here; a literal has at most 15
}

// member appends the record as a gzip member. It reports false, and appends nothing, for a record that is not plain
// ASCII or does not get shorter.
func (b *brief) member(dst, raw []byte) ([]byte, bool) {
	if !b.measure(raw) {
		return dst, false
	}
	from := len(dst)
	dst = append(dst, 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff) // deflate; no name, no time, no system
	dst = append(dst, briefHeader[:len(briefHeader)-1]...)
	dst = b.block(dst, raw)
	dst = binary.LittleEndian.AppendUint32(dst, crc32.ChecksumIEEE(raw))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(raw)))
	if len(dst)-from >= len(raw) {
		return dst[:from], false
	}
	return dst, true
}

// measure sums up the bits of the literals, and reports whether all have a code.
func (b *brief) measure(raw []byte) bool {
	if len(raw) > briefLimit {
		return false
	}
	total, missing := uint16(0), uint16(0)
	price := b.price[1 : len(raw)+1]
	for i, c := range raw {
		n := uint16(b.code.literal[c].n)
		missing |= n - 1 // sets the highest bit if there is no code; a branch for each byte would take longer
		total += n
		price[i] = total
	}
	return missing < 1<<15
}

// block appends the rest of the block after its header. For each position it looks at the last one with the same hash.
// It extends a match to both sides, and uses it if it saves bits. So the result is never longer than the literals
// alone.
func (b *brief) block(dst, raw []byte) []byte {
	n := len(dst)
	dst = slices.Grow(dst, int(b.price[len(raw)])/8+briefSlack)
	dst = dst[:cap(dst)]
	left := unwritten{uint64(briefHeader[len(briefHeader)-1]), briefHeaderRest}
	clear(b.last[:])
	done := 0 // number of bytes that are in the block
	for i := 1; i+briefShort <= len(raw); {
		from := b.enter(raw, i)
		if binary.LittleEndian.Uint32(raw[from:]) != binary.LittleEndian.Uint32(raw[i:]) {
			i++
			continue
		}
		at, length := i, briefShort+common(raw[from+briefShort:], raw[i+briefShort:min(i+briefLong, len(raw))])
		for at > done && from > 0 && length < briefLong && raw[at-1] == raw[from-1] {
			at, from, length = at-1, from-1, length+1
		}
		symbol, extra := distanceSymbol(at - from)
		long, far := b.code.length[length], b.code.distance[symbol]
		if int(b.price[at+length]-b.price[at]) <= int(long.n)+int(far.n)+int(extra) {
			i++
			continue
		}
		left, n = b.literals(dst, n, left, raw[done:at])
		beyond := bitString{bits: uint32(at-from-1) & (1<<extra - 1), n: extra}
		left, n = left.with(long).with(far).with(beyond).write(dst, n)
		done = at + length
		for i++; i < done && i+briefShort <= len(raw); i++ {
			b.enter(raw, i)
		}
		i = done
	}
	left, n = b.literals(dst, n, left, raw[done:])
	left, n = left.with(b.code.literal[briefLiteral]).write(dst, n)
	dst[n] = byte(left.bits)
	return dst[:n+int(left.n+7)/8]
}

// enter records the position of the four bytes at i, and returns where they may have been before.
func (b *brief) enter(raw []byte, i int) (from int) {
	h := binary.LittleEndian.Uint32(raw[i:]) * 0x9e3779b1 >> (32 - briefHash)
	from = int(b.last[h])
	b.last[h] = uint16(i)
	return from
}

// literals writes text without matches.
func (b *brief) literals(dst []byte, n int, left unwritten, text []byte) (unwritten, int) {
	code := &b.code.literal
	for len(text) >= 4 {
		left = left.with(code[text[0]]).with(code[text[1]]).with(code[text[2]]).with(code[text[3]])
		left, n = left.write(dst, n)
		text = text[4:]
	}
	for _, c := range text {
		left = left.with(code[c])
	}
	return left.write(dst, n)
}

// unwritten holds up to 64 bits that are not in the member yet. That is enough for four literals or a match, and up to
// seven bits left before.
type unwritten struct {
	bits uint64
	n    uint
}

func (u unwritten) with(s bitString) unwritten {
	return unwritten{u.bits | uint64(s.bits)<<(u.n&63), u.n + uint(s.n)}
}

// write writes whole bytes into dst at n, and returns the remaining bits and their position.
func (u unwritten) write(dst []byte, n int) (left unwritten, next int) {
	binary.LittleEndian.PutUint64(dst[n:], u.bits)
	return unwritten{u.bits >> (u.n &^ 7 & 63), u.n % 8}, n + int(u.n/8)
}

// common returns the length of the common prefix of p and q. p begins before q, and is longer.
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

// The code of short records: the lengths of the codes of all literals, of the end of a block, and of the lengths and
// distances of matches, as one digit of base 36 each. They were found by local search. From the Huffman code on,
// lengths were exchanged, increased and decreased as long as 6,600 requests, metadata records and revisits, with the
// header of the block, became shorter. briefHeader is the beginning of the block that follows from them by RFC 1951,
// 3.2.7.
const (
	briefLengths = "00000000006006000000000000000000" + // controls: line ends only
		"5bbbbbbbbbbb855555566666665888888877777888888888" +
		"888868888888bbbbc575656666c666666c5656999999999" +
		"000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000" + // beyond ASCII
		"8" + "077777aaaaaaaccccccccccc" // end of block, lengths from 3
	briefDistances = "8888885555533333348bbbb9"

	briefHeader = "\xc5\x57\xe5\x72\xec\x3c\x9a\xfe\xef\x2a\xdf\x83\x86\x29\x42\xb3\xc2\x4d\x61\x76\x78" +
		"\x60\xd5\xb2\x0c\x6b\x5c\x59\x3e\x08\xd7\x9e\x6a\xfa\x78\x99\x82\xa2\x07\xdf\x0c\x1c"
	briefHeaderRest = 7 // number of bits in use of its last byte
)

// bitString holds up to 32 bits, the first one lowest.
type bitString struct {
	bits uint32
	n    uint8
}

// briefCode is the code of all short records.
type briefCode struct {
	literal  [briefLiteral + 1]bitString // zero bits if there is no code
	length   [briefLong + 1]bitString    // with extra bits
	distance [24]bitString               // without extra bits
}

// newBriefCode returns the canonical code (RFC 1951, 3.2.2) for the lengths.
func newBriefCode() *briefCode {
	c := new(briefCode)
	symbols := canonical(briefLengths)
	copy(c.literal[:], symbols)
	copy(c.distance[:], canonical(briefDistances))
	for n := 3; n <= briefLong; n++ {
		symbol, extra := n-3, 0
		if n > 10 {
			extra = bits.Len(uint(n-3)) - 3
			symbol = extra<<2 + (n-3)>>extra
		}
		code := symbols[briefLiteral+1+symbol]
		code.bits |= uint32((n-3)&(1<<extra-1)) << code.n
		code.n += uint8(extra)
		c.length[n] = code
	}
	return c
}

// canonical returns the codes of symbols. lengths has their lengths as digits of base 36, 0 for symbols without a code.
func canonical(lengths string) []bitString {
	var count, next [17]uint32
	for i := range lengths {
		count[lengthAt(lengths, i)]++
	}
	count[0] = 0
	for n := 1; n < len(next); n++ {
		next[n] = (next[n-1] + count[n-1]) << 1
	}
	out := make([]bitString, len(lengths))
	for i := range lengths {
		if n := lengthAt(lengths, i); n > 0 {
			out[i] = bitString{bits: bits.Reverse32(next[n]) >> (32 - n), n: n}
			next[n]++
		}
	}
	return out
}

func lengthAt(lengths string, i int) uint8 {
	if c := lengths[i]; c >= 'a' {
		return c - 'a' + 10
	}
	return lengths[i] - '0'
}

// distanceSymbol returns the symbol of a distance and the number of extra bits that follow it (RFC 1951, 3.2.5).
func distanceSymbol(distance int) (symbol int, extra uint8) {
	d := uint(distance - 1)
	if d < 4 {
		return int(d), 0
	}
	n := bits.Len(d) - 2
	return 2*n + int(d>>n), uint8(n)
}
