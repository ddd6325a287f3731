package spaces

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

// Page is a page or file whose content was read because it is new or has changed.
type Page struct {
	URI   uri.URI
	Via   uri.URI     // the page that names it; zero for a seed
	Hops  uri.HopPath // on which it was found; empty for a seed
	First bool        // the first visit of the URI
	HTML  bool
	Links []Link // all URIs that the page names, in scope or not
	// Content is the beginning of the content if the URI has parameters, or the page links to itself with one more;
	// otherwise nil.
	Content []byte
	// Sum is [SumWithoutIDs] of the content if the URI contains an id, see [HasID]; otherwise zero.
	Sum uint64
	Now time.Time
}

// Link is a URI that a page names.
type Link struct {
	URI   uri.URI
	Page  bool // it is linked, and not embedded
	Known bool // the crawl knows it already; only needed for a first visit inside a pattern
}

// state holds the traps, families, parameters and patterns of a host. It is the stored form too: keys are only ever
// added.
type state struct {
	Visits   int64     `cbor:"1,keyasint,omitempty"` // pages that were learned
	Families []*family `cbor:"2,keyasint,omitempty"`
	Traps    []Trap    `cbor:"3,keyasint,omitempty"`
	Shared   []shared  `cbor:"4,keyasint,omitempty"`
	Farms    []*farm   `cbor:"5,keyasint,omitempty"`
	Vouched  []uint32  `cbor:"6,keyasint,omitempty"` // sums of the families that others have vouched for, sorted
	Ticks    int64     `cbor:"7,keyasint,omitempty"` // visits that were learned while there were parameters or patterns
	Params   []*param  `cbor:"8,keyasint,omitempty"`
	Spaces   []*space  `cbor:"9,keyasint,omitempty"`
	Twins    []*twin   `cbor:"10,keyasint,omitempty"`
}

// Bounds of a host.
const (
	maxFamilies = 24
	maxTraps    = 64
	maxShared   = 16
)

// familyOf returns the family with this key, and creates it if there is none.
func (s *state) familyOf(key string) *family {
	for _, f := range s.Families {
		if f.Key == key {
			f.Touched = s.Visits
			return f
		}
	}
	if len(s.Families) >= maxFamilies {
		oldest := slices.MinFunc(s.Families, func(a, b *family) int { return int(a.Touched - b.Touched) })
		s.Families = slices.DeleteFunc(s.Families, func(f *family) bool { return f == oldest })
	}
	f := &family{Key: key, Touched: s.Visits}
	s.Families = append(s.Families, f)
	return f
}

// learn adds a page. It returns the traps that are certain now and those that the page refutes, and whether there is
// anything new to store.
func (s *state) learn(g Page) (found, refuted []Trap, changed bool) {
	s.Visits++
	if g.Via.IsZero() {
		g.Via = g.URI
	}
	for _, look := range detectors {
		f, trap := look(s, g)
		changed = changed || f != nil
		if trap == nil {
			continue
		}
		s.Families = slices.DeleteFunc(s.Families, func(o *family) bool { return o == f })
		trap.Found, trap.Visited, trap.Examples = g.Now, f.Visits, f.Examples
		found = s.addTrap(found, *trap)
	}
	trap, refuted, moved := s.farm(g)
	if trap != nil {
		found = s.addTrap(found, *trap)
	}
	return found, refuted, changed || moved
}

// addTrap adds a trap, and appends it to a list, unless it is known or was released, its pattern is too long, or there
// are too many.
func (s *state) addTrap(list []Trap, t Trap) []Trap {
	same := func(o Trap) bool { return o.Kind == t.Kind && o.Pattern == t.Pattern }
	full := len(s.Traps) >= maxTraps || len(t.Pattern) > maxPattern
	if full || slices.ContainsFunc(s.Traps, same) || t.compile() != nil {
		return list
	}
	s.Traps = append(s.Traps, t)
	return append(list, t)
}

// refute releases the traps that are wrong, and appends them to a list.
func (s *state) refute(list []Trap, wrong func(*Trap) bool) []Trap {
	for i := range s.Traps {
		if t := &s.Traps[i]; !t.Released && wrong(t) {
			t.Released = true
			list = append(list, *t)
		}
	}
	return list
}

// origin returns the beginning of a pattern, for http and https on the host of u.
func origin(u uri.URI) string { return "^https?://" + quote(u.Authority()) }

// visited counts a visit of a family, and the visits in a row that named nothing new.
func (f *family) visited(u uri.URI, nothingNew bool) {
	f.Visits++
	f.example(u.String())
	if nothingNew {
		f.Row++
	} else {
		f.Row = 0
	}
}

// linksOut returns the sums of the links that are not inside.
func linksOut(links []Link, inside func(uri.URI) bool) []uint64 {
	var sums []uint64
	for _, l := range links {
		if !inside(l.URI) {
			sums = append(sums, undatedSum(l.URI.Authority(), l.URI.RequestTarget()))
		}
	}
	return sums
}

