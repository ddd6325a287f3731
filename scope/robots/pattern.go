package robots

import "strings"

// pattern is the value of an Allow or Disallow line: literal pieces with anything between them. It is bound to the
// start of the target, and to the end of the target if it ends in $.
type pattern struct {
	prefix   string   // the literal before the first *
	rest     []string // the literals after each *, without empty ones
	open     bool     // anything may follow the last literal: the pattern ends in * or has no $
	length   int      // in bytes as spelled; a match is as long as its pattern
	literals int      // bytes of prefix and rest: no shorter target can match
}

func compile(s string) pattern {
	p := pattern{length: len(s)}
	s, bound := strings.CutSuffix(s, "$")
	p.open = !bound || strings.HasSuffix(s, "*")
	p.prefix, s, _ = strings.Cut(s, "*")
	for piece := range strings.SplitSeq(s, "*") {
		if piece != "" {
			p.rest = append(p.rest, piece)
		}
	}
	p.literals = len(p.prefix)
	for _, piece := range p.rest {
		p.literals += len(piece)
	}
	return p
}

// matches reports whether the pattern matches a target. It looks for each piece where it first occurs: if the leftmost
// places do not fit, no others do. Only a last piece that is bound to the end has a fixed place.
func (p pattern) matches(target string) bool {
	if len(target) < p.literals || !strings.HasPrefix(target, p.prefix) {
		return false
	}
	target = target[len(p.prefix):]
	pieces := p.rest
	last := ""
	if !p.open {
		if len(pieces) == 0 {
			return target == ""
		}
		last, pieces = pieces[len(pieces)-1], pieces[:len(pieces)-1]
	}
	for _, piece := range pieces {
		i := strings.Index(target, piece)
		if i < 0 {
			return false
		}
		target = target[i+len(piece):]
	}
	return strings.HasSuffix(target, last)
}
