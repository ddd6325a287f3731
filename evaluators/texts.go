package evaluators

import "bytes"

// texts searches a content for several texts in one pass that skips most bytes: the method of Wu and Manber ("A fast
// algorithm for multi-pattern searching", 1994). It examines blocks of three bytes, at a distance that is short
// enough to find every text.
type texts struct {
	all    []text
	window int              // length of the shortest text
	skip   [1 << 13]uint8   // hash of a block → how far the window may move when it ends with that block
	ending map[uint16][]int // hash of the block at the end of the window → the texts that have it there
}

// text is a text to search for, and a number below 64 for the set that it belongs to.
type text struct {
	what string
	set  int
}

// block is the number of bytes that are compared together.
const block = 3

// newTexts prepares the search. No text is shorter than block.
func newTexts(all []text) *texts {
	t := &texts{all: all, window: 255, ending: make(map[uint16][]int)}
	for _, x := range all {
		t.window = min(t.window, len(x.what))
	}
	for i := range t.skip {
		t.skip[i] = uint8(t.window - block + 1)
	}
	for n, x := range all {
		for end := block; end <= t.window; end++ {
			h := blockHash([]byte(x.what[end-block : end]))
			t.skip[h] = min(t.skip[h], uint8(t.window-end))
			if end == t.window {
				t.ending[h] = append(t.ending[h], n)
			}
		}
	}
	return t
}

func blockHash(b []byte) uint16 {
	_ = b[2]
	return uint16((uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16) * 0x9e3779b1 >> 19)
}

// in returns, as bits, the numbers of the texts that content contains.
func (t *texts) in(content []byte) (hits uint64) {
	for end := t.window; end <= len(content); {
		h := blockHash(content[end-block : end])
		if s := int(t.skip[h]); s > 0 {
			end += s
			continue
		}
		for _, n := range t.ending[h] {
			if x := t.all[n]; bytes.HasPrefix(content[end-t.window:], []byte(x.what)) {
				hits |= 1 << x.set
			}
		}
		end++
	}
	return hits
}
