package traps

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// The numbers that make folders in folders suspect and certain.
const (
	// GrowthSuspect is how many barren pages in a row make them suspect: from then on only pages are visited whose folder is
	// deeper than those of all pages of the row.
	GrowthSuspect = 16
	// GrowthRow is how many in a row, and GrowthGenerations how many folders from the highest to the deepest of them, make them
	// certain. Trees that people keep are not that deep.
	GrowthRow         = 24
	GrowthGenerations = 8
	// growthDepth is from which folder on pages count as grown.
	growthDepth = 3
)

// growthPattern is an expression for the grown URIs below a first folder on the host of u.
func growthPattern(u uri.URI, top string) string {
	return origin(u) + quote(top) + fmt.Sprintf(`(?:[^/?]+/){%d,}[^/?]+/?$`, growthDepth-1)
}

// growth looks at pages in the folder of the page that they were found on. A page that is an end, or has a file, ends the row
// wherever it was found.
func (s *state) growth(g Sight) (*family, *Trap) {
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
	sums := out(g.Links, func(u uri.URI) bool {
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
	if !grown && (deeper && !ends || !slices.ContainsFunc(s.families, func(f *family) bool { return f.Key == "g"+top })) {
		return nil, nil
	}
	f := s.at("g" + top)
	f.grew(g, depth, f.barren(sums) && deeper && !ends)
	if f.Row < GrowthRow || f.Depth-f.First < GrowthGenerations {
		return f, nil
	}
	return f, &Trap{
		Kind: Growth, Pattern: pattern,
		Why: fmt.Sprintf("%d pages in a row, over %d folders in each other, named deeper folders, never an end or a file, and nothing else that was not known",
			f.Row, f.Depth-f.First+1),
	}
}

// grew counts a page of folders in folders, whose own folder has this depth. A row that was suspect and came to an end makes the
// next one longer before it is.
func (f *family) grew(g Sight, depth int, barren bool) {
	if f.Since != 0 && (!barren || g.Now.After(time.UnixMicro(f.Since).Add(suspicion))) {
		f.Misses, f.Since, f.Row = min(f.Misses+1, maxMisses), 0, 0
	}
	f.visited(g.URI, barren)
	if f.Row <= 1 || f.First == 0 {
		f.First, f.Depth = depth, depth
	}
	further := depth > f.Depth
	f.First, f.Depth = min(f.First, depth), max(f.Depth, depth)
	if f.Row >= GrowthSuspect<<f.Misses && (further || f.Since == 0) {
		f.Since = g.Now.UnixMicro()
	}
}

// hasGrown reports whether there is such a trap already, or was.
func (s *state) hasGrown(pattern string) bool {
	return slices.ContainsFunc(s.traps, func(t Trap) bool { return t.Kind == Growth && t.Pattern == pattern })
}

// growing is what a URI may turn out to be part of, if its visit would not tell: it is a folder among folders, no deeper than
// the pages that were visited, and was found on one of them.
func (s *state) growing(u, via uri.URI, hops uri.HopPath, now time.Time) (Trap, bool) {
	if len(s.families) == 0 {
		return Trap{}, false
	}
	own := folder(u.Path())
	depth, top := segments(own), first(own)
	if depth < growthDepth || file(u.Path()) || !wasNamed(hops) || via.Host() != u.Host() || !strings.HasPrefix(folder(via.Path()), top) ||
		strings.Contains(u.RequestTarget(), "?") {
		return Trap{}, false
	}
	i := slices.IndexFunc(s.families, func(f *family) bool { return f.Key == "g"+top })
	if i < 0 {
		return Trap{}, false
	}
	f := s.families[i]
	if f.Since == 0 || depth > f.Depth || now.After(time.UnixMicro(f.Since).Add(suspicion)) {
		return Trap{}, false
	}
	return Trap{
		Kind: Growth, Pattern: growthPattern(u, top), Suspect: true,
		Why: fmt.Sprintf("%d pages in a row named only deeper folders; whether that goes on is seen first on pages further down", f.Row),
	}, true
}
