package heritrix

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// convertScope converts the rules of the scope that have counterparts, and notes the others.
func (j *job) convertScope() {
	scope := j.beans["scope"]
	if scope == nil || scope.property("rules") == nil {
		return
	}
	for _, rule := range j.list(scope.property("rules")) {
		if rule == nil || rule.name != "bean" || j.rules[rule] {
			continue
		}
		j.rules[rule] = true
		if off := rule.property("enabled"); off != nil {
			if value, _, _ := expand(off.value()); value == "false" {
				what := fmt.Sprintf("the rule %s is switched off", rule.class())
				j.remember(Note{File: off.file, Line: off.line, What: what, Harmless: true})
				continue
			}
		}
		j.rule(rule)
	}
}

// knownRules are the rules that need no note of their own, by the end of their class. They are converted, or arcrawl
// behaves so without a rule.
var knownRules = []string{
	"RejectDecideRule", "PrerequisiteAcceptDecideRule", "SchemeNotInSetDecideRule",
	"SurtPrefixedDecideRule", "TooManyHopsDecideRule", "TransclusionDecideRule", "MatchesListRegexDecideRule",
	"MatchesRegexDecideRule", "PathologicalPathDecideRule", "TooManyPathSegmentsDecideRule",
}

// rule converts a rule of the scope.
func (j *job) rule(rule *element) {
	class := rule.class()
	if rule.property("regex") == nil && !slices.ContainsFunc(knownRules, func(known string) bool {
		return strings.HasSuffix(class, known)
	}) {
		j.note(rule.place, "the rule %s has no counterpart", class)
	}
	for _, p := range rule.children {
		name := p.attrs["name"]
		s := setting{cmp.Or(rule.attrs["id"], class) + "." + name, p.value(), p.place}
		value, _, _ := expand(s.value)
		regex := strings.HasPrefix(class, "MatchesListRegex") || strings.HasPrefix(class, "MatchesRegex")
		surts := strings.HasSuffix(class, "SurtPrefixedDecideRule")
		switch {
		case p.name != "property" || name == "decision" || name == "enabled" || name == "surtsDumpFile":
		case regex && (name == "regexList" || name == "regex"):
			j.expressions(rule, p)
		case regex && name == "listLogicalOr" && value == "true":
		case surts && name == "surtsSourceFile":
			j.prefixFile(verb(rule), s)
		case surts && name == "seedsAsSurtPrefixes" && (value == "true") == (verb(rule) == "accept "):
		case surts && (name == "alsoCheckVia" && value == "false" || name == "sourceCheckInterval"):
		case class == "TooManyPathSegmentsDecideRule" && name == "maxPathDepth":
			j.depth(s, value)
		case p.isPlain():
			j.put(j.main, s, false)
		default:
			j.loseList(s, p)
		}
	}
}

// verb returns what a rule does with what it matches, as in scope.rules.
func verb(rule *element) string {
	if d := rule.property("decision"); d != nil && strings.EqualFold(d.value(), "REJECT") {
		return "reject "
	}
	return "accept "
}

// depth converts the maximum number of segments of a path.
func (j *job) depth(s setting, value string) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n > 999 {
		j.note(s.place, "%s: %q is not a number from 0 to 999", s.path, s.value)
		return
	}
	j.converted++
	j.verdicts = append(j.verdicts, fmt.Sprintf("reject ^https?://[^/?#]*(?:/[^/?#]*){%d}", n+1))
}

// expressions converts a list of regular expressions, which may be a bean of its own. In Heritrix they must match the
// whole URI.
func (j *job) expressions(rule, p *element) {
	in := p
	if name := p.target(); name != "" {
		if in = j.beans[name]; in == nil {
			j.note(p.place, "%s of %s: the job has no bean %s", p.attrs["name"], rule.class(), name)
			return
		}
	}
	list := in.values()
	if _, one := p.attrs["value"]; one {
		list = append(list, setting{value: p.value(), place: p.place})
	}
	if in != p {
		j.rules[in] = true
	}
	for _, s := range list {
		text := "^(?:" + s.value + ")$"
		if _, err := regexp.Compile(text); err != nil {
			j.note(s.place, "RE2 does not support the expression %s: %v", s.value, err)
			continue
		}
		j.converted++
		j.verdicts = append(j.verdicts, verb(rule)+text)
	}
}

