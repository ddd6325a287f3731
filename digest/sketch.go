package digest

import (
	"math/bits"
	"unicode"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
)

// shingle is the number of consecutive words that are one feature of a text.
const shingle = 4

// sketch returns the simhash of the shingles of a text. Each bit is the majority of that bit in their hashes, so
// texts that share most shingles share most bits. It depends on the words and their order, and not on case,
// punctuation or white space. It is never zero.
func sketch(text []byte) uint64 {
	var weights [64]int32
	var recent [shingle]uint64
	words := 0
	feature := func() {
		h := uint64(0)
		for i := range shingle {
			h = bits.RotateLeft64(h*0x9E3779B97F4A7C15, 31) ^ recent[(words+i)%shingle]
		}
		h *= 0xFF51AFD7ED558CCD
		h ^= h >> 33
		for i := range weights {
			weights[i] += int32(h>>i&1)*2 - 1
		}
	}
	for len(text) > 0 {
		var word []byte
		if word, text = nextWord(text); len(word) == 0 {
			continue
		}
		recent[words%shingle] = xxhash.Sum64(word)
		if words++; words >= shingle {
			feature()
		}
	}
	if words < shingle {
		feature()
	}
	s := uint64(0)
	for i, w := range weights {
		if w > 0 {
			s |= 1 << i
		}
	}
	return max(s, 1)
}

// nextWord returns the first run of letters and digits, in lower case, and the text behind it.
func nextWord(text []byte) (word, rest []byte) {
	plain := true // no capital and nothing beyond ASCII so far
	start := -1
	i := 0
	for i < len(text) {
		r, n := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(text[i:])
		}
		isWord := r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' ||
			r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
		if !isWord && start >= 0 {
			break
		}
		if isWord {
			if start < 0 {
				start = i
			}
			plain = plain && r < utf8.RuneSelf && (r < 'A' || r > 'Z')
		}
		i += n
	}
	if start < 0 {
		return nil, nil
	}
	word = text[start:i]
	if !plain {
		lower := make([]byte, 0, len(word))
		for _, r := range string(word) {
			lower = utf8.AppendRune(lower, unicode.ToLower(r))
		}
		word = lower
	}
	return word, text[i:]
}

// Near returns in how many bits two sketches differ, and reports whether these are at most tolerance. It reports
// false if either sketch is missing or if they were made with different rules.
func (c Comparison) Near(d Comparison, tolerance int) (bool, int) {
	n := bits.OnesCount64(c.Sketch ^ d.Sketch)
	return c.Rules == d.Rules && c.Sketch != 0 && d.Sketch != 0 && n <= tolerance, n
}
