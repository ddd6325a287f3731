package traps

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// The numbers that make a link farm suspect and certain.
const (
	// FarmSuspect is how many inventing pages in a row make a family suspect: from then on only pages are visited that were
	// found deeper in it than any before.
	FarmSuspect = 10
	// FarmRow is how many in a row, and FarmGenerations how many steps from the first to the last of them, make it certain.
	FarmRow         = 16
	FarmGenerations = 6
	// farmMembers is how many pages of its family a page must name to invent any.
	farmMembers = 3
	// listMembers is how many pages of a family another page names at once that lists them.
	listMembers = 5
	// suspicion is how long a family stays suspect when nothing proves or refutes it.
	suspicion = 12 * time.Hour
)

// Bounds of what is remembered of farms: maxNamed sums of links of each, maxEntrances that other pages name.
const (
	maxFarms     = 24
	maxVouched   = 512
	maxNamed     = 512
	maxEntrances = 64
	maxMisses    = 6
)

// farm is a family that may be a link farm. It is a row of the store: keys are only ever added.
type farm struct {
	Key       string   `cbor:"1,keyasint"` // what its URIs have in common, see shapeOf
	Visits    int      `cbor:"2,keyasint,omitempty"`
	Row       int      `cbor:"3,keyasint,omitempty"`  // inventing visits in a row
	First     int      `cbor:"4,keyasint,omitempty"`  // hops to the shallowest page of the row
	Deepest   int      `cbor:"5,keyasint,omitempty"`  // hops to the deepest
	Links     sieve    `cbor:"6,keyasint,omitempty"`  // links out of the family that were seen
	Named     []uint32 `cbor:"7,keyasint,omitempty"`  // the smallest sums of the pages that its pages have named, in order
	Entrances []uint32 `cbor:"8,keyasint,omitempty"`  // sums of the pages that others have named
	Misses    int      `cbor:"9,keyasint,omitempty"`  // how often it was suspect and turned out to be none
	Since     int64    `cbor:"10,keyasint,omitempty"` // µs since 1970, from when on it is suspect
	Touched   int64    `cbor:"11,keyasint,omitempty"` // number of the host's visit that met it last
	Examples  []string `cbor:"12,keyasint,omitempty"`
}

// shapeOf is the family of a URI: its first folder; for a file at the root with one parameter its name, and "/" for other
// files at the root. The root itself, and combinations of parameters, have none.
func shapeOf(u uri.URI) (key string, ok bool) {
	path, query, asks := strings.Cut(u.RequestTarget(), "?")
	switch {
	case segments(path) > 1:
		return first(path), true
	case path == "/" && !asks:
		return "", false
	case !asks:
		return "/", true
	}
	return path + "?", strings.Count(query, "=") < minFacets
}

// shapePattern is an expression for the URIs of a family on the host of u.
func shapePattern(u uri.URI, key string) string {
	switch {
	case key == "/":
		return origin(u) + `/[^/?]+/?$`
	case strings.HasSuffix(key, "?"):
		return origin(u) + quote(strings.TrimSuffix(key, "?")) + `\?`
	}
	return origin(u) + quote(key)
}

// isHome reports whether a URI is that of the folder whose pages are the family.
func isHome(u uri.URI, key string) bool { return len(key) > 1 && folder(u.Path()) == key }

// wasNamed reports whether a page was found in a link of a page, and not in a feed or sitemap, implied or a seed.
func wasNamed(hops uri.HopPath) bool {
	if hops == "" {
		return false
	}
	last := uri.Hop(hops[len(hops)-1])
	return last == uri.Link || last == uri.Redirect || last == uri.Embed || last == uri.Speculative
}

// isStart reports whether a URI is a seed, or where one leads.
func isStart(hops uri.HopPath) bool {
	return strings.Trim(string(hops), string(rune(uri.Redirect))) == ""
}

// pageEndings are the endings of the names of pages.
var pageEndings = []string{".html", ".htm", ".xhtml", ".shtml", ".php", ".asp", ".aspx", ".jsp", ".cgi", ".do"}

// isPage reports whether a path may be that of a page, by its ending.
func isPage(path string) bool {
	last := path[strings.LastIndexByte(path, '/')+1:]
	dot := strings.LastIndexByte(last, '.')
	return dot < 0 || slices.Contains(pageEndings, strings.ToLower(last[dot:]))
}

// vouched reports whether someone else has spoken for a family. When too many families were spoken for, all are.
func (s *state) vouchedFor(key string) bool {
	if len(s.vouched) >= maxVouched {
		return true
	}
	_, ok := slices.BinarySearch(s.vouched, uint32(sumOf(key)))
	return ok
}

