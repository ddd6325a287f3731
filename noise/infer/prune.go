package infer

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	nethtml "golang.org/x/net/html"

	"github.com/arcrawl/arcrawl/digest"
)

// prune removes the rules that could hide an edit and the rules that are not needed. The result has the counts of the
// others.
func (s *suggester) prune(p Proposal) (Proposal, error) {
	p.Regexes = slices.DeleteFunc(p.Regexes, func(r string) bool { return s.tooBroad(r) })
	p, err := s.try(p)
	if err != nil {
		return p, err
	}
	if p.Pairs == 0 {
		return p, ErrTooFew
	}
	// The broadest rules are removed first. Selectors are broader than expressions.
	for _, list := range []func(*Proposal) *[]string{
		func(p *Proposal) *[]string { return &p.Selectors }, func(p *Proposal) *[]string { return &p.Regexes },
	} {
		for i := 0; i < len(*list(&p)); {
			less := p
			*list(&less) = slices.Delete(slices.Clone(*list(&p)), i, i+1)
			if less, err = s.try(less); err != nil {
				return p, err
			}
			if less.Merged < p.Merged || less.Merged == p.Merged && less.Quiet >= p.Quiet && less.residue <= p.residue {
				p = less
				continue
			}
			i++
		}
	}
	return p, nil
}

// tooBroad reports whether an expression cannot be a rule: it matches at more places of a version than noise was
// found, or its matches have values that stay the same.
func (s *suggester) tooBroad(rule string) bool {
	if digest.CheckRegex(rule) != nil {
		return true
	}
	expr := regexp.MustCompile(rule)
	parameter := strings.HasPrefix(rule, `[?&;]`)
	var before []string
	for i, text := range s.texts {
		if s.ended() {
			return true
		}
		var found []string
		for _, m := range expr.FindAll(text, -1) {
			found = append(found, string(m))
		}
		if !parameter && len(found) > s.spots[rule] {
			return true
		}
		if parameter && i > 0 && slices.ContainsFunc(found, func(m string) bool { return slices.Contains(before, m) }) {
			return true
		}
		before = found
	}
	return false
}

// everywhere reports whether an expression matches in each version.
func (s *suggester) everywhere(rule string) bool {
	expr, err := regexp.Compile(rule)
	return err == nil && !slices.ContainsFunc(s.texts, func(text []byte) bool { return !expr.Match(text) })
}

// try applies the rules to the versions and counts the results.
func (s *suggester) try(p Proposal) (Proposal, error) {
	p.Pairs, p.Quiet, p.Edits, p.Merged, p.Loud, p.residue = 0, 0, 0, 0, 0, 0
	rules, err := digest.Compile(digest.Spec{Regexes: p.Regexes, Selectors: p.Selectors})
	if err != nil {
		return p, err
	}
	left := make([][]byte, len(s.texts))
	for i, t := range s.texts {
		if err := s.end(); err != nil {
			return p, err
		}
		left[i] = rules.Scrub(t, "text/html; charset=utf-8")
	}
	for i, edited := range s.edited {
		if bytes.Equal(s.texts[i], s.texts[i+1]) {
			continue
		}
		p.Pairs++
		equal := bytes.Equal(left[i], left[i+1])
		switch {
		case edited && equal:
			p.Merged++
		case edited:
			p.Edits++
		case equal:
			p.Quiet++
		default:
			p.Loud++
		}
		if !equal {
			p.residue += apart(left[i], left[i+1])
		}
	}
	return p, nil
}

// apart returns the number of runs of two words that only one of two texts has.
func apart(a, b []byte) int {
	count := map[string]int{}
	between := func(r rune) bool { return unicode.IsSpace(r) || r == '<' || r == '"' }
	add := func(text []byte, n int) {
		last := ""
		for w := range strings.FieldsFuncSeq(string(text), between) {
			count[last+" "+w] += n
			last = w
		}
	}
	add(a, 1)
	add(b, -1)
	sum := 0
	for _, n := range count {
		sum += max(n, -n)
	}
	return sum
}

// shuffled reports whether a list has the same items in another order in most versions. Few or no items are new, and
// two or more have moved.
func shuffled(lists [][]*nethtml.Node) bool {
	moves := 0
	for i := range lists[1:] {
		before, after := each(lists[i], rendered), each(lists[i+1], rendered)
		kept, moved := 0, 0
		left := make(map[string]int, len(after)) // how often each item is there, without those that were found
		for _, item := range after {
			left[item]++
		}
		for pos, item := range before {
			if left[item] == 0 {
				continue
			}
			left[item]--
			kept++
			if pos >= len(after) || after[pos] != item {
				moved++
			}
		}
		if 2*kept >= len(before) && moved >= 2 {
			moves++
		}
	}
	return 4*moves >= 3*(len(lists)-1)
}

