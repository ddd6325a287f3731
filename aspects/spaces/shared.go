package spaces

import (
	"fmt"
	"slices"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

// shared is an answer that came under more than one path. It is part of a row: keys are only ever added.
type shared struct {
	Digest   string   `cbor:"1,keyasint"`
	Paths    []uint32 `cbor:"2,keyasint,omitempty"` // sums of the first of them
	Root     bool     `cbor:"3,keyasint,omitempty"` // it came for the root of the host, or for a seed
	Examples []string `cbor:"4,keyasint,omitempty"`
}

// share records that URIs have the same answer. It returns the trap if that is certain now, and whether anything
// changed. The answer with the fewest paths makes room for a new one.
func (s *state) share(answer digest.Digest, seed bool, of ...uri.URI) (*Trap, bool) {
	key := answer.String()
	i := slices.IndexFunc(s.Shared, func(o shared) bool { return o.Digest == key })
	if i < 0 {
		if len(s.Shared) >= maxShared {
			fewest := slices.MinFunc(s.Shared, func(a, b shared) int { return len(a.Paths) - len(b.Paths) })
			s.Shared = slices.DeleteFunc(s.Shared, func(o shared) bool { return o.Digest == fewest.Digest })
		}
		s.Shared = append(s.Shared, shared{Digest: key})
		i = len(s.Shared) - 1
	}
	o := &s.Shared[i]
	o.Root = o.Root || seed
	for _, u := range of {
		sum := uint32(sumOf(u.Path()))
		o.Root = o.Root || u.RequestTarget() == "/"
		if len(o.Paths) >= SoftPaths || slices.Contains(o.Paths, sum) {
			continue
		}
		o.Paths = append(o.Paths, sum)
		if len(o.Examples) < maxExamples {
			o.Examples = append(o.Examples, u.String())
		}
	}
	if len(o.Paths) < SoftPaths || o.Root {
		return nil, true
	}
	return &Trap{
		Kind: SoftNotFound, Pattern: key, Examples: o.Examples, Visited: len(o.Paths),
		Why: fmt.Sprintf("%d paths of the host have the same answer", len(o.Paths)),
	}, true
}
