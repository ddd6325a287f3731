package spaces

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// TwinProofs is the number of pages whose twin had no text of its own that makes the twins a trap. One in
// twinExceptions of the pages may be another one, because it changed between the two visits.
const (
	TwinProofs     = 8
	twinExceptions = 8
)

// Bounds of what is compared and stored of twins.
const (
	minTwinText   = 12  // rows of words in the sample of a twin
	maxTwinText   = 128 // rows of words in the sample of a page; a longer page has no twin
	twinOneIn     = 16  // share of the rows of words that is sampled
	twinShare     = .9  // of its sample that a twin shares with the page
	maxTwins      = 6
	maxTwinPages  = 24   // that wait for the visit of their twin
	twinPatience  = 1000 // visits of the host until such a page makes room for another one
	maxTwinJudged = TwinProofs + TwinProofs/twinExceptions
)

// twin is a parameter with a value that pages link to themselves with, such as print=1. It is part of a row: keys are
// only ever added.
type twin struct {
	Value    string     `cbor:"1,keyasint"` // name and value; a number of two digits or more is a #
	Pages    []twinPage `cbor:"2,keyasint,omitempty"`
	Judged   []uint64   `cbor:"3,keyasint,omitempty"` // sums of pages whose twin was compared
	Other    int        `cbor:"4,keyasint,omitempty"` // of these, twins with text of their own
	Real     bool       `cbor:"5,keyasint,omitempty"`
	Proven   bool       `cbor:"6,keyasint,omitempty"`
	Touched  int64      `cbor:"7,keyasint,omitempty"`
	Examples []string   `cbor:"8,keyasint,omitempty"`
}

// twinPage is a page that waits for the visit of its twin.
type twinPage struct {
	Sum   uint64   `cbor:"1,keyasint"`           // of its address
	Texts []uint32 `cbor:"2,keyasint"`           // sample of its rows of words, sorted
	At    int64    `cbor:"3,keyasint,omitempty"` // number of the host's visit at which it came
}

// isValid reports whether a stored twin is within its bounds.
func (t *twin) isValid() bool {
	return len(t.Pages) <= maxTwinPages && len(t.Judged) <= maxTwinJudged &&
		!slices.ContainsFunc(t.Pages, func(p twinPage) bool { return len(p.Texts) > maxTwinText })
}

// twinFacts holds what a page says about twins, computed before the lock is taken.
type twinFacts struct {
	texts []uint32
	self  uint64       // sum of the address
	links []string     // with which it links to itself
	ofs   []twinOfPage // the pages whose twin it may be
}

// twinOfPage says that a page may be the twin of another one.
type twinOfPage struct {
	value string
	page  uint64 // sum of the address without it
}

// valueOf returns a parameter as a twin has it.
func valueOf(a arg) string {
	if len(a.value) > 1 && isDigits(a.value) {
		return a.name + "=#"
	}
	return a.name + "=" + a.value
}

// isTwinValue reports whether a parameter may be of twins. Generated values are judged by themselves.
func isTwinValue(a arg, now time.Time) bool {
	return len(a.name) <= maxName && a.value != "" && !strings.HasPrefix(a.name, ";") && look(a.value, now) == plain
}

// linksToTwin returns the parameters with which a page links to itself. It returns at most as many as are stored.
func linksToTwin(g *Page) (values []string) {
	target := g.URI.RequestTarget()
	path, own, _ := args(target)
	if path == "" {
		path = target
	}
	for _, l := range g.Links {
		to := l.URI.RequestTarget()
		if !l.Page || len(to) <= len(target) || !strings.HasPrefix(to, path) || l.URI.Host() != g.URI.Host() {
			continue
		}
		toPath, list, ok := args(to)
		if !ok || toPath != path || len(list) != len(own)+1 {
			continue
		}
		more := slices.DeleteFunc(slices.Clone(list), func(a arg) bool { return slices.Contains(own, a) })
		if len(more) != 1 || !isTwinValue(more[0], g.Now) || slices.Contains(values, valueOf(more[0])) {
			continue
		}
		if values = append(values, valueOf(more[0])); len(values) == maxTwins {
			break
		}
	}
	return values
}

// twinFactsOf computes what a page says about twins.
func twinFactsOf(g Page) (f twinFacts) {
	if g.Content == nil || !g.HTML {
		return f
	}
	path, own, ok := args(g.URI.RequestTarget())
	if !ok {
		path = g.URI.RequestTarget()
	}
	f.self, f.links = restOf(path, own, ""), linksToTwin(&g)
	for _, a := range own {
		if isTwinValue(a, g.Now) {
			f.ofs = append(f.ofs, twinOfPage{valueOf(a), restOf(path, own, a.name)})
		}
	}
	if len(f.links)+len(f.ofs) > 0 {
		for _, sum := range sample(g.Content, nil, twinOneIn, maxTwinText+1) {
			f.texts = append(f.texts, uint32(sum>>32))
		}
		slices.Sort(f.texts)
	}
	return f
}

