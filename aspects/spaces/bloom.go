package spaces

import "math/bits"

const bloomSize = 1024 // bytes; stored filters have it, so it cannot change

// bloomFilter is a small Bloom filter that is stored as it is: a set of sums that takes one kilobyte however many are
// added, and sometimes claims to have a sum that it has not. It has two bits for each sum; nil is empty.
type bloomFilter []byte

// IsValid reports whether a stored filter has the right size.
func (f bloomFilter) IsValid() bool { return f == nil || len(f) == bloomSize }

// Add adds a sum, and reports whether it was in the filter before.
func (f *bloomFilter) Add(sum uint64) bool {
	if *f == nil {
		*f = make(bloomFilter, bloomSize)
	}
	there := true
	for _, place := range [...]uint64{sum % (8 * bloomSize), (sum >> 32) % (8 * bloomSize)} {
		bit := byte(1) << (place % 8)
		there = there && (*f)[place/8]&bit != 0
		(*f)[place/8] |= bit
	}
	return there
}

// IsFull reports whether more than half of the bits are set, so that the filter says little.
func (f bloomFilter) IsFull() bool { return f.ones() > 4*bloomSize }

// Count returns the approximate number of sums in a filter that is not full.
func (f bloomFilter) Count() int { return f.ones() / 2 }

func (f bloomFilter) ones() (n int) {
	for _, b := range f {
		n += bits.OnesCount8(b)
	}
	return n
}
