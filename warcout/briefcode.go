package warcout

import "math/bits"

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
