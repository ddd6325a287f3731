package spaces

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// The numbers of pages that make a pattern a query space, and the budget before.
const (
	// QueryRow is the number of barren pages in a row, and QueryGenerations the number of steps from the first to the
	// last of them.
	QueryRow         = 10
	QueryGenerations = 5
	// Base is the number of first visits of pages inside that every pattern may have.
	Base = 16
	// MaxWords and MaxNumbers bound the visits that pages bring which had something new: where the parameters are words,
	// and where they are numbers, as the names of articles are.
	MaxWords, MaxNumbers = 12, 1000
	// Trickle is the number of visits of a host that add one to each budget.
	Trickle = 100
	// Doubt is how long a pattern counts as one that may be endless after a first visit of its pages was put off.
	Doubt = 28 * 24 * time.Hour

	maxProbes   = 16 // visits without a budget that show whether a pattern ends
	richProbes  = 4  // the same if its last page was not barren
	fewNew      = 4  // sampled rows of words on a barren page that were on no other
	linkedShare = 10 // one in linkedShare pages must be linked twice
	minShare    = 8  // pages of the sample that were visited before the share counts
)

// Bounds of what is stored of patterns.
const (
	maxSpaces    = 12
	maxMembers   = 192
	maxCommon    = 16
	maxEntrances = 64
	others       = "*" // the key of the patterns for which there was no room
)

// space is a pattern of a host. It is part of a row: keys are only ever added.
type space struct {
	Key      string      `cbor:"1,keyasint"`
	Visits   int         `cbor:"2,keyasint,omitempty"` // first visits of pages inside
	Rich     int         `cbor:"3,keyasint,omitempty"` // of these, pages that had something new
	Row      int         `cbor:"4,keyasint,omitempty"` // barren pages in a row
	First    int         `cbor:"5,keyasint,omitempty"` // hops to the first page of the row, by depth
	Deepest  int         `cbor:"6,keyasint,omitempty"`
	Texts    bloomFilter `cbor:"7,keyasint,omitempty"`
	Links    bloomFilter `cbor:"8,keyasint,omitempty"`
	Members  []member    `cbor:"9,keyasint,omitempty"` // the ones with the smallest sums, sorted
	Listed   bool        `cbor:"10,keyasint,omitempty"`
	Proven   bool        `cbor:"11,keyasint,omitempty"`
	Held     int64       `cbor:"12,keyasint,omitempty"` // times that a URI was put off for lack of budget
	Since    int64       `cbor:"13,keyasint,omitempty"` // number of the host's visit at which it was added
	Examples []string    `cbor:"14,keyasint,omitempty"`
	Depth    int         `cbor:"17,keyasint,omitempty"` // hops to the deepest page inside
	Common   []uint32    `cbor:"18,keyasint,omitempty"` // the first values that are no numbers
	// Entrances holds the sums of the pages that pages of other patterns name.
	Entrances []uint32 `cbor:"16,keyasint,omitempty"`
	Words     int      `cbor:"15,keyasint,omitempty"` // pages with something new whose parameters are words
	Again     int64    `cbor:"19,keyasint,omitempty"` // further visits of pages inside while it may be endless
	Stopped   int64    `cbor:"20,keyasint,omitempty"` // about when a first visit was put off last, in seconds since 1970
}

// member is a URI of a pattern that a page inside has named.
type member struct {
	Sum     uint32 `cbor:"1,keyasint"`
	By      uint32 `cbor:"2,keyasint,omitempty"` // the page that named it first
	Visited bool   `cbor:"3,keyasint,omitempty"`
	Linked  bool   `cbor:"4,keyasint,omitempty"` // another page named it before it was visited
}

// isValid reports whether a stored pattern is within its bounds.
func (p *space) isValid() bool {
	return p.Texts.IsValid() && p.Links.IsValid() && len(p.Members) <= maxMembers && len(p.Entrances) <= maxEntrances &&
		len(p.Common) <= maxCommon
}

// spaceOf returns the pattern with this key, or the one that all patterns without room share. It returns nil if add is
// false and there is neither.
func (s *state) spaceOf(key string, add bool) *space {
	for _, p := range s.Spaces {
		if p.Key == key {
			return p
		}
	}
	if len(s.Spaces) >= maxSpaces {
		if key == others {
			return nil
		}
		key = others
		if s.Spaces[len(s.Spaces)-1].Key == others {
			return s.Spaces[len(s.Spaces)-1]
		}
		add = add && len(s.Spaces) == maxSpaces // one more, for the others
	}
	if !add {
		return nil
	}
	p := &space{Key: strings.Clone(key), Since: s.Ticks}
	s.Spaces = append(s.Spaces, p)
	return p
}

// allowance returns the budget of a pattern.
func (s *state) allowance(p *space) int {
	merit := min(p.Words, MaxWords) + min(p.Rich-p.Words, MaxNumbers)
	if p.isLinked() {
		merit = 2 * p.Rich
	}
	return Base + merit + int((s.Ticks-p.Since)/Trickle)
}

