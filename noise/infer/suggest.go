// Package infer finds out which parts of a page are noise: they differ at each fetch without being new. It returns the
// narrowest rules that leave them out.
//
// [Suggest] finds rules for a curator to accept, from versions in the archive. [Finder] finds rules at second looks of
// the crawl. No rule removes an edit or main content.
package infer

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	nethtml "golang.org/x/net/html"

	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/digest"
)

// Proposal is the result of [Suggest]: rules for noise, and their effect on the versions in which it was found.
type Proposal struct {
	Regexes, Selectors []string

	Open    []Part // differ at every visit, and nothing proves that they are noise; no rule hides them
	Refused []Part // differ within seconds, but a rule for them would hide main content

	Pairs  int // pairs of consecutive versions that differ; the sum of the next four
	Quiet  int // pairs without a real edit that are equal under the rules
	Edits  int // pairs with a real edit that differ under the rules
	Merged int // pairs with a real edit that are equal under the rules; zero in a proposal
	Loud   int // pairs without a real edit that differ under the rules

	residue int // runs of two words in which consecutive versions differ under the rules
}

// Part is a part of a page.
type Part struct {
	Place  string // a selector, which may match more
	Sample string // the beginning of its newest value
}

// The errors of too little evidence.
var (
	ErrTooFew = errors.New("at least two versions are needed, and they must differ")
	ErrApart  = fmt.Errorf("fewer than %d versions, and no two of them were fetched within %d minutes, so news and noise look the same",
		steadyPairs+1, int(noise.Moment/time.Minute))
)

// What [Suggest] demands before it calls a part noise.
const (
	steadyPairs = 3 // pairs of versions, if no two are of one moment
	manyPairs   = 4 // from this number of pairs on, three in four must differ, not all
)

// Suggest finds the parts of an HTML page that are noise, and the narrowest rules that leave them out. versions are
// ordered by time. All are read as the media type of the newest one says.
//
// Parts that differ between two fetches of one [noise.Moment] are noise. Between versions of different days news
// differs too. There a part is noise only if it differs at every visit and no reader would miss it: a clock, the date
// of the visit, a token. All other parts are edits. Those that differ at every visit are listed as open.
//
// No rule removes an edit or main content, and each rule matches only where noise was found. Suggest tries the rules
// on the versions and drops those that are not needed. It may take minutes for large pages with many parts that differ;
// it returns the error of ended as soon as there is one.
func Suggest(ended func() error, versions []noise.Version) (Proposal, error) {
	if len(versions) < 2 {
		return Proposal{}, ErrTooFew
	}
	contentType := versions[len(versions)-1].MIME
	s := suggester{end: ended, hasEdit: map[*nethtml.Node]bool{}, spots: map[string]int{}}
	for _, v := range versions {
		text := digest.Decode(v.Content, contentType)
		root, err := nethtml.Parse(bytes.NewReader(text))
		if err != nil {
			return Proposal{}, err
		}
		s.texts, s.roots, s.dates = append(s.texts, text), append(s.roots, root), append(s.dates, v.Date)
	}
	s.edited = make([]bool, len(versions)-1)
	s.close = make([]bool, len(versions)-1)
	for i := range s.close {
		s.close[i] = s.dates[i+1].Sub(s.dates[i]).Abs() <= noise.Moment
	}
	if !slices.Contains(s.close, true) && len(s.close) < steadyPairs {
		return Proposal{}, ErrApart
	}
	s.compare(s.roots)
	s.lift()
	p := Proposal{Open: s.open, Refused: s.refused}
	for _, n := range s.noisy {
		if !s.ended() {
			s.propose(&p, n)
		}
	}
	if err := ended(); err != nil {
		return Proposal{}, err
	}
	return s.prune(p)
}

// suggester compares versions node by node.
type suggester struct {
	end     func() error
	dates   []time.Time
	texts   [][]byte
	roots   []*nethtml.Node
	close   []bool // whether the versions of a pair are of one moment
	noisy   []*spot
	open    []Part
	refused []Part
	edited  []bool                 // whether an edit was found, for each pair
	hasEdit map[*nethtml.Node]bool // the elements that contain an edit, in every version
	spots   map[string]int         // the number of noisy parts for which an expression was proposed
}

// ended reports whether the caller does not wait for the result any more.
func (s *suggester) ended() bool { return s.end() != nil }

// spot is a part of the page that exists in every version.
type spot struct {
	node   *nethtml.Node   // the element, in the newest version
	nodes  []*nethtml.Node // the element in each version
	before string          // what precedes the text in the page: an expression for a tag
	attr   string          // the attribute that differs; empty if it is the text
	whole  bool            // the content of the element differs in its structure
	proven bool            // it differs between fetches of one moment
	values []string
}

