package infer

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	nethtml "golang.org/x/net/html"

	"github.com/arcrawl/arcrawl/digest"
)

// propose adds a rule for a noisy part, or lists the part as refused.
func (s *suggester) propose(p *Proposal, n *spot) {
	if n.whole {
		s.proposeWhole(p, n)
		return
	}
	var rules []string
	all := []piece{varying(n.values)}
	if n.attr == "" {
		all = pieces(n.values)
	}
	for _, p1 := range all {
		limit := freeWords
		if n.shown() {
			limit = 0
		}
		if slices.ContainsFunc(p1.parts, func(v string) bool { return words(v) > limit }) {
			s.proposeWhole(p, n)
			return
		}
		if n.attr != "" {
			rules = append(rules, s.attributeRule(n, p1))
		} else {
			rules = append(rules, textRule(n, p1))
		}
	}
	stable := words(all[0].prefix) + words(all[len(all)-1].suffix)
	alone := n.attr == "" && n.node.Type == nethtml.ElementNode && !hasElements(n.node) && len(all) == 1 && stable == 0
	if sel := s.selector(n.node); alone && !s.refuses(sel, false) {
		p.Selectors = appendNew(p.Selectors, sel)
		return
	}
	for _, rule := range rules {
		p.Regexes = appendNew(p.Regexes, rule)
		s.spots[rule]++
	}
}

// proposeWhole adds a rule that removes the element of a noisy part, or lists the part as refused.
func (s *suggester) proposeWhole(p *Proposal, n *spot) {
	if sel := s.selector(n.node); n.attr == "" && n.proven && !s.refuses(sel, true) {
		p.Selectors = appendNew(p.Selectors, sel)
	} else {
		p.Refused = appendPart(p.Refused, s.part(n))
	}
}

func appendNew(list []string, rule string) []string {
	if rule == "" || slices.Contains(list, rule) {
		return list
	}
	return append(list, rule)
}

// nearby is the number of bytes of text around a part that an expression contains.
const nearby = 24

// textRule returns an expression for the part of a text that differs, with some of the text around it.
func textRule(n *spot, p piece) string {
	before, after := tail(p.prefix, nearby), head(p.suffix, nearby/2)
	// A cut inside a word or number would match only one part of it.
	if before != p.prefix {
		before = strings.TrimLeftFunc(before, alphanumeric)
	}
	if after != p.suffix {
		after = strings.TrimRightFunc(after, alphanumeric)
	}
	start := generalise(before)
	element, first := n.node.Type == nethtml.ElementNode, strings.HasPrefix(n.values[0], p.prefix+p.parts[0])
	if element && first && words(before) == 0 && before == p.prefix {
		start = n.before + start
	}
	end := generalise(after)
	last := strings.HasSuffix(n.values[0], p.parts[0]+p.suffix)
	if element && last && words(before)+words(after) == 0 && after == p.suffix {
		end += "<"
	}
	return start + shape(p.parts, "<") + end
}

func alphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// attributeRule returns an expression for a tag up to the end of the attribute that differs, or only for a query
// parameter.
func (s *suggester) attributeRule(n *spot, p piece) string {
	prefix, suffix, parts := p.prefix, p.suffix, p.parts
	if name := parameter.FindString(prefix); name != "" {
		// In a page the separator is "&", "&amp;" or ";", and its place in the query may change.
		return `[?&;]` + regexp.QuoteMeta(name[1:]) + `[^"'&;#<>\s]*`
	}
	// own says that the expression has something that only this tag has. Otherwise it would match every tag of its name.
	own := len(prefix)+len(suffix) > 3 || strings.Contains(n.attr, "-") || n.attr == "nonce"
	var b strings.Builder
	b.WriteString("<" + regexp.QuoteMeta(n.node.Data))
	for _, a := range n.node.Attr {
		value := generalise(a.Val)
		switch {
		case a.Key == n.attr:
			if !own {
				return ""
			}
			own := regexp.QuoteMeta(a.Key) + `=["']?` + generalise(head(prefix, 40)) + `[^"'>]*`
			if len(prefix) <= 40 {
				own = regexp.QuoteMeta(a.Key) + `=["']?` + generalise(prefix) + shape(parts, `"'`) + generalise(suffix) + `["'\s>]`
			}
			if rule := b.String() + `\s+` + own; s.everywhere(rule) {
				return rule
			}
			return "<" + regexp.QuoteMeta(n.node.Data) + `\s(?:[^<>]*\s)?` + own // the order of the attributes differs
		case !stable(n.nodes, a.Key):
			value = `[^"'>]*`
		default:
			own = own || len(a.Val) > 2
		}
		b.WriteString(`\s+` + regexp.QuoteMeta(a.Key) + `=["']?` + value + `["']?`)
	}
	return ""
}