// group returns the children with a name in each version, or nil if any version has fewer than three.
func group(children []keyed, name string) [][]*nethtml.Node {
	var lists [][]*nethtml.Node
	for _, c := range children {
		var list []*nethtml.Node
		for _, key := range c.order {
			if base, _, _ := strings.Cut(key, " #"); base == name && c.by[key] != nil {
				list = append(list, c.by[key])
			}
		}
		if len(list) < 3 {
			return nil
		}
		lists = append(lists, list)
	}
	return lists
}

// keyed holds the children of an element by tag, class, and their number among children with the same tag and class.
type keyed struct {
	order []string
	by    map[string]*nethtml.Node
}

func childrenByKey(n *nethtml.Node) keyed {
	k := keyed{by: map[string]*nethtml.Node{}}
	count := map[string]int{}
	for c := range n.ChildNodes() {
		if c.Type == nethtml.TextNode {
			continue
		}
		name := c.Data
		if c.Type != nethtml.ElementNode {
			name = "!"
		}
		name += "." + attribute(c, "class")
		key := name + " #" + strconv.Itoa(count[name])
		count[name]++
		k.order = append(k.order, key)
		k.by[key] = c
	}
	return k
}

// ownTexts returns the nodes with the text directly in an element, or a comment itself.
func ownTexts(n *nethtml.Node) []*nethtml.Node {
	if n.Type == nethtml.CommentNode {
		return []*nethtml.Node{n}
	}
	var all []*nethtml.Node
	for c := range n.ChildNodes() {
		if c.Type == nethtml.TextNode {
			all = append(all, c)
		}
	}
	return all
}

// ownText returns the text directly in an element, or the text of a comment.
func ownText(n *nethtml.Node) string {
	var b strings.Builder
	for _, t := range ownTexts(n) {
		b.WriteString(t.Data)
	}
	return b.String()
}

// opening returns an expression for the start tag of an element, with its class.
func opening(n *nethtml.Node) string {
	if class := attribute(n, "class"); chosenName.MatchString(class) {
		return "<" + regexp.QuoteMeta(n.Data) + `\s(?:[^<>]*\s)?class=["']?` + regexp.QuoteMeta(class) + `["']?(?:\s[^<>]*)?>`
	}
	return "<" + regexp.QuoteMeta(n.Data) + `(?:\s[^<>]*)?>`
}

// closing returns an expression for the end of a node.
func closing(n *nethtml.Node) string {
	switch {
	case n.Type == nethtml.CommentNode:
		return "-->"
	case n.FirstChild == nil:
		return "<" + regexp.QuoteMeta(n.Data) + `[^<>]*>`
	}
	return "</" + regexp.QuoteMeta(n.Data) + ">"
}

func attribute(n *nethtml.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func rendered(n *nethtml.Node) string {
	var b strings.Builder
	if nethtml.Render(&b, n) != nil {
		return ""
	}
	return b.String()
}

func hasElements(n *nethtml.Node) bool {
	for c := range n.ChildNodes() {
		if c.Type == nethtml.ElementNode {
			return true
		}
	}
	return false
}

// around returns the text that all values begin with, and the text that all end with. They do not overlap. Digits at
// their inner ends are left out, because they belong to the part that differs.
func around(values []string) (prefix, suffix string) {
	prefix = values[0]
	for _, v := range values[1:] {
		n := 0
		for n < len(prefix) && n < len(v) && prefix[n] == v[n] {
			n++
		}
		prefix = prefix[:n]
	}
	prefix = strings.TrimRight(prefix, "0123456789")
	for prefix != "" && !utf8.ValidString(prefix) {
		prefix = prefix[:len(prefix)-1]
	}
	suffix = values[0][len(prefix):]
	for _, v := range values[1:] {
		v = v[len(prefix):]
		n := 0
		for n < len(suffix) && n < len(v) && suffix[len(suffix)-1-n] == v[len(v)-1-n] {
			n++
		}
		suffix = suffix[len(suffix)-n:]
	}
	suffix = strings.TrimLeft(suffix, "0123456789")
	for suffix != "" && !utf8.ValidString(suffix) {
		suffix = suffix[1:]
	}
	return prefix, suffix
}

func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func tail(s string, n int) string {
	at := max(0, len(s)-n)
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return s[at:]
}
