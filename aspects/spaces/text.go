package spaces

import (
	"bytes"
	"hash/fnv"
	"slices"
	"strings"
	"time"
)

// Bounds of the text that is compared.
const (
	shingle   = 3   // words in a row
	oneIn     = 4   // share of the shingles that is kept
	maxKept   = 512 // shingles of a page
	maxLooked = 64  // bytes of a word
)

// shingles returns the sums of a sample of all rows of three words in the visible text of a page. Rows with one of the
// values of the page's own parameters are left out, and all numbers are the same word.
func shingles(page []byte, own []arg) []uint64 { return sample(page, own, oneIn, maxKept) }

// sample returns one in a number of the rows that [shingles] samples, up to most.
func sample(page []byte, own []arg, oneIn uint64, most int) []uint64 {
	var values []string
	for _, a := range own {
		words := strings.FieldsFunc(strings.ToLower(a.value), func(r rune) bool { return r == '+' || r == '%' })
		values = append(values, words...)
	}
	var last [shingle]uint64
	var own3 [shingle]bool
	var sums []uint64
	n := 0
	eachWord(page, func(word []byte) bool {
		copy(last[:], last[1:])
		copy(own3[:], own3[1:])
		h := fnv.New64a()
		h.Write(word)
		last[shingle-1] = h.Sum64()
		own3[shingle-1] = slices.Contains(values, string(word))
		if n++; n < shingle || own3[0] || own3[1] || own3[2] {
			return true
		}
		sum := last[0]*31*31 ^ last[1]*31 ^ last[2]
		sum ^= sum >> 29
		if sum *= 0xbf58476d1ce4e5b9; sum%oneIn == 0 {
			sums = append(sums, sum)
		}
		return len(sums) < most
	})
	return sums
}

// eachWord calls see with the words of the visible text, in lower case, until it returns false. A number is the word
// "#".
func eachWord(page []byte, see func([]byte) bool) {
	var word []byte
	for len(page) > 0 {
		c := page[0]
		if c == '<' {
			if len(word) > 0 && !see(word) {
				return
			}
			word, page = word[:0], afterTag(page)
			continue
		}
		page = page[1:]
		switch {
		case c >= 'A' && c <= 'Z':
			word = append(word, c|0x20)
		case c >= 'a' && c <= 'z' || c >= 0x80:
			word = append(word, c)
		case c >= '0' && c <= '9':
			if len(word) == 0 || word[len(word)-1] != '#' {
				word = append(word, '#')
			}
		case len(word) > 0:
			if !see(word) {
				return
			}
			word = word[:0]
		}
		if len(word) > maxLooked {
			word = word[:maxLooked]
		}
	}
	if len(word) > 0 {
		see(word)
	}
}

// afterTag returns what follows the tag at the beginning of a page. Scripts and styles are skipped with their content.
func afterTag(page []byte) []byte {
	end := bytes.IndexByte(page, '>')
	if end < 0 {
		return nil
	}
	for _, hidden := range []string{"script", "style"} {
		if len(page) > len(hidden) && strings.EqualFold(string(page[1:1+len(hidden)]), hidden) {
			return afterEnd(page[end+1:], hidden)
		}
	}
	return page[end+1:]
}

// afterEnd returns what follows the end tag of an element, nil if it has none.
func afterEnd(page []byte, element string) []byte {
	for {
		at := bytes.Index(page, []byte("</"))
		if at < 0 {
			return nil
		}
		page = page[at+2:]
		if len(page) >= len(element) && strings.EqualFold(string(page[:len(element)]), element) {
			return page[len(element):]
		}
	}
}

// sumWithoutGenerated returns the sum of a content without values that look generated. It is never zero.
func sumWithoutGenerated(content []byte, now time.Time) uint64 {
	h := fnv.New64a()
	begin := -1
	for i := 0; i <= len(content); i++ {
		part := i < len(content) && isWordByte(content[i])
		switch {
		case part && begin < 0:
			begin = i
		case !part && begin >= 0:
			if i-begin > maxID || look(string(content[begin:i]), now) == plain {
				h.Write(content[begin:i])
			}
			begin = -1
		}
		if !part && i < len(content) {
			h.Write(content[i : i+1])
		}
	}
	return h.Sum64() | 1
}

func isWordByte(c byte) bool { return digit(c) || letter(c) || c == '.' || c == '_' }