// isLinked reports whether one page in [linkedShare] was linked from a second page, as real pages are.
func (p *space) isLinked() bool {
	visited, linked := 0, 0
	for _, m := range p.Members {
		if m.Visited {
			visited++
			if m.Linked {
				linked++
			}
		}
	}
	return visited >= minShare && linkedShare*linked >= visited
}

// visit adds the first visit of a page inside. It returns the query space if it is certain now.
func (s *state) visit(g Page, f facts) (t Trap, certain bool) {
	p := s.spaceOf(f.key, true)
	p.Visits++
	if len(p.Examples) < maxSeen {
		p.Examples = append(p.Examples, g.URI.String())
	}
	barren, rich := p.compare(f)
	p.mark(f.self)
	words := p.hasNewWord(f.values)
	barren = barren && words
	p.Depth = max(p.Depth, len(g.Hops))
	if rich {
		p.Rich++
		if words {
			p.Words++
		}
	}
	switch depth := len(g.Hops); {
	case !barren:
		p.Row = 0
	case p.Row == 0:
		p.Row, p.First, p.Deepest = 1, depth, depth
	default:
		p.Row++
		p.First, p.Deepest = min(p.First, depth), max(p.Deepest, depth)
	}
	if p.Key == others || p.Listed || p.Proven || p.Row < QueryRow || p.Deepest-p.First < QueryGenerations {
		return t, false
	}
	p.Proven = true
	p.Texts, p.Links, p.Members, p.Entrances = nil, nil, nil, nil
	return Trap{
		Kind: Query, Space: p.Key, Pattern: spacePattern(g.URI.Authority(), p.Key), Found: g.Now, Examples: p.Examples,
		Visited: p.Visits,
		Why: fmt.Sprintf("%d pages in a row over %d steps, each found on another one, had no new text and no new link except "+
			"to more pages of the same kind", p.Row, p.Deepest-p.First),
	}, true
}

// compare records the texts and links of a page. It reports whether the page had nothing new but words for further
// pages of the pattern, and whether it had something new.
func (p *space) compare(f facts) (barren, rich bool) {
	if p.Texts.IsFull() || p.Links.IsFull() {
		p.Texts, p.Links, p.Row = nil, nil, 0
	}
	texts, links, fresh, further := 0, 0, 0, 0
	for _, sum := range f.texts {
		if !p.Texts.Add(sum) {
			texts++
		}
	}
	for _, l := range f.outside {
		if !p.Links.Add(l.sum) && !l.known {
			links++
		}
	}
	for _, sum := range f.inside {
		if slices.Contains(p.Entrances, uint32(sum)) {
			continue
		}
		further++
		if !p.Links.Add(sum) {
			fresh++
		}
	}
	rich = texts > fewNew || links > 0
	return !rich && fresh > 0 && 4*fresh >= 3*further, rich
}

// hasNewWord records the words among the values of a page, and reports whether one is not among the first few of the
// pattern. A view or an order has few values; a search has a new one each time.
func (p *space) hasNewWord(values []uint32) (fresh bool) {
	for _, v := range values {
		if slices.Contains(p.Common, v) {
			continue
		}
		fresh = true
		if len(p.Common) < maxCommon {
			p.Common = append(p.Common, v)
		}
	}
	return fresh
}

// mark records that a member is visited.
func (p *space) mark(sum uint32) {
	if i, ok := p.find(sum); ok {
		p.Members[i].Visited = true
	}
}

func (p *space) find(sum uint32) (int, bool) {
	return slices.BinarySearchFunc(p.Members, sum, func(m member, sum uint32) int { return cmp.Compare(m.Sum, sum) })
}

// name records that a page names a member.
func (p *space) name(sum, by uint32) {
	i, ok := p.find(sum)
	switch {
	case ok:
		m := &p.Members[i]
		m.Linked = m.Linked || !m.Visited && m.By != by
		return
	case i == maxMembers:
		return
	case len(p.Members) == maxMembers:
		p.Members = p.Members[:maxMembers-1]
	}
	p.Members = slices.Insert(p.Members, i, member{Sum: sum, By: by})
}

// nameAll records the members of all patterns that a page names.
func (s *state) nameAll(f facts) {
	for _, l := range f.named {
		p := s.spaceOf(l.key, l.inside)
		if p == nil || p.Proven || p.Key == others {
			continue
		}
		p.name(l.sum, f.self)
		if l.key != f.own && len(p.Entrances) < maxEntrances && !slices.Contains(p.Entrances, l.sum) {
			p.Entrances = append(p.Entrances, l.sum)
		}
	}
}

