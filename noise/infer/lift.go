package infer

import (
	"slices"
	"strings"

	nethtml "golang.org/x/net/html"
)

// liftable reports whether a rule for a noisy part may leave out an element around it.
func (p *spot) liftable() bool {
	if p.attr == "" || !p.proven {
		return p.proven
	}
	canBeNoise := slices.Contains([]string{"a", "img", "iframe", "div", "source", "ins"}, p.node.Data)
	return canBeNoise && !parameter.MatchString(varying(p.values).prefix)
}

// lift replaces noisy parts by the element around them, if most of its children are noisy and no edit was found in it.
func (s *suggester) lift() {
	whole := map[*nethtml.Node]*spot{}
	s.dropRefused()
	for _, p := range s.noisy {
		if p.liftable() && (p.whole || p.attr != "" || p.node.FirstChild != nil) {
			whole[p.node] = p
		}
	}
	for lifted := true; lifted; {
		lifted = false
		for _, p := range s.noisy {
			if s.ended() {
				return
			}
			for n, c := p.node.Parent, p.node; n != nil; n, c = n.Parent, n {
				if whole[c] == nil || whole[n] != nil && whole[n].whole || s.hasEdit[n] || !mostly(n, whole) ||
					s.refuses(s.selector(n), true) {
					continue
				}
				whole[n] = &spot{node: n, whole: true, proven: true, values: []string{rendered(n)}}
				lifted = true
			}
		}
	}
	var left []*spot
	for _, p := range s.noisy {
		if s.ended() {
			return
		}
		top := p
		for n := p.node.Parent; n != nil; n = n.Parent {
			if w := whole[n]; w != nil && w.whole && p.liftable() {
				top = w
			}
		}
		if w := whole[p.node]; top == p && w != nil && w.whole {
			top = w
		}
		if !slices.Contains(left, top) {
			left = append(left, top)
		}
	}
	s.noisy = left
}

// dropRefused removes the parts with another structure that no rule may leave out, and lists them as refused.
func (s *suggester) dropRefused() {
	s.noisy = slices.DeleteFunc(s.noisy, func(p *spot) bool {
		if s.ended() || !p.whole || !s.refuses(s.selector(p.node), true) {
			return false
		}
		s.refused = appendPart(s.refused, s.part(p))
		return true
	})
}

// mostly reports whether more than half of the children of an element are noisy, and at least two; or all of them, if
// the element has no text.
func mostly(n *nethtml.Node, noisy map[*nethtml.Node]*spot) bool {
	all, bad := 0, 0
	for c := range n.ChildNodes() {
		if c.Type != nethtml.ElementNode {
			continue
		}
		if all++; noisy[c] != nil {
			bad++
		}
	}
	return bad >= 2 && 2*bad > all || bad == all && strings.TrimSpace(ownText(n)) == ""
}
