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

// Proposal is what [Suggest] finds: rules for what differs at every visit, and what they would do to the versions that
// they were found in.
type Proposal struct {
	Regexes, Selectors []string

	Pairs  int // versions that follow each other, and differ
	Quiet  int // of these, the pairs that differ only in what the rules leave out
	Edits  int // the pairs with a real edit, which are told apart still
	Merged int // the pairs with a real edit that the rules would hide: always zero, for rules that hide one are not proposed
	Loud   int // the pairs without a real edit that differ still

	residue int // bytes in which the loud pairs differ
}

// ErrTooFew tells that there are not enough versions to see what differs every time.
var ErrTooFew = errors.New("two versions at least are needed, and they must differ")

// Suggest finds what differs between the versions of an HTML page at every visit, and the narrowest rules that leave it
// out. The versions are in the order of time. A part that differs each time (three times of four where there are five
// versions or more) is taken for noise; one that differs now and then is an edit. Two versions fetched within
// seconds have only noise between them.
//
// The rules are proved on the versions before they are proposed: those that would hide an edit are taken back, and so are
// those that nothing needs.
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
	return s.prove(p)
}

// suggester compares versions node by node.
type suggester struct {
	contentType string
	texts       [][]byte
	roots       []*nethtml.Node
	noisy       []*spot
	edited      []bool // for each pair, whether an edit was seen
	firm        map[*nethtml.Node]bool
}

// spot is a part of the page, seen in every version.
type spot struct {
	node   *nethtml.Node   // the element, in the newest version
	nodes  []*nethtml.Node // the element in each version
	attr   string          // the attribute that differs; empty if it is the text
	whole  bool            // what is in the element differs in its structure
	values []string
}

// compare looks at an element that stands in every version.
func (s *suggester) compare(nodes []*nethtml.Node) {
	newest := nodes[len(nodes)-1]
	s.see(&spot{node: newest, nodes: nodes, values: each(nodes, ownText)})
	for _, a := range newest.Attr {
		s.see(&spot{node: newest, nodes: nodes, attr: a.Key, values: each(nodes, func(n *nethtml.Node) string { return attribute(n, a.Key) })})
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
	s.see(&spot{node: newest, nodes: nodes, whole: true, values: rest})
}

// takeShuffled takes lists out of the children whose items change places, and notes them as noise.
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

// see sorts a part of the page: the same always, differing every time, or edited now and then.
func (s *suggester) see(p *spot) {
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
	if s.firm == nil {
		s.firm = map[*nethtml.Node]bool{}
	}
	for n := p.node; n != nil; n = n.Parent {
		s.firm[n] = true // an edit was seen in there
	}
}

// parameter is how a session id stands in an address.
var parameter = regexp.MustCompile(`[;?&][A-Za-z_.-]+=$`)

// liftable reports whether a noisy part may be silenced by leaving out an element around it.
func (p *spot) liftable() bool {
	if p.attr == "" {
		return true
	}
	prefix, _ := around(p.values)
	return slices.Contains([]string{"a", "img", "iframe", "div", "source", "ins"}, p.node.Data) && !parameter.MatchString(prefix)
}

// lift gathers noise: where most elements within another one are noisy, and no edit was ever seen there, the one around
// them is.
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
				if whole[c] == nil || whole[n] != nil && whole[n].whole || s.firm[n] || !mostly(n, whole) || fixed(n) {
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

// mostly reports whether two of an element's children or more, and most of them, are noisy; or its only one.
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

// fixed are the elements that hold the page itself.
func fixed(n *nethtml.Node) bool {
	return n.Type != nethtml.ElementNode || slices.Contains([]string{"html", "head", "body", "main", "article", "form", "table"}, n.Data)
}

// propose finds a rule for a noisy part.
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

// textRule matches what differs in a text, between what stands around it.
func textRule(n *spot, prefix, suffix string) string {
	before, after := prefix, suffix
	if strings.TrimSpace(before) == "" && n.node.Type == nethtml.ElementNode {
		before = "<" + n.node.Data + ">" + before
	}
	rule := regexp.QuoteMeta(html.EscapeString(tail(before, 20))) + shape(n.values, len(prefix), len(suffix), "<") + regexp.QuoteMeta(html.EscapeString(head(after, 12)))
	return rule
}

// attributeRule matches a tag up to the attribute that differs, or the parameter of an address that does.
func (s *suggester) attributeRule(n *spot) string {
	prefix, suffix := around(n.values)
	if name := parameter.FindString(prefix); name != "" {
		return regexp.QuoteMeta(name) + `[^"'&;#<>\s]*`
	}
	// Without anything that is this tag's own the rule would silence every tag of its kind.
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

// shape is an expression for what differs, as narrow as the values allow; it never reaches beyond the byte stop.
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

// selector finds a selector for an element that matches nothing but noise in the newest version; empty if there is none.
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
			bare = chain // it is the only one of its kind today; one with a name will be so tomorrow
		}
	}
	return bare
}

// compoundOf names an element by its id or its classes, so far as they look as if people had given them.
func (s *suggester) compoundOf(n *nethtml.Node) string {
	if id := attribute(n, "id"); given.MatchString(id) && s.everywhere(`id="`+id+`"`) {
		return n.Data + "#" + id
	}
	sel := n.Data
	for _, class := range strings.Fields(attribute(n, "class")) {
		if given.MatchString(class) {
			sel += "." + class
		}
	}
	return sel
}

// given matches names that people give: no numbers that a machine counts on.
var given = regexp.MustCompile(`^[A-Za-z][A-Za-z_-]*[0-9]?$`)

func (s *suggester) everywhere(text string) bool {
	for _, t := range s.texts {
		if !bytes.Contains(t, []byte(text)) {
			return false
		}
	}
	return true
}
