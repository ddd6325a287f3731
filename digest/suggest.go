package digest

import (
	"bytes"
	"errors"
	"html"
	"regexp"
	"slices"
	"strings"

	nethtml "golang.org/x/net/html"
)

// Proposal is the result of [Suggest]: rules for the parts that differ at every visit, and their effect on the
// versions in which they were found.
type Proposal struct {
	Regexes, Selectors []string

	Pairs  int // pairs of consecutive versions that differ; the sum of the next four
	Quiet  int // pairs without a real edit that are equal under the rules
	Edits  int // pairs with a real edit that differ under the rules
	Merged int // pairs with a real edit that are equal under the rules; zero in a proposal
	Loud   int // pairs without a real edit that differ under the rules

	residue int // bytes in which the loud pairs differ
}

// ErrTooFew says that there are too few versions to find out which parts differ at every visit.
var ErrTooFew = errors.New("at least two versions are needed, and they must differ")

// Suggest finds the parts of an HTML page that differ at every visit, and the narrowest rules that leave them out.
// versions are ordered by time. A part that differs in each pair of consecutive versions is noise; with five versions
// or more, three pairs in four are enough. A part that differs less often was edited. Between two versions that were
// fetched within seconds there is only noise.
//
// Suggest tries the rules on the versions. It drops rules that would hide an edit, and rules that are not needed.
func Suggest(versions [][]byte, contentType string) (Proposal, error) {
	s := suggester{contentType: contentType}
	for _, v := range versions {
		text := decode(v, contentType)
		root, err := nethtml.Parse(bytes.NewReader(text))
		if err != nil {
			return Proposal{}, err
		}
		s.texts, s.roots = append(s.texts, text), append(s.roots, root)
	}
	if len(versions) < 2 {
		return Proposal{}, ErrTooFew
	}
	s.edited = make([]bool, len(versions)-1)
	s.compare(s.roots)
	s.lift()
	p := Proposal{}
	for _, n := range s.noisy {
		s.propose(&p, n)
	}
	return s.prune(p)
}

// suggester compares versions node by node.
type suggester struct {
	contentType string
	texts       [][]byte
	roots       []*nethtml.Node
	noisy       []*spot
	edited      []bool                 // whether an edit was found, for each pair
	hasEdit     map[*nethtml.Node]bool // the elements that contain an edit, in the newest version
}

// spot is a part of the page that exists in every version.
type spot struct {
	node   *nethtml.Node   // the element, in the newest version
	nodes  []*nethtml.Node // the element in each version
	attr   string          // the attribute that differs; empty if it is the text
	whole  bool            // the content of the element differs in its structure
	values []string
}