// learnTwins compares a page with the page whose twin it may be, and keeps it for twins of its own. It returns the
// traps that are certain now, and whether there is anything new to store.
func (s *state) learnTwins(g Page, f twinFacts) (found []Trap, changed bool) {
	for _, of := range f.ofs {
		t := s.twinOf(of.value, false)
		if t == nil || !t.compare(of.page, f.texts) {
			continue
		}
		changed = true
		if len(t.Examples) < maxSeen {
			t.Examples = append(t.Examples, g.URI.String())
		}
		if same := len(t.Judged) - t.Other; same < TwinProofs || t.Other*twinExceptions > same {
			t.Real = len(t.Judged) == maxTwinJudged // enough pages were compared
			continue
		}
		t.Proven, t.Pages = true, nil
		found = s.addTrap(found, Trap{
			Kind: Twin, Parameter: t.Value, Pattern: twinPattern(g.URI.Authority(), t.Value), Found: g.Now,
			Visited: len(t.Judged), Examples: t.Examples,
			Why: fmt.Sprintf("%d pages link to themselves with %s, and have no text there that is not on the page itself",
				len(t.Judged)-t.Other, t.Value),
		})
	}
	for _, value := range f.links {
		if len(f.texts) < minTwinText || len(f.texts) > maxTwinText {
			break
		}
		if t := s.twinOf(value, true); t != nil && t.keep(twinPage{f.self, f.texts, s.Visits}) {
			t.Touched, changed = s.Visits, true
		}
	}
	return found, changed
}

// keep keeps a page until the visit of its twin, if there is room. The first ones stay, because their twins are visited
// first.
func (t *twin) keep(p twinPage) bool {
	if t.Proven || t.Real || slices.Contains(t.Judged, p.Sum) {
		return false
	}
	t.Pages = slices.DeleteFunc(t.Pages, func(o twinPage) bool { return o.Sum == p.Sum || p.At-o.At > twinPatience })
	if len(t.Pages) == maxTwinPages {
		return false
	}
	t.Pages = append(t.Pages, p)
	return true
}

// compare compares the twin of a page with it. It reports false if the page is not known, or was compared before.
func (t *twin) compare(page uint64, texts []uint32) bool {
	i := slices.IndexFunc(t.Pages, func(p twinPage) bool { return p.Sum == page })
	if t.Proven || t.Real || i < 0 || len(texts) < minTwinText {
		return false
	}
	shared := 0
	for _, sum := range texts {
		if _, ok := slices.BinarySearch(t.Pages[i].Texts, sum); ok {
			shared++
		}
	}
	if float64(shared) < twinShare*float64(len(texts)) {
		t.Other++
	}
	t.Pages, t.Judged = slices.Delete(t.Pages, i, i+1), append(t.Judged, page)
	return true
}

// twinOf returns the twin with a value. If there is none, it returns nil, or adds it if there is room.
func (s *state) twinOf(value string, add bool) *twin {
	for _, t := range s.Twins {
		if t.Value == value {
			return t
		}
	}
	if !add {
		return nil
	}
	if len(s.Twins) >= maxTwins {
		idle := slices.MinFunc(s.Twins, func(a, b *twin) int { return int(a.Touched - b.Touched) })
		if idle.Proven || idle.Real {
			return nil
		}
		s.Twins = slices.DeleteFunc(s.Twins, func(t *twin) bool { return t == idle })
	}
	t := &twin{Value: strings.Clone(value)}
	s.Twins = append(s.Twins, t)
	return t
}

// listTwins records that a feed or sitemap lists URIs, whose parameters are not of twins then. It returns the traps
// that this refutes.
func (s *state) listTwins(us []uri.URI, now time.Time) (refuted []Trap, changed bool) {
	for _, u := range us {
		_, list, _ := args(u.RequestTarget())
		for _, a := range list {
			if !isTwinValue(a, now) {
				continue
			}
			t := s.twinOf(valueOf(a), false)
			if t == nil || t.Real {
				continue
			}
			if t.Proven {
				refuted = s.refute(refuted, func(o *Trap) bool { return o.Kind == Twin && o.Parameter == t.Value })
			}
			t.Real, t.Proven, t.Pages, changed = true, false, nil, true
		}
	}
	return refuted, changed
}

// twinPattern returns the expression that finds the URIs of a host and port with the parameter of a twin.
func twinPattern(authority, value string) string {
	name, v, _ := strings.Cut(value, "=")
	if v = quote(v); v == "#" {
		v = "[0-9]+"
	}
	return "^https?://" + quote(authority) + `/[^?]*\?(?:.*&)?` + quote(name) + "=" + v + "(?:&|$)"
}