// vouch notes that someone speaks for a family, whose trap is at an end, and gives that trap.
func (s *state) vouch(u uri.URI, key string) (lifted []Trap, changed bool) {
	at, ok := slices.BinarySearch(s.vouched, uint32(sumOf(key)))
	if ok || len(s.vouched) >= maxVouched {
		return nil, false
	}
	s.vouched = slices.Insert(s.vouched, at, uint32(sumOf(key)))
	s.farms = slices.DeleteFunc(s.farms, func(f *farm) bool { return f.Key == key })
	pattern := shapePattern(u, key)
	for i := range s.traps {
		if t := &s.traps[i]; t.Kind == Farm && t.Pattern == pattern && !t.Released {
			t.Released = true
			lifted = append(lifted, *t)
		}
	}
	return lifted, true
}

// farmOf gives the family with this key; nil if there is none.
func (s *state) farmOf(key string) *farm {
	for _, f := range s.farms {
		if f.Key == key {
			f.Touched = s.visits
			return f
		}
	}
	return nil
}

// testify takes down what a page says of the families of others: a page that names many pages of a family lists them, and one
// that names a page that only the family itself had named knows it from elsewhere.
func (s *state) testify(g Sight, own string) (lifted []Trap, changed bool) {
	if f := s.farmOf(own); f != nil && f.Row > 0 {
		return nil, false
	}
	start, host := isStart(g.Hops), g.URI.Host()
	named := map[string]int{}
	settled := "" // the family of a link before, of which nothing more is to be said; no family has this name
	for _, l := range g.Links {
		key, ok := shapeOf(l)
		if l.Host() != host || !ok || key == settled {
			continue
		}
		if key == own && !start || isHome(g.URI, key) || s.vouchedFor(key) {
			settled = key
			continue
		}
		if !isPage(l.Path()) {
			continue
		}
		named[key]++
		known := false
		if f := s.farmOf(key); f != nil {
			known = f.entrance(sumOf(l.RequestTarget()))
		}
		if known || named[key] >= listMembers {
			more, _ := s.vouch(l, key)
			lifted, changed = append(lifted, more...), true
		}
	}
	return lifted, changed
}

// entrance notes a page that others name, and reports whether it was one that only pages of the family had named.
func (f *farm) entrance(sum uint64) bool {
	if slices.Contains(f.Entrances, uint32(sum)) {
		return false
	}
	if _, known := slices.BinarySearch(f.Named, uint32(sum)); known {
		return true
	}
	if len(f.Entrances) < maxEntrances {
		f.Entrances = append(f.Entrances, uint32(sum))
	}
	return false
}

// name notes pages that a page of the family names, and gives how many of them were looked up, and how many of these are new.
// Of many pages only those with the smallest sums are kept, which is a sample that depends on nothing else.
func (f *farm) name(sums []uint64) (looked, fresh int) {
	for _, sum := range sums {
		short := uint32(sum)
		full := len(f.Named) >= maxNamed
		if full && short > f.Named[len(f.Named)-1] {
			continue
		}
		looked++
		at, known := slices.BinarySearch(f.Named, short)
		if known || slices.Contains(f.Entrances, short) {
			continue
		}
		fresh++
		if full {
			f.Named = f.Named[:len(f.Named)-1]
		}
		f.Named = slices.Insert(f.Named, at, short)
	}
	return looked, fresh
}

// members divides the links of a page into the pages of its family, by their sums, and all that is outside. A page below the
// page itself is outside: that is how trees of folders go on, and they come to an end. Ids are left out of the sums where
// they are not all that tells the pages apart.
func members(g Sight, key string) (inside, outside []uint64) {
	own := folder(g.URI.Path())
	var whole, without []uint64
	for _, l := range g.Links {
		k, ok := shapeOf(l)
		switch {
		case l == g.URI:
		case l.Host() == g.URI.Host() && ok && k == key && isPage(l.Path()) && (own == "/" || !strings.HasPrefix(l.Path(), own)):
			if l == g.Via {
				continue
			}
			whole = append(whole, sumOf(l.RequestTarget()))
			without = append(without, plain("", l.RequestTarget()))
		default:
			outside = append(outside, plain(l.Authority(), l.RequestTarget()))
		}
	}
	distinct := func(sums []uint64) []uint64 {
		slices.Sort(sums)
		return slices.Compact(sums)
	}
	whole, without = distinct(whole), distinct(without)
	if len(without) > len(whole)/2 {
		return without, outside
	}
	return whole, outside
}

