package digest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// maxCompounds is the maximum number of compounds of all selectors together. Each one is checked for each element of
// a page.
const maxCompounds = 64 * len(states{})

// selectors matches CSS selectors from the root down. For each element it computes which compounds (such as "div.ad" in
// "div.ad > p") it reaches, and so visits each element only once.
type selectors struct {
	compounds []compound
}

// compound is a part of a selector between combinators. Its index in the list is its bit in states.
type compound struct {
	matches    cascadia.Sel
	combinator byte // between the compound before and this one: ' ', '>', '+', '~'; 0 if this is the first
	last       bool // the selector matches each element that reaches this compound
}

// states is a set of compounds.
type states [4]uint64

func (s *states) set(i int)     { s[i/64] |= 1 << (i % 64) }
func (s states) has(i int) bool { return s[i/64]>>(i%64)&1 == 1 }

func (s states) or(t states) states {
	for i := range s {
		s[i] |= t[i]
	}
	return s
}

// CheckSelector returns an error if a CSS selector cannot be a scrubbing rule: it is invalid, would need more than one
// visit of each element, or matches whole documents ([ErrMatchesAll]).
func CheckSelector(sel string) error {
	_, err := ParseSelector(sel)
	return err
}

// Selector is a CSS selector that can be a scrubbing rule.
type Selector struct{ all selectors }

// ParseSelector parses a selector. It returns the errors of [CheckSelector].
func ParseSelector(sel string) (s Selector, err error) {
	err = s.all.add(sel)
	return s, err
}

// In returns the elements below root that the selector matches, except those inside another one.
func (s Selector) In(root *html.Node) (matched []*html.Node) {
	s.all.walk(root, states{}, states{}, &matched)
	return matched
}

// add adds a selector, or several that are separated by commas.
func (s *selectors) add(sel string) error {
	var one selectors
	for part := range splitTop(sel, ",") {
		if err := one.addOne(strings.TrimSpace(part)); err != nil {
			return err
		}
	}
	root, err := html.Parse(strings.NewReader(probePage))
	if err != nil {
		return err
	}
	one.remove(root)
	var left bytes.Buffer
	if err := html.Render(&left, root); err != nil {
		return err
	}
	if removesAll(left.Bytes()) {
		return ErrMatchesAll
	}
	if len(s.compounds)+len(one.compounds) > maxCompounds {
		return fmt.Errorf("all selectors together have more than %d parts; remove some", maxCompounds)
	}
	s.compounds = append(s.compounds, one.compounds...)
	return nil
}

func (s *selectors) addOne(sel string) error {
	if sel == "" {
		return errors.New("is empty")
	}
	combinator := byte(0)
	for sel != "" {
		text, next, rest := firstCompound(sel)
		if text == "" {
			return fmt.Errorf("there is nothing before %q", sel)
		}
		if err := onlySimple(text); err != nil {
			return err
		}
		m, err := cascadia.Parse(text)
		if err != nil {
			return fmt.Errorf("%q is not a selector: %w", text, err)
		}
		if rest == "" && next != 0 {
			return fmt.Errorf("there is nothing after %q", string(next))
		}
		s.compounds = append(s.compounds, compound{matches: m, combinator: combinator, last: rest == ""})
		combinator, sel = next, rest
	}
	return nil
}

// firstCompound splits a selector behind its first compound.
func firstCompound(sel string) (text string, combinator byte, rest string) {
	end := len(sel)
	for i := range scan(sel) {
		if strings.IndexByte(" \t\n>+~", sel[i]) >= 0 {
			end = i
			break
		}
	}
	text, rest = sel[:end], strings.TrimLeft(sel[end:], " \t\n")
	switch {
	case rest == "":
		return text, 0, ""
	case strings.IndexByte(">+~", rest[0]) >= 0:
		return text, rest[0], strings.TrimLeft(rest[1:], " \t\n")
	}
	return text, ' ', rest
}

// scan yields the positions in a selector that are not in quotes, brackets or parentheses, and not behind a backslash.
func scan(sel string) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		depth, quote := 0, byte(0)
		for i := 0; i < len(sel); i++ {
			c := sel[i]
			switch {
			case c == '\\':
				i++
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case c == '"' || c == '\'':
				quote = c
			case c == '[' || c == '(':
				depth++
			case c == ']' || c == ')':
				depth--
			case depth == 0 && !yield(i):
				return
			}
		}
	}
}

// splitTop splits a selector at each separator at its top level.
func splitTop(sel, separator string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start := 0
		for i := range scan(sel) {
			if strings.IndexByte(separator, sel[i]) < 0 {
				continue
			}
			if !yield(sel[start:i]) {
				return
			}
			start = i + 1
		}
		yield(sel[start:])
	}
}

// simple lists the pseudo-classes for which one visit of an element is enough.
var simple = []string{"first-child", "last-child", "root", "empty", "link", "checked", "disabled", "enabled"}

// onlySimple returns an error if a compound has other pseudo-classes than the simple ones and :not.
func onlySimple(text string) error {
	for i := range scan(text) {
		if text[i] != ':' {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimLeft(text[i:], ":"), ":")
		for _, stop := range []string{".", "#", "["} {
			name, _, _ = strings.Cut(name, stop)
		}
		if arg, ok := strings.CutPrefix(name, "not("); ok {
			if inside := strings.TrimSuffix(arg, ")"); strings.ContainsAny(inside, " >+~:(") {
				return fmt.Errorf("%q is more than one compound", inside)
			}
			continue
		}
		if !slices.Contains(simple, name) {
			return fmt.Errorf("%q is not one of the pseudo-classes that are fast on every page: %s, not", name, strings.Join(simple, ", "))
		}
	}
	return nil
}

// remove replaces each element that a selector matches by one space.
func (s *selectors) remove(root *html.Node) {
	if len(s.compounds) == 0 {
		return
	}
	var matched []*html.Node // removed at the end, because ":first-child" depends on the siblings
	s.walk(root, states{}, states{}, &matched)
	for _, n := range matched {
		n.Parent.InsertBefore(&html.Node{Type: html.TextNode, Data: " "}, n)
		n.Parent.RemoveChild(n)
	}
}

// walk visits the children of n. reached has the compounds that n reaches, and above also those that any ancestor
// reaches.
func (s *selectors) walk(n *html.Node, reached, above states, matched *[]*html.Node) {
	var before, earlier states // the compounds that the sibling before reaches, and that any earlier sibling reaches
	for c := range n.ChildNodes() {
		if c.Type != html.ElementNode {
			continue
		}
		at, hit := s.match(c, reached, above, before, earlier)
		if hit {
			*matched = append(*matched, c)
		} else {
			s.walk(c, at, above.or(at), matched)
		}
		before, earlier = at, earlier.or(at)
	}
}

// match returns the compounds that an element reaches, and whether a selector matches it.
func (s *selectors) match(n *html.Node, parent, above, before, earlier states) (at states, matched bool) {
	for i, c := range s.compounds {
		reachable := c.combinator == 0
		switch c.combinator {
		case ' ':
			reachable = above.has(i - 1)
		case '>':
			reachable = parent.has(i - 1)
		case '+':
			reachable = before.has(i - 1)
		case '~':
			reachable = earlier.has(i - 1)
		}
		if reachable && c.matches.Match(n) {
			at.set(i)
			matched = matched || c.last
		}
	}
	return at, matched
}
