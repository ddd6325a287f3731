package spaces

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// The numbers of proofs that make a parameter one that says nothing.
const (
	// ParameterProofs is the number of times that another value brought the same content.
	ParameterProofs = 4
	// PageProofs is the number for a parameter that was only seen on one page.
	PageProofs = 12
	// listed is the number of values on one page, for the same URI, that make a parameter real.
	listed = 3
)

// Bounds of what is stored of parameters.
const (
	maxParams = 6
	maxRests  = 80
	maxSeen   = 3 // examples
	maxName   = 80
	maxCount  = 200
)

// param is a parameter of a host. It is part of a row: keys are only ever added.
type param struct {
	Name     string   `cbor:"1,keyasint"`
	Real     bool     `cbor:"2,keyasint,omitempty"` // different values name different pages
	Proven   bool     `cbor:"3,keyasint,omitempty"` // it says nothing
	Rests    []rest   `cbor:"4,keyasint,omitempty"` // the ones with the smallest sums, sorted
	Touched  int64    `cbor:"5,keyasint,omitempty"`
	Examples []string `cbor:"6,keyasint,omitempty"`
}

// rest is a URI without the parameter, and what came there.
type rest struct {
	Sum     uint64 `cbor:"1,keyasint"`
	Value   uint64 `cbor:"2,keyasint"` // of the parameter, at the last visit
	Content uint64 `cbor:"3,keyasint"`
	Same    int    `cbor:"4,keyasint,omitempty"` // times that another value brought the same content
	Other   int    `cbor:"5,keyasint,omitempty"` // times that it brought another one
	Page    bool   `cbor:"6,keyasint,omitempty"`
}

// sighting is a generated value of a parameter in the URI of a visit.
type sighting struct {
	name        string
	rest, value uint64
}

// sightings returns the parameters of a URI whose values look generated. A long number says little about a page, which
// may have such a number as its name.
func sightings(u uri.URI, page bool, now time.Time) []sighting {
	path, list, ok := args(u.RequestTarget())
	if !ok {
		return nil
	}
	var found []sighting
	for _, a := range list {
		l := look(a.value, now)
		if l == plain || l == number && page || len(a.name) > maxName {
			continue
		}
		found = append(found, sighting{a.name, restOf(path, list, a.name), sumOf(a.value)})
	}
	return found
}

// realParams returns the names of parameters that have several generated values for the same URI among these.
func realParams(host uri.Host, us []uri.URI, several int, now time.Time) []string {
	var names []string
	if len(us) < several {
		return nil
	}
	values := map[sighting]int{}
	for _, u := range us {
		if u.Host() != host {
			continue
		}
		for _, s := range sightings(u, false, now) {
			s.value = 0
			if values[s]++; values[s] == several && !slices.Contains(names, s.name) {
				names = append(names, s.name)
			}
		}
	}
	return names
}

// paramOf returns the parameter with this name, and adds it if there is room. It returns nil if there is none.
func (s *state) paramOf(name string) *param {
	for _, p := range s.Params {
		if p.Name == name {
			p.Touched = s.Ticks
			return p
		}
	}
	if len(s.Params) >= maxParams {
		idle := -1
		for i, p := range s.Params {
			if !p.Proven && !p.Real && p.proofs() == 0 && (idle < 0 || p.Touched < s.Params[idle].Touched) {
				idle = i
			}
		}
		if idle < 0 {
			return nil
		}
		s.Params = slices.Delete(s.Params, idle, idle+1)
	}
	p := &param{Name: strings.Clone(name), Touched: s.Ticks}
	s.Params = append(s.Params, p)
	return p
}

// learnParam adds a visit of a URI with a generated value. It returns what is certain now.
func (s *state) learnParam(g Page, at sighting, content uint64) (t Trap, certain bool) {
	p := s.paramOf(at.name)
	if p == nil || p.Real || p.Proven {
		return t, false
	}
	if len(p.Examples) < maxSeen {
		p.Examples = append(p.Examples, g.URI.String())
	}
	r := p.restOf(at, content, g.HTML)
	switch {
	case r == nil || r.Value == at.value:
		return t, false
	case r.Content == content:
		r.Same = min(r.Same+1, maxCount)
	default:
		r.Other = min(r.Other+1, maxCount)
	}
	r.Value, r.Content = at.value, content
	if !p.saysNothing() {
		return t, false
	}
	p.Proven, p.Rests = true, nil
	return Trap{
		Kind: Parameter, Parameter: p.Name, Pattern: parameterPattern(g.URI.Authority(), p.Name), Found: g.Now,
		Examples: p.Examples,
		Why: fmt.Sprintf("another value of %s brought the same content at least %d times, and hardly ever another one",
			p.Name, ParameterProofs),
	}, true
}

// restOf returns the entry of a URI without the parameter. If there is none, it returns nil, and adds one if its sum is
// small enough.
func (p *param) restOf(at sighting, content uint64, page bool) *rest {
	i, ok := slices.BinarySearchFunc(p.Rests, at.rest, func(r rest, sum uint64) int { return cmp.Compare(r.Sum, sum) })
	if ok {
		return &p.Rests[i]
	}
	if i == maxRests {
		return nil
	}
	if len(p.Rests) == maxRests {
		p.Rests = p.Rests[:maxRests-1]
	}
	p.Rests = slices.Insert(p.Rests, i, rest{Sum: at.rest, Value: at.value, Content: content, Page: page})
	return nil
}

// proofs returns how often another value brought the same content.
func (p *param) proofs() (n int) {
	for _, r := range p.Rests {
		n += r.Same
	}
	return n
}

// saysNothing reports whether the proofs suffice. A URI whose content is often another one may change by itself; most
// must be the same.
func (p *param) saysNothing() bool {
	same, good, bad, pagesOnly := 0, 0, 0, true
	contents := map[uint64]bool{}
	for _, r := range p.Rests {
		switch {
		case r.Same > 4*r.Other:
			same += r.Same
			good++
			contents[r.Content] = true
			pagesOnly = pagesOnly && r.Page
		case r.Other > 0:
			bad++
		}
	}
	if same < ParameterProofs || 3*bad > good {
		return false
	}
	return !pagesOnly || len(contents) > 1 || same >= PageProofs
}

// learnReal records parameters that tell pages apart. It returns the traps that this refutes.
func (s *state) learnReal(names []string) (refuted []Trap, changed bool) {
	for _, name := range names {
		p := s.paramOf(name)
		if p == nil || p.Real {
			continue
		}
		if p.Proven {
			refuted = s.refute(refuted, func(t *Trap) bool { return t.Kind == Parameter && t.Parameter == name })
		}
		p.Real, p.Proven, p.Rests, changed = true, false, nil, true
	}
	return refuted, changed
}
