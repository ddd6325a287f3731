package traps

import (
	"hash/fnv"
	"math/bits"
	"slices"
	"strings"
)

// family is what is known of a set of URIs that differ only in what a program fills in. It is a row of the store: keys are
// only ever added.
type family struct {
	Key      string   `cbor:"1,keyasint"` // its kind's letter and what its URIs have in common
	Visits   int      `cbor:"2,keyasint,omitempty"`
	Row      int      `cbor:"3,keyasint,omitempty"` // barren visits in a row
	Links    sieve    `cbor:"4,keyasint,omitempty"` // links out of the family that were seen
	Touched  int64    `cbor:"5,keyasint,omitempty"` // number of the host's visit that met it last
	Examples []string `cbor:"6,keyasint,omitempty"`
	Depth    int      `cbor:"7,keyasint,omitempty"` // deepest folder of the row
	From     int      `cbor:"8,keyasint,omitempty"` // first and last day of a page that was not barren
	To       int      `cbor:"9,keyasint,omitempty"`
	Params   []param  `cbor:"10,keyasint,omitempty"`
	Members  sieve    `cbor:"11,keyasint,omitempty"` // URIs of the family that were named
	Rests    []rest   `cbor:"12,keyasint,omitempty"`
	Same     int      `cbor:"13,keyasint,omitempty"`
	Other    int      `cbor:"14,keyasint,omitempty"`
	First    int      `cbor:"15,keyasint,omitempty"` // highest folder of the row
	Misses   int      `cbor:"16,keyasint,omitempty"` // how often it was suspect and turned out to be none
	Since    int64    `cbor:"17,keyasint,omitempty"` // µs since 1970, when a row that is suspect got deeper last
}

// param is a query parameter and the sums of its first values.
type param struct {
	Name   string   `cbor:"1,keyasint"`
	Values []uint32 `cbor:"2,keyasint,omitempty"`
}

// rest is a URI without its id, and what stood there.
type rest struct {
	Sum  uint64 `cbor:"1,keyasint"`
	ID   uint64 `cbor:"2,keyasint"`
	Page uint64 `cbor:"3,keyasint"`
}

// Bounds of a family.
const (
	maxExamples = 5
	maxParams   = 12
	maxValues   = 16
	maxRests    = 64
	sieveBytes  = 1024
)

// sieve is a Bloom filter with two places for each sum.
type sieve []byte

// add adds a sum, and reports whether it was there.
func (s *sieve) add(sum uint64) bool {
	if *s == nil {
		*s = make(sieve, sieveBytes)
	}
	there := true
	for _, place := range [...]uint64{sum % (8 * sieveBytes), (sum >> 32) % (8 * sieveBytes)} {
		bit := byte(1) << (place % 8)
		there = there && (*s)[place/8]&bit != 0
		(*s)[place/8] |= bit
	}
	return there
}

// share is the share of places that are taken. Above a half the sieve says little.
func (s sieve) share() float64 {
	n := 0
	for _, b := range s {
		n += bits.OnesCount8(b)
	}
	return float64(n) / (8 * sieveBytes)
}

// half is the share of taken places above which a sieve is not believed.
const half = 0.5

// count is about how many sums are in a sieve that is not full: of n sums with two places each.
func (s sieve) count() int {
	taken := 0
	for _, b := range s {
		taken += bits.OnesCount8(b)
	}
	return taken / 2
}

func sumOf(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}

// example notes a URI of the family.
func (f *family) example(text string) {
	if len(f.Examples) < maxExamples && !slices.Contains(f.Examples, text) {
		f.Examples = append(f.Examples, text)
	}
}

// barren notes the links out of the family, and reports whether all of them were seen before. A family with too many of
// them is never barren: it names more than can be remembered.
func (f *family) barren(out []uint64) bool {
	seen := true
	for _, sum := range out {
		seen = f.Links.add(sum) && seen
	}
	return seen && f.Links.share() <= half
}

// values notes the parameters of a member, and reports whether it is one.
func (f *family) values(query string) bool {
	n := 0
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		if name == "" {
			continue
		}
		n++
		i := slices.IndexFunc(f.Params, func(p param) bool { return p.Name == name })
		if i < 0 {
			if len(f.Params) == maxParams {
				continue
			}
			i = len(f.Params)
			f.Params = append(f.Params, param{Name: name})
		}
		sum := uint32(sumOf(value))
		if p := &f.Params[i]; len(p.Values) <= maxValues && !slices.Contains(p.Values, sum) {
			p.Values = append(p.Values, sum)
		}
	}
	return n >= minFacets
}

// Facets are recognised from so many parameters on, of which each has a few values, and of which at least that many
// combinations come to each value.
const (
	minFacets      = 2
	varyingFacets  = 3
	minFacetURIs   = 48
	facetsPerValue = 6
)

// facets are the names of the parameters that vary and have few values, if they are combined without end.
func (f *family) facets() []string {
	var names []string
	most := 1
	for _, p := range f.Params {
		if len(p.Values) > 1 && len(p.Values) <= maxValues {
			names = append(names, p.Name)
			most = max(most, len(p.Values))
		}
	}
	uris := f.Members.count()
	if len(names) < varyingFacets || uris < minFacetURIs || uris < facetsPerValue*most {
		return nil
	}
	slices.Sort(names)
	return names
}
