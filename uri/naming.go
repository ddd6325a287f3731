package uri

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// RuleSet names a set of rules for URIs that are treated as one.
type RuleSet string

// The rule sets.
const (
	// WHATWG is the canonical form of a [URI] itself. It never merges two documents.
	WHATWG RuleSet = "whatwg"
	// Heritrix is the default canonicalisation of Heritrix, with the same steps in the same order: lower case, no user
	// information, no www except for home pages, no session ids, no empty query.
	Heritrix RuleSet = "heritrix"
	// Pywb is the key that replay tools use, see [ReplayKey].
	Pywb RuleSet = "pywb"
)

// Rewrite replaces every match of an expression in the text of a URI. To may refer to groups, as in
// [regexp.Regexp.Expand].
type Rewrite struct {
	Match *regexp.Regexp
	To    string
}

// String returns the rule as a configuration has it. No URI contains a space.
func (r Rewrite) String() string { return r.Match.String() + " -> " + r.To }

// Naming holds the rules by which URIs are treated as one: URIs with the same [Naming.Name] are. First the parameters
// are dropped, then the rewrites are applied, each to the result of the one before, and then the rule set. The zero
// value and nil have the rule set WHATWG.
type Naming struct {
	Set     RuleSet
	Drop    []string // names of query parameters; a star matches any text
	Rewrite []Rewrite
}

// Plain reports whether each URI is its own name.
func (n *Naming) Plain() bool {
	return n == nil || n.Set != Heritrix && n.Set != Pywb && len(n.Drop)+len(n.Rewrite) == 0
}

// NamingStep is one rule and the name after it.
type NamingStep struct {
	Rule   string
	Result string
}

// Name returns the name of u. The crawl treats URIs with the same name as one. A name is often not a URI that can be
// fetched.
func (n *Naming) Name(u URI) string {
	if n.Plain() {
		return u.String()
	}
	return n.apply(u, nil)
}

// Steps returns the steps by which [Naming.Name] reaches its result.
func (n *Naming) Steps(u URI) []NamingStep {
	steps := []NamingStep{{Rule: string(WHATWG), Result: u.String()}}
	if !n.Plain() {
		n.apply(u, func(rule, result string) { steps = append(steps, NamingStep{rule, result}) })
	}
	return steps
}

// apply returns the name of u, and reports each step to note unless it is nil.
func (n *Naming) apply(u URI, note func(rule, result string)) string {
	s := u.String()
	step := func(rule, result string) {
		if result != "" { // a rule that would remove the whole name is ignored
			s = result
		}
		if note != nil {
			note(rule, s)
		}
	}
	if len(n.Drop) > 0 {
		step("drop "+strings.Join(n.Drop, " "), dropParameters(s, n.Drop))
	}
	for _, r := range n.Rewrite {
		step("rewrite "+r.String(), r.Match.ReplaceAllString(s, r.To))
	}
	switch n.Set {
	case Heritrix:
		for _, r := range heritrixRules {
			step("heritrix: "+r.name, r.apply(s))
		}
	case Pywb:
		step("pywb: SURT", ReplayKey(s))
	}
	return s
}

// Notation returns the rules in one line, in a form that stays the same in all versions of arcrawl: the rule set, then
// each parameter to drop, then each rewrite, quoted.
func (n *Naming) Notation() string {
	if n.Plain() {
		return string(WHATWG)
	}
	set := n.Set
	if set == "" {
		set = WHATWG
	}
	var b strings.Builder
	b.WriteString(string(set))
	for _, d := range slices.Sorted(slices.Values(n.Drop)) {
		b.WriteString(" drop=" + strconv.Quote(d))
	}
	for _, r := range n.Rewrite {
		b.WriteString(" rewrite=" + strconv.Quote(r.String()))
	}
	return b.String()
}

// Digest returns the SHA-256 of the notation as "sha256:" and hexadecimal digits.
func (n *Naming) Digest() string {
	sum := sha256.Sum256([]byte(n.Notation()))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// dropParameters removes parameters from the query. With the last parameter it removes the question mark.
func dropParameters(s string, drop []string) string {
	head, query, ok := strings.Cut(s, "?")
	if !ok {
		return s
	}
	parts := strings.Split(query, "&")
	kept := slices.DeleteFunc(slices.Clone(parts), func(part string) bool {
		name, _, _ := strings.Cut(part, "=")
		return slices.ContainsFunc(drop, func(pattern string) bool { return matchesStar(pattern, name) })
	})
	switch {
	case len(kept) == len(parts):
		return s
	case len(kept) == 0:
		return head
	}
	return head + "?" + strings.Join(kept, "&")
}

// matchesStar reports whether a name matches a pattern in which stars match any text.
func matchesStar(pattern, name string) bool {
	first, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, first)
	if !ok {
		return false
	}
	parts := strings.Split(rest, "*")
	for _, part := range parts[:len(parts)-1] {
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name = name[i+len(part):]
	}
	return strings.HasSuffix(name, parts[len(parts)-1])
}

// heritrixRule is one step of Heritrix's canonicalisation.
type heritrixRule struct {
	name  string // of the class in Heritrix
	apply func(string) string
}

// heritrixRules are the steps in the order of Heritrix 1.x and 3. Each expression keeps what its two groups match. As
// in Heritrix, expressions try the last position first: of two session ids, the last one is removed.
var heritrixRules = []heritrixRule{
	{"LowercaseRule", strings.ToLower},
	{"StripUserinfoRule", keepGroups(`(?is)^((?:https?|ftps?)://)[^/]+@(.*)$`)},
	{"StripWWWNRule", keepGroups(`(?i)^(https?://)www[0-9]*\.([^/]*/.+)$`)},
	{"StripSessionIDs", stripSessionIDs},
	{"StripSessionCFIDs", keepGroups(`(?i)^(.+)cfid=[^&]+&cftoken=[^&]+(?:jsession=[^&]+)?(?:&(.*))?$`)},
	{"FixupQueryString", fixupQuery},
}

// keepGroups returns a rule that keeps the two groups of an expression if it matches.
func keepGroups(expression string) func(string) string {
	re := regexp.MustCompile(expression)
	return func(s string) string {
		if m := re.FindStringSubmatch(s); m != nil {
			return m[1] + m[2]
		}
		return s
	}
}

var sessionRules = []func(string) string{
	keepGroups(`(?i)^(.+)(?:jsessionid|phpsessid)=[0-9a-z]{32}(?:&(.*))?$`),
	keepGroups(`(?i)^(.+)sid=[0-9a-z]{32}(?:&(.*))?$`),
	keepGroups(`(?i)^(.+)aspsessionid[a-z]{8}=[a-z]{24}(?:&(.*))?$`),
}

// stripSessionIDs removes one session id of each kind, if the URI ends behind it or an ampersand follows.
func stripSessionIDs(s string) string {
	for _, rule := range sessionRules {
		s = rule(s)
	}
	return s
}

// fixupQuery removes an empty query, or one ampersand at its beginning or end, which the other steps can leave.
func fixupQuery(s string) string {
	mark := strings.LastIndexByte(s, '?')
	switch {
	case mark <= 0:
		return s
	case mark == len(s)-1:
		return s[:mark]
	case s[mark+1] == '&' && mark+2 == len(s):
		return s[:mark]
	case s[mark+1] == '&':
		return s[:mark+1] + s[mark+2:]
	}
	return strings.TrimSuffix(s, "&")
}
