package spaces

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// The numbers of pages that make a link farm suspect and certain.
const (
	// FarmSuspect is the number of inventing pages in a row that make a family suspect. From then on a page is visited
	// only if it was found deeper in the family than all before.
	FarmSuspect = 10
	// FarmRow is the number in a row, and FarmGenerations the number of steps from the first to the last of them, that
	// make it certain.
	FarmRow         = 16
	FarmGenerations = 6
	// farmMembers is the minimum number of pages of its family that an inventing page names.
	farmMembers = 3
	// listMembers is the number of pages of a family on another page that make it a list of them.
	listMembers = 5
	// suspicion is how long a family stays suspect if nothing proves or refutes it.
	suspicion = 12 * time.Hour
)

// Bounds of what is stored of farms: maxFarmNamed sums of links per farm, and [maxEntrances] pages
// that others name.
const (
	maxFarms     = 24
	maxVouched   = 512
	maxFarmNamed = 512
	maxMisses    = 6
)

// farm is a family that may be a link farm. It is part of a row: keys are only ever added.
type farm struct {
	Key       string      `cbor:"1,keyasint"` // what its URIs have in common, see shapeOf
	Visits    int         `cbor:"2,keyasint,omitempty"`
	Row       int         `cbor:"3,keyasint,omitempty"`  // inventing visits in a row
	First     int         `cbor:"4,keyasint,omitempty"`  // hops to the first page of the row, by depth
	Deepest   int         `cbor:"5,keyasint,omitempty"`  // hops to the deepest page of the row
	Links     bloomFilter `cbor:"6,keyasint,omitempty"`  // links out of the family that were seen
	Named     []uint32    `cbor:"7,keyasint,omitempty"`  // the smallest sums of pages that its pages have named, sorted
	Entrances []uint32    `cbor:"8,keyasint,omitempty"`  // sums of the pages that others have named
	Misses    int         `cbor:"9,keyasint,omitempty"`  // number of times it was suspect and was refuted
	Since     int64       `cbor:"10,keyasint,omitempty"` // µs since 1970, when it became suspect
	Touched   int64       `cbor:"11,keyasint,omitempty"` // number of the host's visit that read it last
	Examples  []string    `cbor:"12,keyasint,omitempty"`
}

// shapeOf returns the key of a URI's family: its first folder; for a file at the root with one parameter its name;
// "/" for other files at the root. The root itself and combinations of parameters have no family.
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

// shapePattern returns a pattern for the URIs of a family on the host of u.
func shapePattern(u uri.URI, key string) string {
	switch {
	case key == "/":
		return origin(u) + `/[^/?]+/?$`
	case strings.HasSuffix(key, "?"):
		return origin(u) + quote(strings.TrimSuffix(key, "?")) + `\?`
	}
	return origin(u) + quote(key)
}

// isHome reports whether a URI is the folder whose pages are the family.
func isHome(u uri.URI, key string) bool { return len(key) > 1 && folder(u.Path()) == key }

// wasNamed reports whether a page was found on a page. Seeds, implied pages and entries of feeds and sitemaps were not.
func wasNamed(hops uri.HopPath) bool {
	if hops == "" {
		return false
	}
	last := uri.Hop(hops[len(hops)-1])
	return last == uri.Link || last == uri.Redirect || last == uri.Embed || last == uri.Speculative
}

// isStart reports whether a URI is a seed, or the target of its redirects.
func isStart(hops uri.HopPath) bool {
	return strings.Trim(string(hops), string(rune(uri.Redirect))) == ""
}

// pageEndings lists the extensions of pages.
var pageEndings = []string{".html", ".htm", ".xhtml", ".shtml", ".php", ".asp", ".aspx", ".jsp", ".cgi", ".do"}

// isPage reports whether a path may be the path of a page, by its extension.
func isPage(path string) bool {
	last := path[strings.LastIndexByte(path, '/')+1:]
	dot := strings.LastIndexByte(last, '.')
	return dot < 0 || slices.Contains(pageEndings, strings.ToLower(last[dot:]))
}

// vouchedFor reports whether somebody else has vouched for a family. If too many families are vouched for, all are.
func (s *state) vouchedFor(key string) bool {
	if len(s.Vouched) >= maxVouched {
		return true
	}
	_, ok := slices.BinarySearch(s.Vouched, uint32(sumOf(key)))
	return ok
}

// vouch records that somebody else vouches for a family. It releases the traps of the family and returns them.
func (s *state) vouch(u uri.URI, key string) (refuted []Trap, changed bool) {
	at, ok := slices.BinarySearch(s.Vouched, uint32(sumOf(key)))
	if ok || len(s.Vouched) >= maxVouched {
		return nil, false
	}
	s.Vouched = slices.Insert(s.Vouched, at, uint32(sumOf(key)))
	s.Farms = slices.DeleteFunc(s.Farms, func(f *farm) bool { return f.Key == key })
	pattern := shapePattern(u, key)
	refuted = s.refute(nil, func(t *Trap) bool { return t.Kind == Farm && t.Pattern == pattern })
	return refuted, true
}

// farmOf returns the family with this key; nil if there is none.
func (s *state) farmOf(key string) *farm {
	for _, f := range s.Farms {
		if f.Key == key {
			f.Touched = s.Visits
			return f
		}
	}
	return nil
}

// learnLists records what a page says of other families. A page that names many pages of a family lists them. A page
// that names a page which only the family itself had named knows it from elsewhere. Both vouch for the family.
func (s *state) learnLists(g Page, own string) (refuted []Trap, changed bool) {
	if f := s.farmOf(own); f != nil && f.Row > 0 {
		return nil, false
	}
	start, host := isStart(g.Hops), g.URI.Host()
	named := map[string]int{}
	settled := "" // the family of an earlier link that needs no further look; no family has this name
	for _, link := range g.Links {
		l := link.URI
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
			refuted, changed = append(refuted, more...), true
		}
	}
	return refuted, changed
}

