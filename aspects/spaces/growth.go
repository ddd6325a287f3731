package spaces

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// The numbers of pages that make folders in folders suspect and certain.
const (
	// GrowthSuspect is the number of pages in a row without anything new that make them suspect. From then on a page is
	// visited only if its folder is deeper than the folders of all pages of the row.
	GrowthSuspect = 16
	// GrowthRow is the number in a row, and GrowthGenerations the number of folders from the highest to the deepest of
	// them, that make them certain. Trees that people maintain are not that deep.
	GrowthRow         = 24
	GrowthGenerations = 8
	// growthDepth is the minimum number of folders of a page that counts.
	growthDepth = 3
)

// growthPattern returns a pattern for the deep URIs below a first folder on the host of u.
func growthPattern(u uri.URI, top string) string {
	return origin(u) + quote(top) + fmt.Sprintf(`(?:[^/?]+/){%d,}[^/?]+/?$`, growthDepth-1)
}

// growth looks for pages in the folder of the page that they were found on. A page without deeper folders, or with a
// file, ends the row wherever it was found.
func (s *state) growth(g Page) (*family, *Trap) {
	own, above := folder(g.URI.Path()), folder(g.Via.Path())
	depth := segments(own)
	if depth < growthDepth || strings.Contains(g.URI.RequestTarget(), "?") {
		return nil, nil
	}
	top := first(own)
	pattern := growthPattern(g.URI, top)
	if s.hasGrown(pattern) {
		return nil, nil
	}
	deeper, ends := false, false
	sums := linksOut(g.Links, func(u uri.URI) bool {
		path := u.Path()
		if u.Host() != g.URI.Host() || !strings.HasPrefix(path, top) {
			return false
		}
		if strings.HasPrefix(path, own) && len(path) > len(own) {
			deeper = true
			ends = ends || file(path)
		}
		return true
	})
	grown := g.Via.Host() == g.URI.Host() && own != above && strings.HasPrefix(own, above)
	if !grown && (deeper && !ends || !slices.ContainsFunc(s.Families, func(f *family) bool { return f.Key == "g"+top })) {
		return nil, nil
	}
	f := s.familyOf("g" + top)
	f.grew(g, depth, f.namesNothingNew(sums) && deeper && !ends)
	if f.Row < GrowthRow || f.Depth-f.First < GrowthGenerations {
		return f, nil
	}
	return f, &Trap{
		Kind: Growth, Pattern: pattern,
		Why: fmt.Sprintf("%d pages in a row, over %d folders in each other, named deeper folders, no file, and nothing else new",
			f.Row, f.Depth-f.First+1),
	}
}

// grew counts a page whose own folder has this depth. After a suspect row that was refuted, the next row must be
// longer to become suspect.
func (f *family) grew(g Page, depth int, nothingNew bool) {
	if f.Since != 0 && (!nothingNew || g.Now.After(time.UnixMicro(f.Since).Add(suspicion))) {
		f.Misses, f.Since, f.Row = min(f.Misses+1, maxMisses), 0, 0
	}
	f.visited(g.URI, nothingNew)
	if f.Row <= 1 || f.First == 0 {
		f.First, f.Depth = depth, depth
	}
	further := depth > f.Depth
	f.First, f.Depth = min(f.First, depth), max(f.Depth, depth)
	if f.Row >= GrowthSuspect<<f.Misses && (further || f.Since == 0) {
		f.Since = g.Now.UnixMicro()
	}
}

// hasGrown reports whether such a trap exists or existed.
func (s *state) hasGrown(pattern string) bool {
	return slices.ContainsFunc(s.Traps, func(t Trap) bool { return t.Kind == Growth && t.Pattern == pattern })
}

// growing returns the suspected growth that a URI is part of: it was found on one of its pages, and it is not deeper
// than the pages visited so far. It reports false if a visit of the URI would show more.
func (s *state) growing(l *link, now time.Time) (Trap, bool) {
	u, via, hops := l.uri, l.via, l.hops
	if len(s.Families) == 0 {
		return Trap{}, false
	}
	own := folder(u.Path())
	depth, top := segments(own), first(own)
	within := wasNamed(hops) && via.Host() == u.Host() && strings.HasPrefix(folder(via.Path()), top)
	if depth < growthDepth || file(u.Path()) || !within || strings.Contains(u.RequestTarget(), "?") {
		return Trap{}, false
	}
	i := slices.IndexFunc(s.Families, func(f *family) bool { return f.Key == "g"+top })
	if i < 0 {
		return Trap{}, false
	}
	f := s.Families[i]
	if f.Since == 0 || depth > f.Depth || now.After(time.UnixMicro(f.Since).Add(suspicion)) {
		return Trap{}, false
	}
	return Trap{
		Kind: Growth, Pattern: growthPattern(u, top), Suspect: true,
		Why: fmt.Sprintf("%d pages in a row named only deeper folders; deeper pages are visited first, to see whether that "+
			"continues", f.Row),
	}, true
}
