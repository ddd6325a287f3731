package spaces

import (
	"math/bits"
	"slices"
	"strings"
)

// family is a set of URIs that differ only in parts that a program fills in. It is part of a row: keys are only ever
// added.
type family struct {
	Key      string      `cbor:"1,keyasint"` // the letter of its kind, and what its URIs have in common
	Visits   int         `cbor:"2,keyasint,omitempty"`
	Row      int         `cbor:"3,keyasint,omitempty"` // visits in a row that named nothing new
	Links    bloomFilter `cbor:"4,keyasint,omitempty"` // links out of the family that were seen
	Touched  int64       `cbor:"5,keyasint,omitempty"` // number of the host's visit that read it last
	Examples []string    `cbor:"6,keyasint,omitempty"`
	Depth    int         `cbor:"7,keyasint,omitempty"` // deepest folder of the row
	From     int         `cbor:"8,keyasint,omitempty"` // first and last day of pages that named something new
	To       int         `cbor:"9,keyasint,omitempty"`
	Params   []facet     `cbor:"10,keyasint,omitempty"`
	Members  bloomFilter `cbor:"11,keyasint,omitempty"` // URIs of the family that were named
	Rests    []idRest    `cbor:"12,keyasint,omitempty"`
	Same     int         `cbor:"13,keyasint,omitempty"`
	Other    int         `cbor:"14,keyasint,omitempty"`
	First    int         `cbor:"15,keyasint,omitempty"` // highest folder of the row
	Misses   int         `cbor:"16,keyasint,omitempty"` // number of times it was suspect and was refuted
	Since    int64       `cbor:"17,keyasint,omitempty"` // µs since 1970, when a suspect row last became deeper
}

// facet is a query parameter and the sums of its first values.
type facet struct {
	Name   string   `cbor:"1,keyasint"`
	Values []uint32 `cbor:"2,keyasint,omitempty"`
}

// idRest is a URI without its id, and the page that was there.
type idRest struct {
	Sum  uint64 `cbor:"1,keyasint"`
	ID   uint64 `cbor:"2,keyasint"`
	Page uint64 `cbor:"3,keyasint"`
}

// Bounds of a family.
const (
	maxExamples = 5
	maxFacets   = 12
	maxValues   = 16
	maxIDRests  = 64
)

// example records a URI of the family.
func (f *family) example(text string) {
	if len(f.Examples) < maxExamples && !slices.Contains(f.Examples, text) {
		f.Examples = append(f.Examples, text)
	}
}

// namesNothingNew records the links of a page out of the family, and reports whether all of them were seen before. It
// reports false once there are too many links to remember.
func (f *family) namesNothingNew(out []uint64) bool {
	seen := true
	for _, sum := range out {
		seen = f.Links.Add(sum) && seen
	}
	return seen && !f.Links.IsFull()
}

// values records the parameters of a query, and reports whether the query belongs to a member.
func (f *family) values(query string) bool {
	n := 0
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		if name == "" {
			continue
		}
		n++
		i := slices.IndexFunc(f.Params, func(p facet) bool { return p.Name == name })
		if i < 0 {
			if len(f.Params) == maxFacets {
				continue
			}
			i = len(f.Params)
			f.Params = append(f.Params, facet{Name: name})
		}
		sum := uint32(sumOf(value))
		if p := &f.Params[i]; len(p.Values) <= maxValues && !slices.Contains(p.Values, sum) {
			p.Values = append(p.Values, sum)
		}
	}
	return n >= minFacets
}

// What makes combinations of parameters facets.
const (
	minFacets      = 2  // parameters of a URI
	varyingFacets  = 3  // parameters with more than one value
	minFacetURIs   = 48 // combinations
	facetsPerValue = 6  // combinations per value
)

// facets returns the names of the parameters that vary and have few values; nil if there are too few combinations.
func (f *family) facets() []string {
	var names []string
	most := 1
	for _, p := range f.Params {
		if len(p.Values) > 1 && len(p.Values) <= maxValues {
			names = append(names, p.Name)
			most = max(most, len(p.Values))
		}
	}
	uris := f.Members.Count()
	if len(names) < varyingFacets || uris < minFacetURIs || uris < facetsPerValue*most {
		return nil
	}
	slices.Sort(names)
	return names
}

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