// calendar looks for dated pages that were found on dated pages.
func (s *state) calendar(g Page) (*family, *Trap) {
	d, ok := dated(g.URI.RequestTarget())
	if !ok || g.Via.Host() != g.URI.Host() {
		return nil, nil
	}
	if from, ok := dated(g.Via.RequestTarget()); !ok || from.template != d.template {
		return nil, nil
	}
	f := s.familyOf("c" + d.template)
	nothingNew := f.namesNothingNew(linksOut(g.Links, func(u uri.URI) bool {
		if u.Host() != g.URI.Host() {
			return false
		}
		o, ok := dated(u.RequestTarget())
		return ok && o.template == d.template
	}))
	f.visited(g.URI, nothingNew)
	if !nothingNew {
		if f.From == 0 && f.To == 0 {
			f.From, f.To = d.day, d.day
		}
		f.From, f.To = min(f.From, d.day), max(f.To, d.day)
	}
	if f.Row < CalendarRow {
		return f, nil
	}
	return f, &Trap{
		Kind: Calendar, Pattern: origin(g.URI) + d.pattern, From: f.From, To: f.To,
		Why: fmt.Sprintf("%d pages in a row that differ in the date named nothing new", f.Row),
	}
}

// facets looks for combinations of query parameters.
func (s *state) facets(g Page) (*family, *Trap) {
	path, query, _ := strings.Cut(g.URI.RequestTarget(), "?")
	if strings.Count(query, "=") < minFacets {
		return nil, nil
	}
	f := s.familyOf("f" + path)
	if !f.values(query) {
		return f, nil
	}
	f.Members.Add(sumOf(query))
	inside := func(u uri.URI) bool {
		if u.Host() != g.URI.Host() {
			return false
		}
		p, q, _ := strings.Cut(u.RequestTarget(), "?")
		if p == path && f.values(q) && !f.Members.IsFull() {
			f.Members.Add(sumOf(q))
		}
		return p == path
	}
	f.visited(g.URI, f.namesNothingNew(linksOut(g.Links, inside)))
	names := f.facets()
	if f.Row < FacetsRow || names == nil {
		return f, nil
	}
	for i := range names {
		names[i] = quote(names[i])
	}
	one := `(?:` + strings.Join(names, "|") + `)=[^&]*`
	return f, &Trap{
		Kind: Facets, Pattern: origin(g.URI) + quote(path) + `\?(?:.*&)?` + one + `&(?:.*&)?` + one,
		Why: fmt.Sprintf("%d pages in a row named nothing new, and there are at least %d combinations of %s",
			f.Row, f.Members.Count(), strings.Join(names, ", ")),
	}
}

// session looks for pages whose URIs differ only in an id.
func (s *state) session(g Page) (*family, *Trap) {
	target := g.URI.RequestTarget()
	start, end, ok := findID([]byte(target), 0)
	if !ok || g.Sum == 0 || start > 0 && target[start-1] == '=' { // parameters are judged for the whole host
		return nil, nil
	}
	f := s.familyOf("s" + target[:start])
	f.Visits++
	f.example(g.URI.String())
	r := idRest{Sum: sumOf(target[end:]), ID: sumOf(target[start:end]), Page: g.Sum}
	i := slices.IndexFunc(f.Rests, func(o idRest) bool { return o.Sum == r.Sum })
	switch {
	case i < 0 && len(f.Rests) < maxIDRests:
		f.Rests = append(f.Rests, r)
	case i < 0 || f.Rests[i].ID == r.ID:
	case f.Rests[i].Page == r.Page:
		f.Same++
	default:
		f.Other++
	}
	if f.Same < SessionProofs || f.Other > 0 {
		return f, nil
	}
	return f, &Trap{
		Kind: Session, Pattern: "^(https?://" + quote(g.URI.Authority()) + quote(target[:start]) + `)[0-9A-Za-z]{16,64}`,
		Why: fmt.Sprintf("the same page came %d times under another id, and never another page", f.Same),
	}
}

// repeats returns the trap that the URI alone shows. It leaves out folders with very long names: the pattern would be
// too long to be stored, and so to be released; and the maximum length of a URI bounds how often they can repeat.
func repeats(u uri.URI) (Trap, bool) {
	sequence, ok := repeated(u.Path())
	if !ok {
		return Trap{}, false
	}
	again := strings.Repeat("/"+regexp.QuoteMeta(sequence), 3)
	pattern := origin(u) + `(?:/[^?]*)?` + strings.ReplaceAll(again, "'", "[\\x27]") + `(?:[/?]|$)`
	return Trap{
		Kind: Repeats, Pattern: pattern, Why: fmt.Sprintf("its path repeats the folders %s", sequence),
	}, len(pattern) <= maxPattern
}

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
