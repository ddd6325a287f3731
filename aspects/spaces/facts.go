package spaces

import (
	"slices"

	"github.com/arcrawl/arcrawl/uri"
)

// maxContent is the number of bytes of a content that are compared.
const maxContent = 256 << 10

// facts holds what a page says, computed before the lock is taken.
type facts struct {
	own       string // its pattern; empty if it has no parameters
	key       string // the same if it is the first visit of a page inside
	self      uint32
	sightings []sighting
	content   uint64
	real      []string
	texts     []uint64
	inside    []uint64 // links to pages of its pattern
	outside   []outside
	named     []named
	values    []uint32 // sums of the parameters that are no plain numbers
}

// outside is a link that leads out of the pattern of a page.
type outside struct {
	sum   uint64
	known bool
}

// named is a link to a page with parameters.
type named struct {
	key    string
	sum    uint32
	inside bool // the page that names it is of the same script
}

// factsOf computes what a page says.
func factsOf(g Page) facts {
	f := facts{self: uint32(sumOf(g.URI.RequestTarget()))}
	f.own, _ = keyOf(g.URI.RequestTarget())
	if g.Content != nil {
		if f.sightings = sightings(g.URI, g.HTML, g.Now); len(f.sightings) > 0 {
			f.content = contentSum(g)
		}
	}
	if !g.HTML {
		return f
	}
	var linked []uri.URI
	for _, l := range g.Links {
		if l.Page && l.URI.Host() == g.URI.Host() && hasArgs(l.URI.RequestTarget()) {
			linked = append(linked, l.URI)
		}
	}
	f.real = realParams(g.URI.Host(), linked, listed, g.Now)
	if g.First && isInside(g.URI, g.Via) {
		f.key = f.own
		_, own, _ := args(g.URI.RequestTarget())
		f.texts, f.values = shingles(g.Content, own), wordsOf(own)
	}
	for _, l := range g.Links {
		f.link(g, l)
	}
	return f
}

// saysNothing reports whether a page adds nothing to a host of which nothing is stored.
func (f facts) saysNothing() bool {
	return len(f.sightings)+len(f.real) == 0 && f.key == "" &&
		!slices.ContainsFunc(f.named, func(l named) bool { return l.inside })
}

// contentSum returns the sum of a content. Links and forms of a page have generated values too, which do not count.
func contentSum(g Page) uint64 {
	if g.HTML {
		return sumWithoutGenerated(g.Content, g.Now)
	}
	return sumOf(string(g.Content)) | 1
}

// link adds one link of a page.
func (f *facts) link(g Page, l Link) {
	u := l.URI
	if u == g.URI || u == g.Via {
		return
	}
	key, ok := "", false
	if l.Page && u.Host() == g.URI.Host() {
		key, ok = keyOf(u.RequestTarget())
	}
	if ok {
		f.named = append(f.named, named{key, uint32(sumOf(u.RequestTarget())), areOneScript(key, f.own)})
	}
	switch {
	case f.key == "":
	case key == f.key:
		f.inside = append(f.inside, sumOf(u.RequestTarget()))
	default:
		f.outside = append(f.outside, outside{linkSum(u, g.Now), l.Known})
	}
}

// judge adds the parameters of a page, and its pattern. It returns the traps that are certain now and those that the
// page refutes, and whether there is anything new to store.
func (s *state) judge(g Page, f facts) (found, refuted []Trap, changed bool) {
	if len(s.Params)+len(s.Spaces) == 0 && f.saysNothing() {
		return nil, nil, false
	}
	s.Ticks++
	for _, sighting := range f.sightings {
		if t, certain := s.learnParam(g, sighting, f.content); certain {
			found = s.addTrap(found, t)
		}
	}
	refuted, _ = s.learnReal(f.real)
	s.nameAll(f)
	if f.key != "" {
		if t, certain := s.visit(g, f); certain {
			found = s.addTrap(found, t)
		}
	}
	if len(s.Params)+len(s.Spaces) == 0 {
		s.Ticks = 0 // they count from the first parameter or pattern
		return found, refuted, false
	}
	return found, refuted, true
}