// compare compares an element that exists in every version, and its children.
func (s *suggester) compare(nodes []*nethtml.Node) {
	if s.ended() {
		return
	}
	newest := nodes[len(nodes)-1]
	s.compareTexts(nodes)
	for _, a := range newest.Attr {
		if s.ended() {
			return
		}
		values := each(nodes, func(n *nethtml.Node) string { return attribute(n, a.Key) })
		s.classify(&spot{node: newest, nodes: nodes, attr: a.Key, values: values})
	}
	children := each(nodes, childrenByKey)
	s.takeShuffled(nodes, children)
	rest := make([]string, len(nodes))
	for _, key := range children[len(children)-1].order {
		var same []*nethtml.Node
		for _, c := range children {
			if n := c.by[key]; n != nil {
				same = append(same, n)
			}
		}
		if len(same) == len(nodes) {
			s.compare(same)
			for _, c := range children {
				delete(c.by, key)
			}
		}
	}
	for i, c := range children {
		for _, key := range c.order {
			if n := c.by[key]; n != nil {
				rest[i] += rendered(n)
			}
		}
	}
	s.classify(&spot{node: newest, nodes: nodes, whole: true, values: rest})
}

// compareTexts compares the texts directly in an element, one by one if every version has the same number of them.
func (s *suggester) compareTexts(nodes []*nethtml.Node) {
	newest := nodes[len(nodes)-1]
	texts := each(nodes, ownTexts)
	for _, t := range texts {
		if len(t) != len(texts[0]) {
			s.classify(&spot{node: newest, nodes: nodes, values: each(nodes, ownText), before: opening(newest)})
			return
		}
	}
	for i, last := range texts[len(texts)-1] {
		p := &spot{node: newest, nodes: nodes, before: opening(newest)}
		if last.PrevSibling != nil {
			p.before = closing(last.PrevSibling)
		}
		for _, t := range texts {
			p.values = append(p.values, t[i].Data)
		}
		s.classify(p)
	}
}

// takeShuffled removes from the children the lists whose items change their order, and compares each as a whole.
func (s *suggester) takeShuffled(nodes []*nethtml.Node, children []keyed) {
	seen := map[string]bool{}
	for _, key := range children[len(children)-1].order {
		name, _, _ := strings.Cut(key, " #")
		if seen[name] || s.ended() {
			continue
		}
		seen[name] = true
		lists := group(children, name)
		if lists == nil || !shuffled(lists) {
			continue
		}
		values := each(lists, func(list []*nethtml.Node) string { return strings.Join(each(list, rendered), "") })
		s.classify(&spot{node: nodes[len(nodes)-1], nodes: nodes, whole: true, values: values})
		for _, c := range children {
			for k := range c.by {
				if base, _, _ := strings.Cut(k, " #"); base == name {
					delete(c.by, k)
				}
			}
		}
	}
}

func each[N, T any](list []N, of func(N) T) []T {
	out := make([]T, len(list))
	for i, n := range list {
		out[i] = of(n)
	}
	return out
}

// classify decides about a part of the page: it is always the same, noise, or edited.
func (s *suggester) classify(p *spot) {
	if s.ended() {
		return
	}
	all, within, moments := 0, 0, 0
	for i := range s.edited {
		if s.close[i] {
			moments++
		}
		if p.values[i] != p.values[i+1] {
			all++
			if s.close[i] {
				within++
			}
		}
	}
	if all == 0 {
		return
	}
	steady := enough(all, len(s.edited))
	if p.proven = moments > 0 && enough(within, moments); p.proven {
		s.noisy = append(s.noisy, p)
		return
	}
	if steady && len(s.edited) >= steadyPairs && s.machine(p) {
		s.noisy = append(s.noisy, p)
		return
	}
	for i := range s.edited {
		s.edited[i] = s.edited[i] || p.values[i] != p.values[i+1]
	}
	for _, n := range p.nodes {
		for ; n != nil; n = n.Parent {
			s.hasEdit[n] = true
		}
	}
	if steady {
		s.open = appendPart(s.open, s.part(p))
	}
}

// enough reports whether a part that differs in some pairs differs in so many that it is no edit.
func enough(differ, pairs int) bool {
	return differ == pairs || pairs >= manyPairs && 4*differ >= 3*pairs
}

// part describes a part of the page to a person.
func (s *suggester) part(p *spot) Part {
	place, sample := "", p.values[len(p.values)-1]
	for n := p.node; n != nil && n.Type == nethtml.ElementNode && place == ""; n = n.Parent {
		place = s.selector(n)
	}
	switch {
	case place == "":
		place = p.node.Data
	case p.attr != "":
		place += " [" + p.attr + "]"
	}
	if p.whole {
		sample = string(digest.Visible([]byte(sample)))
	}
	return Part{Place: place, Sample: head(strings.Join(strings.Fields(sample), " "), 60)}
}

// appendPart appends a part unless its place is in the list.
func appendPart(list []Part, p Part) []Part {
	if slices.ContainsFunc(list, func(q Part) bool { return q.Place == p.Place }) {
		return list
	}
	return append(list, p)
}