// holds reports whether a URI has to wait for a budget. A page that was found deeper than all before does not, because
// it shows whether the pattern ends.
func (s *state) holds(key string, w Wanted) (*space, bool) {
	p := s.spaceOf(key, false)
	switch {
	case p == nil || p.Proven || p.Listed:
		return nil, false
	case !w.First:
		return p, s.holdsAgain(p, w.Now)
	case p.Visits < s.allowance(p):
		return nil, false
	}
	probes := maxProbes
	if p.Row == 0 {
		probes = richProbes
	}
	return p, p.Key == others || len(w.Hops) <= p.Depth || p.Visits >= s.allowance(p)+probes
}

// holdsAgain reports whether a page that was visited before has to wait. It does if most pages of its pattern had
// nothing new. While the pattern may be endless, all of its pages together have one visit in [Trickle] of the host.
func (s *state) holdsAgain(p *space, now time.Time) bool {
	if p.Visits >= s.allowance(p) && 2*p.Rich < p.Visits {
		return true
	}
	return p.mayBeEndless(now) && p.Again >= (s.Ticks-p.Since)/Trickle
}

// mayBeEndless reports whether a first visit was put off not long ago, and few pages are linked from a second page. A
// time in the future is from a wrong clock and says nothing.
func (p *space) mayBeEndless(now time.Time) bool {
	since := now.Unix() - p.Stopped
	return p.Stopped != 0 && since < int64(Doubt/time.Second) && since > -stoppedSteps && !p.isLinked()
}

// admit records that a page that was visited before is visited again.
func (p *space) admit(now time.Time) (changed bool) {
	if !p.mayBeEndless(now) {
		return false
	}
	p.Again++
	return true
}

// putOff records that a URI waits for a budget. It reports whether that changes what is stored.
func (p *space) putOff(w Wanted) (changed bool) {
	if d := w.Now.Unix() - p.Stopped; w.First && (d >= stoppedSteps || d <= -stoppedSteps) {
		p.Stopped, changed = w.Now.Unix(), true
	}
	if w.Found {
		return changed
	}
	p.Held++
	return true
}

// stoppedSteps is the number of seconds by which the time at which a page was put off is wrong at most. It is not
// written more often.
const stoppedSteps = 3600

// list records that a feed or sitemap lists members. It returns the traps that this refutes.
func (s *state) list(us []uri.URI) (refuted []Trap, changed bool) {
	for _, u := range us {
		key, ok := keyOf(u.RequestTarget())
		if !ok {
			continue
		}
		p := s.spaceOf(key, true)
		if p.Key == others || p.Listed {
			continue
		}
		if p.Proven {
			refuted = s.refute(refuted, func(t *Trap) bool { return t.Kind == Query && t.Space == key })
		}
		p.Listed, p.Proven, changed = true, false, true
	}
	return refuted, changed
}

// Pattern is a pattern of a host that uses a budget. In JSON it is part of an answer of the API.
type Pattern struct {
	Key       string   `json:"pattern"`   // path and names of parameters
	Visits    int      `json:"visited"`   // first visits of pages that were found on pages of the same path
	Rich      int      `json:"with_news"` // pages among them that had something new
	Allowance int      `json:"allowed"`   // first visits that it may have now
	Held      int64    `json:"deferred"`  // times that a URI had to wait
	Examples  []string `json:"-"`
}

// shortWait and longWait bound how long a URI waits for a budget.
const (
	shortWait = 3 * time.Hour
	longWait  = 14 * 24 * time.Hour
	perWait   = 100 // URIs put off that make the wait longer by shortWait
)

// wait returns how long the next URI of a pattern waits for a budget.
func (p *space) wait() time.Duration {
	return min(shortWait*time.Duration(1+p.Held/perWait), longWait)
}

// parameterPattern returns the expression that finds the URIs of a host and port with a parameter.
func parameterPattern(authority, parameter string) string {
	begin := "^https?://" + quote(authority)
	if name, ok := strings.CutPrefix(parameter, ";"); ok {
		return "^(" + begin[1:] + "/[^?]*);" + quote(name) + "=[^/?]*"
	}
	return begin + `/[^?]*\?(?:.*&)?` + quote(parameter) + "=[^&]*"
}

// spacePattern returns the expression that finds the URIs of a path with certain names of parameters, as [Trap].Space
// has them, on a host and port.
func spacePattern(authority, space string) string {
	path, names, _ := strings.Cut(space, "?")
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if parts[i] = quote(part); part == "*" {
			parts[i] = "[^/?]+"
		}
	}
	list := strings.Split(names, "&")
	for i := range list {
		list[i] = quote(list[i])
	}
	one := "(?:" + strings.Join(slices.Compact(list), "|") + ")(?:=[^&]*)?"
	return "^https?://" + quote(authority) + strings.Join(parts, "/") + `\?` + one + "(?:&" + one + ")*$"
}

// spacePatternOfHost returns [spacePattern] for a host and all of its ports.
func spacePatternOfHost(h uri.Host, space string) string {
	return strings.Replace(spacePattern(string(h), space), quote(string(h)), quote(string(h))+"(?::[0-9]+)?", 1)
}