// stable reports whether an attribute has one value in all versions.
func stable(nodes []*nethtml.Node, attr string) bool {
	first := attribute(nodes[0], attr)
	return !slices.ContainsFunc(nodes, func(n *nethtml.Node) bool { return attribute(n, attr) != first })
}

// generalise returns an expression for a text that stays the same between the versions. Digits and the words of dates
// match any others, because they change with the day. White space and quotes match each way to write them.
func generalise(text string) string {
	var b strings.Builder
	for pos := 0; pos < len(text); {
		rest := text[pos:]
		run := tokenHere.FindString(rest)
		switch {
		case run != "":
			b.WriteString(generaliseRun(run))
			pos += len(run)
			continue
		case strings.TrimLeftFunc(rest, unicode.IsSpace) != rest:
			space := rest[:len(rest)-len(strings.TrimLeftFunc(rest, unicode.IsSpace))]
			b.WriteString(generaliseSpace(space))
			pos += len(space)
			continue
		}
		r, size := utf8.DecodeRuneInString(rest)
		switch r {
		case '&':
			b.WriteString(`&(?:amp;)?`)
		case '<':
			b.WriteString(`(?:<|&lt;)`)
		case '>':
			b.WriteString(`(?:>|&gt;)`)
		case '"':
			b.WriteString(`(?:"|&quot;|&#34;)`)
		case '\'':
			b.WriteString(`(?:'|&#0?39;|&apos;)`)
		default:
			b.WriteString(regexp.QuoteMeta(rest[:size]))
		}
		pos += size
	}
	return b.String()
}

// generaliseSpace returns an expression for white space.
func generaliseSpace(space string) string {
	switch {
	case space == " ":
		return space
	case strings.Trim(space, " \t\r\n") == "":
		return `\s+`
	}
	return `(?:\s|&nbsp;|&#160;|\x{a0})+`
}

// generaliseRun returns an expression for a run of letters and digits.
func generaliseRun(run string) string {
	if dateWords().MatchString(run) && len(run) > 2 {
		return `\pL+`
	}
	return digitRuns.ReplaceAllString(run, "[0-9]+")
}

// shape returns an expression for the parts that differ, as narrow as they allow. It never matches the bytes of stop.
func shape(parts []string, stop string) string {
	same := true
	for _, v := range parts {
		same = same && v != "" && generalise(v) == generalise(parts[0]) && digest.IsToken(v) == digest.IsToken(parts[0])
	}
	if same && !digest.IsToken(parts[0]) && words(parts[0]) == 0 {
		return generalise(parts[0])
	}
	all := strings.Join(parts, "")
	for _, class := range []string{`0-9`, `0-9.,`, `0-9a-f`, `0-9A-F`, `0-9A-Za-z`, `0-9A-Za-z_+/=.:-`} {
		if regexp.MustCompile(`^[` + class + `]+$`).MatchString(all) {
			return `[` + class + `]+`
		}
	}
	return `[^` + stop + `>]*`
}

// selector returns a selector that matches only the given element in the newest version, or an empty text if none does.
func (s *suggester) selector(n *nethtml.Node) string {
	chain := ""
	if n.Type != nethtml.ElementNode {
		return ""
	}
	for depth, node := 0, n; depth < 4 && node != nil && node.Type == nethtml.ElementNode; node = node.Parent {
		depth++
		chain = strings.TrimSuffix(s.compoundOf(node)+" > "+chain, " > ")
		parsed, err := digest.ParseSelector(chain)
		if err != nil || !strings.ContainsAny(chain, ".#") {
			continue // without an id or class it would match other elements tomorrow
		}
		if matched := parsed.In(s.roots[len(s.roots)-1]); len(matched) == 1 && matched[0] == n {
			return chain
		}
	}
	return ""
}

// compoundOf returns a compound with the id or the classes of an element, as far as they look like names that people
// chose.
func (s *suggester) compoundOf(n *nethtml.Node) string {
	if id := attribute(n, "id"); chosenName.MatchString(id) && s.inAll(`id="`+id+`"`) {
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

func (s *suggester) inAll(text string) bool {
	return !slices.ContainsFunc(s.texts, func(t []byte) bool { return !bytes.Contains(t, []byte(text)) })
}
