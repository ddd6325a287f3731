package robots

import (
	"slices"
	"strings"
)

// A pattern is the value of an Allow or Disallow line: literal pieces with anything between them. It is bound to the
// start of the target, and to the end of the target if it ends in $. A match is as long as its pattern.

// matches reports whether a pattern matches a target. It looks for each piece where it first occurs: if the leftmost
// places do not fit, no others do. Only a last piece that is bound to the end has a fixed place.
func matches(pattern, target string) bool {
	begin := 0 // most patterns differ in the first bytes
	for begin < len(pattern) && pattern[begin] != '*' {
		if pattern[begin] == '$' && begin == len(pattern)-1 {
			return begin == len(target)
		}
		if begin == len(target) || pattern[begin] != target[begin] {
			return false
		}
		begin++
	}
	if begin == len(pattern) {
		return true
	}
	pattern, target = pattern[begin+1:], target[begin:]
	pattern, bound := strings.CutSuffix(pattern, "$")
	for {
		piece, rest, more := strings.Cut(pattern, "*")
		pattern = rest
		if !more && bound {
			return strings.HasSuffix(target, piece)
		}
		i := strings.Index(target, piece)
		if i < 0 {
			return false
		}
		if !more {
			return true
		}
		target = target[i+len(piece):]
	}
}

// ruleList holds rules in little memory: the patterns in one text, and four bytes for each rule. A file of 500 KiB can
// have 60,000 rules.
type ruleList struct {
	text string
	ends []uint32 // twice the end of each pattern in text; plus one if the rule allows
}

// ruleDraft is a ruleList that grows.
type ruleDraft struct {
	text []byte
	ends []uint32
}

// list returns the rules in as little memory as possible.
func (l *ruleDraft) list() ruleList {
	return ruleList{text: string(l.text), ends: slices.Clone(l.ends)}
}

// add adds a rule.
func (l *ruleDraft) add(pattern string, allow bool) {
	l.text = append(l.text, pattern...)
	end := uint32(len(l.text)) << 1
	if allow {
		end |= 1
	}
	l.ends = append(l.ends, end)
}

// addAll adds the rules of another list.
func (l *ruleDraft) addAll(other ruleList) {
	base := uint32(len(l.text)) << 1
	l.text = append(l.text, other.text...)
	for _, end := range other.ends {
		l.ends = append(l.ends, base+end)
	}
}

// longest returns the lengths of the longest allowing and the longest forbidding rule that match a target, or what they
// were if none is longer.
func (l ruleList) longest(target string, allow, disallow int) (allowed, disallowed int) {
	begin := 0
	for _, mark := range l.ends {
		end := int(mark >> 1)
		length := end - begin
		switch allows := mark&1 != 0; {
		case allows && length > allow && matches(l.text[begin:end], target):
			allow = length
		case !allows && length > disallow && matches(l.text[begin:end], target):
			disallow = length
		}
		begin = end
	}
	return allow, disallow
}