// farm looks at pages that were found on pages of their family, and name only such as nobody has named before.
func (s *state) farm(g Sight) (trap *Trap, lifted []Trap, changed bool) {
	key, ok := shapeOf(g.URI)
	lifted, changed = s.testify(g, key)
	if !ok || isStart(g.Hops) || s.vouchedFor(key) || s.isSettled(g.URI, key) {
		return nil, lifted, changed
	}
	from, related := shapeOf(g.Via)
	within := wasNamed(g.Hops) && g.Via.Host() == g.URI.Host() && (related && from == key || isHome(g.Via, key))
	inside, outside := members(g, key)
	f := s.farmOf(key)
	if f == nil {
		if !within || len(inside) < farmMembers {
			return nil, lifted, changed
		}
		if len(s.farms) >= maxFarms {
			oldest := slices.MinFunc(s.farms, func(a, b *farm) int { return int(a.Touched - b.Touched) })
			s.farms = slices.DeleteFunc(s.farms, func(f *farm) bool { return f == oldest })
		}
		f = &farm{Key: key, Touched: s.visits}
		s.farms = append(s.farms, f)
	}
	looked, fresh := f.name(inside)
	barren := true
	for _, sum := range outside {
		barren = f.Links.add(sum) && barren
	}
	f.Visits++
	if looked == 0 && len(inside) > 0 || f.Visits == 1 {
		return nil, lifted, true
	}
	invents := len(inside) >= farmMembers && 4*fresh >= 3*looked && barren && f.Links.share() <= half
	moved := f.saw(invents, within, len(g.Hops), g)
	if f.Row < FarmRow<<f.Misses || f.Deepest-f.First < FarmGenerations {
		return nil, lifted, changed || moved
	}
	return &Trap{
		Kind: Farm, Pattern: shapePattern(g.URI, key), Found: g.Now, Visited: f.Visits, Examples: f.Examples,
		Why: fmt.Sprintf("%d pages in a row, each found on the ones before and over %d steps, named new pages like themselves and nothing else that was not known; "+
			"no other page, no feed and no sitemap names any of those", f.Row, f.Deepest-f.First),
	}, lifted, true
}

// saw counts a page, and reports whether that matters.
func (f *farm) saw(invents, within bool, depth int, g Sight) bool {
	switch {
	case !invents && f.Row == 0, invents && !within:
		return false
	case !invents, f.Since != 0 && g.Now.After(time.UnixMicro(f.Since).Add(suspicion)):
		if f.Since != 0 {
			f.Misses = min(f.Misses+1, maxMisses)
		}
		f.Row, f.Since, f.Examples = 0, 0, nil
		return true
	}
	if f.Row == 0 {
		f.First, f.Deepest = depth, depth
	}
	f.Row++
	f.First, f.Deepest = min(f.First, depth), max(f.Deepest, depth)
	if len(f.Examples) < maxExamples {
		f.Examples = append(f.Examples, g.URI.String())
	}
	if f.Row >= FarmSuspect<<f.Misses && f.Since == 0 {
		f.Since = g.Now.UnixMicro()
	}
	return true
}

// isSettled reports whether it is known already what a URI is part of: of a trap, or of a farm that was released.
func (s *state) isSettled(u uri.URI, key string) bool {
	pattern, text := shapePattern(u, key), u.String()
	return slices.ContainsFunc(s.traps, func(t Trap) bool {
		return t.Kind == Farm && t.Pattern == pattern || t.Kind == Session && !t.Released && t.match.MatchString(text)
	})
}

// suspect is what a URI of a family may turn out to be part of, if its visit would not tell: it is no deeper than the pages
// that were visited.
func (s *state) suspect(u, via uri.URI, hops uri.HopPath, now time.Time) (Trap, bool) {
	if len(s.farms) == 0 || !wasNamed(hops) || via.Host() != u.Host() {
		return Trap{}, false
	}
	key, ok := shapeOf(u)
	if !ok || s.isSettled(u, key) {
		return Trap{}, false
	}
	i := slices.IndexFunc(s.farms, func(f *farm) bool { return f.Key == key })
	if i < 0 {
		return Trap{}, false
	}
	f := s.farms[i]
	from, related := shapeOf(via)
	if f.Since == 0 || len(hops) > f.Deepest || now.After(time.UnixMicro(f.Since).Add(suspicion)) || !(related && from == key || isHome(via, key)) {
		return Trap{}, false
	}
	return Trap{
		Kind: Farm, Pattern: shapePattern(u, key), Suspect: true,
		Why: fmt.Sprintf("%d pages in a row named only new pages like themselves; whether that goes on is seen first on pages further down", f.Row),
	}, true
}

// inside reports whether a URI was found in the farm: what any other page names, or a feed or sitemap, is not part of it.
func (t *Trap) inside(via uri.URI, hops uri.HopPath) bool {
	text := via.String()
	return wasNamed(hops) && (t.match.MatchString(text) || t.match.MatchString(text+"/"))
}