// entrance records a page that others name. It reports whether only pages of the family had named it before.
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

// name records pages that a page of the family names. It returns how many of them were looked up, and how many of these
// are new. Only the pages with the smallest sums are kept, a sample that depends on nothing else.
func (f *farm) name(sums []uint64) (looked, fresh int) {
	for _, sum := range sums {
		short := uint32(sum)
		full := len(f.Named) >= maxFarmNamed
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

// members divides the links of a page into the pages of its family and the links out of it, as sums. A page below the
// page itself is outside, because trees of folders are built in this way, and they end. The sums are without ids,
// unless the pages differ only in their ids.
func members(g Page, key string) (inside, outside []uint64) {
	own := folder(g.URI.Path())
	var whole, without []uint64
	for _, link := range g.Links {
		l := link.URI
		k, ok := shapeOf(l)
		switch {
		case l == g.URI:
		case ok && k == key && l.Host() == g.URI.Host() && isPage(l.Path()) &&
			(own == "/" || !strings.HasPrefix(l.Path(), own)):
			if l == g.Via {
				continue
			}
			whole = append(whole, sumOf(l.RequestTarget()))
			without = append(without, undatedSum("", l.RequestTarget()))
		default:
			outside = append(outside, undatedSum(l.Authority(), l.RequestTarget()))
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

// farm looks for pages that were found on pages of their family and name only pages that nobody has named before.
func (s *state) farm(g Page) (trap *Trap, refuted []Trap, changed bool) {
	key, ok := shapeOf(g.URI)
	refuted, changed = s.learnLists(g, key)
	if !ok || isStart(g.Hops) || s.vouchedFor(key) || s.isSettled(newLink(g.URI, g.Via, g.Hops), key) {
		return nil, refuted, changed
	}
	from, related := shapeOf(g.Via)
	within := wasNamed(g.Hops) && g.Via.Host() == g.URI.Host() && (related && from == key || isHome(g.Via, key))
	inside, outside := members(g, key)
	f := s.farmOf(key)
	if f == nil {
		if !within || len(inside) < farmMembers {
			return nil, refuted, changed
		}
		if len(s.Farms) >= maxFarms {
			oldest := slices.MinFunc(s.Farms, func(a, b *farm) int { return int(a.Touched - b.Touched) })
			s.Farms = slices.DeleteFunc(s.Farms, func(f *farm) bool { return f == oldest })
		}
		f = &farm{Key: key, Touched: s.Visits}
		s.Farms = append(s.Farms, f)
	}
	looked, fresh := f.name(inside)
	nothingNew := true
	for _, sum := range outside {
		nothingNew = f.Links.Add(sum) && nothingNew
	}
	f.Visits++
	if looked == 0 && len(inside) > 0 || f.Visits == 1 {
		return nil, refuted, true
	}
	invents := len(inside) >= farmMembers && 4*fresh >= 3*looked && nothingNew && !f.Links.IsFull()
	moved := f.count(invents, within, len(g.Hops), g)
	if f.Row < FarmRow<<f.Misses || f.Deepest-f.First < FarmGenerations {
		return nil, refuted, changed || moved
	}
	return &Trap{
		Kind: Farm, Pattern: shapePattern(g.URI, key), Found: g.Now, Visited: f.Visits, Examples: f.Examples,
		Why: fmt.Sprintf("%d pages in a row, each found on earlier ones, over %d steps, named new pages like themselves and "+
			"nothing else new; no other page, feed or sitemap names any of them", f.Row, f.Deepest-f.First),
	}, refuted, true
}

// count counts a page, and reports whether the farm has changed.
func (f *farm) count(invents, within bool, depth int, g Page) bool {
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

// isSettled reports whether a URI is already known to be part of a trap, or of a farm that was released.
func (s *state) isSettled(l *link, key string) bool {
	pattern := shapePattern(l.uri, key)
	for i := range s.Traps {
		t := &s.Traps[i]
		if t.Kind == Farm && t.Pattern == pattern || t.Kind == Session && !t.Released && l.fits(t, l.text) {
			return true
		}
	}
	return false
}

// suspect returns the suspected farm of a URI. It reports false if a visit of the URI would show more, because the
// URI is deeper than the pages visited so far.
func (s *state) suspect(l *link, now time.Time) (Trap, bool) {
	u, via, hops := l.uri, l.via, l.hops
	if len(s.Farms) == 0 || !wasNamed(hops) || via.Host() != u.Host() {
		return Trap{}, false
	}
	key, ok := shapeOf(u)
	if !ok || s.isSettled(l, key) {
		return Trap{}, false
	}
	i := slices.IndexFunc(s.Farms, func(f *farm) bool { return f.Key == key })
	if i < 0 {
		return Trap{}, false
	}
	f := s.Farms[i]
	from, related := shapeOf(via)
	within := related && from == key || isHome(via, key)
	if f.Since == 0 || len(hops) > f.Deepest || now.After(time.UnixMicro(f.Since).Add(suspicion)) || !within {
		return Trap{}, false
	}
	return Trap{
		Kind: Farm, Pattern: shapePattern(u, key), Suspect: true,
		Why: fmt.Sprintf("%d pages in a row named only new pages like themselves; deeper pages are visited first, to see "+
			"whether that continues", f.Row),
	}, true
}

// wasFoundInside reports whether a URI was found on a page of the farm. Other URIs are not part of it.
func (t *Trap) wasFoundInside(l *link) bool {
	text := l.via.String()
	return wasNamed(l.hops) && (l.fits(t, text) || l.fits(t, text+"/"))
}