// compare compares an element that exists in every version, and its children.
func (s *suggester) compare(nodes []*nethtml.Node) {
	newest := nodes[len(nodes)-1]
	s.classify(&spot{node: newest, nodes: nodes, values: each(nodes, ownText)})
	for _, a := range newest.Attr {
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

// takeShuffled removes from the children the lists whose items change their order, and adds them to the noise.
func (s *suggester) takeShuffled(nodes []*nethtml.Node, children []keyed) {
	for _, key := range children[len(children)-1].order {
		name, _, _ := strings.Cut(key, " #")
		lists := group(children, name)
		if lists == nil || !shuffled(lists) {
			continue
		}
		s.noisy = append(s.noisy, &spot{node: nodes[len(nodes)-1], nodes: nodes, whole: true})
		for _, c := range children {
			for k := range c.by {
				if base, _, _ := strings.Cut(k, " #"); base == name {
					delete(c.by, k)
				}
			}
		}
	}
}

func each[T any](nodes []*nethtml.Node, of func(*nethtml.Node) T) []T {
	out := make([]T, len(nodes))
	for i, n := range nodes {
		out[i] = of(n)
	}
	return out
}

// classify decides about a part of the page: it is always the same, noise that differs at every visit, or edited.
func (s *suggester) classify(p *spot) {
	differ := 0
	for i := range s.edited {
		if p.values[i] != p.values[i+1] {
			differ++
		}
	}
	if differ == 0 {
		return
	}
	pairs := len(s.edited)
	if differ == pairs || pairs >= 4 && 4*differ >= 3*pairs {
		s.noisy = append(s.noisy, p)
		return
	}
	for i := range s.edited {
		s.edited[i] = s.edited[i] || p.values[i] != p.values[i+1]
	}
	if s.hasEdit == nil {
		s.hasEdit = map[*nethtml.Node]bool{}
	}
	for n := p.node; n != nil; n = n.Parent {
		s.hasEdit[n] = true
	}
}

// parameter matches the name of a query parameter, up to its value, such as a session id.
var parameter = regexp.MustCompile(`[;?&][A-Za-z_.-]+=$`)

// liftable reports whether a rule for a noisy part may leave out an element around it.
func (p *spot) liftable() bool {
	if p.attr == "" {
		return true
	}
	prefix, _ := around(p.values)
	canBeNoise := slices.Contains([]string{"a", "img", "iframe", "div", "source", "ins"}, p.node.Data)
	return canBeNoise && !parameter.MatchString(prefix)
}

// lift replaces noisy parts by the element around them, if most of its children are noisy and no edit was found in it.
func (s *suggester) lift() {
	whole := map[*nethtml.Node]*spot{}
	for _, p := range s.noisy {
		if p.liftable() && (p.whole || p.attr != "" || p.node.FirstChild != nil) {
			whole[p.node] = p
		}
	}
	for lifted := true; lifted; {
		lifted = false
		for _, p := range s.noisy {
			for n, c := p.node.Parent, p.node; n != nil; n, c = n.Parent, n {
				if whole[c] == nil || whole[n] != nil && whole[n].whole || s.hasEdit[n] || !mostly(n, whole) || fixed(n) {
					continue
				}
				whole[n] = &spot{node: n, whole: true}
				lifted = true
			}
		}
	}
	var left []*spot
	for _, p := range s.noisy {
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

// fixed reports whether an element holds the main content of a page, so that no rule may leave it out.
func fixed(n *nethtml.Node) bool {
	main := []string{"html", "head", "body", "main", "article", "form", "table"}
	return n.Type != nethtml.ElementNode || slices.Contains(main, n.Data)
}

// propose adds a rule for a noisy part.
func (s *suggester) propose(p *Proposal, n *spot) {
	if n.attr != "" {
		p.Regexes = appendNew(p.Regexes, s.attributeRule(n))
		return
	}
	prefix, suffix := "", ""
	if !n.whole {
		prefix, suffix = around(n.values)
	}
	inner := len(prefix)+len(suffix) > 24 || !n.whole && hasElements(n.node)
	if !inner && !fixed(n.node) {
		if sel := s.selector(n.node); sel != "" {
			p.Selectors = appendNew(p.Selectors, sel)
			return
		}
	}
	if !n.whole {
		p.Regexes = appendNew(p.Regexes, textRule(n, prefix, suffix))
	}
}

func appendNew(list []string, rule string) []string {
	if rule == "" || slices.Contains(list, rule) {
		return list
	}
	return append(list, rule)
}

// textRule returns an expression for the part of a text that differs, with some of the text around it.
func textRule(n *spot, prefix, suffix string) string {
	before, after := prefix, suffix
	if strings.TrimSpace(before) == "" && n.node.Type == nethtml.ElementNode {
		before = "<" + n.node.Data + ">" + before
	}
	return regexp.QuoteMeta(html.EscapeString(tail(before, 20))) +
		shape(n.values, len(prefix), len(suffix), "<") +
		regexp.QuoteMeta(html.EscapeString(head(after, 12)))
}

// attributeRule returns an expression for a tag up to the end of the attribute that differs, or only for a query
// parameter.
func (s *suggester) attributeRule(n *spot) string {
	prefix, suffix := around(n.values)
	if name := parameter.FindString(prefix); name != "" {
		return regexp.QuoteMeta(name) + `[^"'&;#<>\s]*`
	}
	// own says that the expression has something that only this tag has. Otherwise it would match every tag of its name.
	own := len(prefix)+len(suffix) > 3 || strings.Contains(n.attr, "-") || n.attr == "nonce"
	var b strings.Builder
	b.WriteString("<" + regexp.QuoteMeta(n.node.Data))
	for _, a := range n.node.Attr {
		value := regexp.QuoteMeta(html.EscapeString(a.Val))
		switch {
		case a.Key == n.attr:
			if !own {
				return ""
			}
			b.WriteString(`\s+` + regexp.QuoteMeta(a.Key) + `="` + regexp.QuoteMeta(head(prefix, 40)))
			if len(prefix) <= 40 {
				b.WriteString(shape(n.values, len(prefix), len(suffix), `"`) + regexp.QuoteMeta(suffix) + `"`)
			} else {
				b.WriteString(`[^"]*"`)
			}
			return b.String()
		case !s.stable(n.nodes, a.Key):
			value = `[^"]*`
		default:
			own = own || len(a.Val) > 2
		}
		b.WriteString(`\s+` + regexp.QuoteMeta(a.Key) + `="` + value + `"`)
	}
	return ""
}

func (s *suggester) stable(nodes []*nethtml.Node, attr string) bool {
	for _, n := range nodes {
		if attribute(n, attr) != attribute(nodes[0], attr) {
			return false
		}
	}
	return true
}

// shape returns an expression for the parts that differ, as narrow as the values allow. It never matches the byte stop.
func shape(values []string, prefix, suffix int, stop string) string {
	class := `[0-9]`
	for _, v := range values {
		v = v[prefix : len(v)-suffix]
		for _, c := range []byte(v) {
			switch {
			case c >= '0' && c <= '9':
			case c >= 'a' && c <= 'f' && class != `[^`+stop+`]`:
				class = `[0-9a-f]`
			default:
				class = `[^` + stop + `]`
			}
		}
	}
	return class + "*"
}

// selector returns a selector that matches only the given element in the newest version, or an empty text if none does.
func (s *suggester) selector(n *nethtml.Node) string {
	chain, bare := "", ""
	for depth, at := 0, n; depth < 4 && at != nil && at.Type == nethtml.ElementNode; depth, at = depth+1, at.Parent {
		own := s.compoundOf(at)
		if chain = strings.TrimSuffix(own+" > "+chain, " > "); CheckSelector(chain) != nil {
			continue
		}
		var one selectors
		if one.add(chain) != nil {
			continue
		}
		var matched []*nethtml.Node
		one.walk(s.roots[len(s.roots)-1], states{}, states{}, &matched)
		if len(matched) == 1 && matched[0] == n {
			if strings.ContainsAny(chain, ".#") {
				return chain
			}
			bare = chain // prefer a selector with an id or class: it will probably stay unique
		}
	}
	return bare
}

// compoundOf returns a compound with the id or the classes of an element, as far as they look like names that people
// chose.
func (s *suggester) compoundOf(n *nethtml.Node) string {
	if id := attribute(n, "id"); chosenName.MatchString(id) && s.everywhere(`id="`+id+`"`) {
		return n.Data + "#" + id
	}
	sel := n.Data
	for _, class := range strings.Fields(attribute(n, "class")) {
		if chosenName.MatchString(class) {
			sel += "." + class
		}
	}
	return sel
}

// chosenName matches names that people choose, without the numbers of generated names.
var chosenName = regexp.MustCompile(`^[A-Za-z][A-Za-z_-]*[0-9]?$`)

func (s *suggester) everywhere(text string) bool {
	for _, t := range s.texts {
		if !bytes.Contains(t, []byte(text)) {
			return false
		}
	}
	return true
}