// prefixFile converts a file of SURT prefixes.
func (j *job) prefixFile(verb string, s setting) {
	name, expanded, complete := expand(s.value)
	if name == "" {
		return
	}
	if !complete {
		j.note(s.place, "%s = %s has no default: write its prefixes as scope.rules", s.path, s.value)
		return
	}
	text, err := j.read(name)
	if err != nil {
		j.note(s.place, "the prefixes in %s are not converted: %v", name, err)
		return
	}
	if expanded {
		j.noteDefault(s.place, s.path, s.value)
	}
	at := place{name, 1}
	for line := range strings.SplitSeq(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line != "" {
			j.prefix(verb, line, at)
		}
		at.line++
	}
}

// prefix converts a SURT prefix, or the prefix of a URI behind a sign, into a rule of the scope.
func (j *job) prefix(verb, written string, at place) {
	expression, ok := prefixExpression(strings.TrimSpace(strings.TrimLeft(written, "+-")))
	if !ok {
		j.note(at, "%s is not a prefix of a host or domain", written)
		return
	}
	j.converted++
	j.verdicts = append(j.verdicts, verb+expression)
}

// prefixExpression returns a regular expression for a SURT prefix or the prefix of a URI.
func prefixExpression(prefix string) (string, bool) {
	if !strings.Contains(prefix, "(") {
		return uriPrefixExpression(prefix)
	}
	_, rest, _ := strings.Cut(prefix, "(")
	labels, path, whole := strings.Cut(rest, ")")
	labels, port, _ := strings.Cut(labels, ":")
	part := !whole && !strings.HasSuffix(labels, ",") // "http://(uk,co,news" also matches newspaper.co.uk
	parts := strings.Split(strings.TrimSuffix(labels, ","), ",")
	if slices.Contains(parts, "") {
		return "", false
	}
	slices.Reverse(parts)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(strings.ToLower(parts[i]))
	}
	if part {
		parts[0] += "[^./:?#]*"
	}
	host := strings.Join(parts, `[.]`)
	switch {
	case port != "":
		host += ":" + regexp.QuoteMeta(port)
	default:
		host += `(?::\d+)?`
	}
	if whole {
		return "^https?://" + host + regexp.QuoteMeta(path), true
	}
	return `^https?://(?:[^/?#]*[.])?` + host + `(?:[/?#]|$)`, true
}

// uriPrefixExpression returns a regular expression for the prefix that a URI stands for in Heritrix: its folder, or its
// domain if it has no path.
func uriPrefixExpression(prefix string) (string, bool) {
	if !strings.Contains(prefix, "://") {
		prefix = "http://" + prefix
	}
	host, ok := hostOf(prefix)
	if !ok {
		return "", false
	}
	_, rest, _ := strings.Cut(prefix, "://")
	name, port, _ := strings.Cut(host, ":")
	labels := strings.Split(name, ".")
	slices.Reverse(labels)
	surt := "http://(" + strings.Join(labels, ",") + ","
	if port != "" {
		surt += ":" + port
	}
	if slash := strings.IndexByte(rest, '/'); slash >= 0 {
		path := rest[slash:]
		surt += ")" + path[:strings.LastIndexByte(path, '/')+1]
	}
	return prefixExpression(surt)
}

// literal returns a TOML string, in single quotes if possible.
func literal(s string) string {
	if strings.ContainsAny(s, "'\n") {
		return strconv.Quote(s)
	}
	return "'" + s + "'"
}
