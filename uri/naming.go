package uri

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// RuleSet is a way to tell that two URIs are one.
type RuleSet string

// The rule sets.
const (
	// WHATWG is the canonical form of a [URI] itself. It never makes two documents one.
	WHATWG RuleSet = "whatwg"
	// Heritrix is the default canonicalisation of Heritrix, the same steps in the same order: lower case, no user
	// information, no www in front of anything but a home page, no session ids, no empty query.
	Heritrix RuleSet = "heritrix"
	// Pywb is the key of replay tools, see [ReplayKey].
	Pywb RuleSet = "pywb"
)

// Rewrite replaces every match of an expression in the text of a URI. To may speak of groups, as [regexp.Regexp.Expand]
// has it.
type Rewrite struct {
	Match *regexp.Regexp
	To    string
}

// String is the rule as [ParseRewrite] reads it.
func (r Rewrite) String() string { return r.Match.String() + arrow + r.To }

// arrow parts a rewrite; no URI has a space in it.
const arrow = " -> "

// ParseRewrite reads "expression -> replacement".
func ParseRewrite(s string) (Rewrite, error) {
	match, to, ok := strings.Cut(s, arrow)
	if !ok {
		match, ok = strings.CutSuffix(s, strings.TrimRight(arrow, " "))
	}
	if !ok || match == "" {
		return Rewrite{}, fmt.Errorf("rewrite %q: it is not of the form 'expression%sreplacement'", s, arrow)
	}
	re, err := regexp.Compile(match)
	if err != nil {
		return Rewrite{}, fmt.Errorf("rewrite %q: %w", s, err)
	}
	if re.MatchString("") {
		return Rewrite{}, fmt.Errorf("rewrite %q: the expression matches the empty text", s)
	}
	return Rewrite{Match: re, To: to}, nil
}

// Naming says which URIs are one: those that it gives the same name. The parameters to drop come first, then the
// rewrites, each on the result of the one before, then the rule set. The zero value and nil are WHATWG alone.
type Naming struct {
	Set     RuleSet
	Drop    []string // names of query parameters; a star stands for any text
	Rewrite []Rewrite
}

// Plain reports whether each URI is its own name.
func (n *Naming) Plain() bool {
	return n == nil || n.Set != Heritrix && n.Set != Pywb && len(n.Drop)+len(n.Rewrite) == 0
}

// NamingStep is what one rule made of a name.
type NamingStep struct {
	Rule   string
	Result string
}

// Name is the name of u. Two URIs with one name are one for the crawl. It is seldom a URI to fetch.
func (n *Naming) Name(u URI) string {
	if n.Plain() {
		return u.String()
	}
	return n.walk(u, nil)
}

// Steps is how [Naming.Name] comes to its result.
func (n *Naming) Steps(u URI) []NamingStep {
	steps := []NamingStep{{Rule: string(WHATWG), Result: u.String()}}
	if !n.Plain() {
		n.walk(u, func(rule, result string) { steps = append(steps, NamingStep{rule, result}) })
	}
	return steps
}

func (n *Naming) walk(u URI, note func(rule, result string)) string {
	s := u.String()
	step := func(rule, result string) {
		if result != "" { // no rule takes the whole name away
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

// Notation is the rules in one line that stays the same from version to version: the rule set, then each parameter to
// drop, then each rewrite, quoted.
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

// Digest is the SHA-256 of the notation, "sha256:" and hexadecimal.
func (n *Naming) Digest() string {
	sum := sha256.Sum256([]byte(n.Notation()))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// dropParameters takes parameters out of the query, and the question mark with the last of them.
func dropParameters(s string, drop []string) string {
	head, query, ok := strings.Cut(s, "?")
	if !ok {
		return s
	}
	parts := strings.Split(query, "&")
	kept := slices.DeleteFunc(slices.Clone(parts), func(part string) bool {
		name, _, _ := strings.Cut(part, "=")
		return slices.ContainsFunc(drop, func(pattern string) bool { return like(pattern, name) })
	})
	switch {
	case len(kept) == len(parts):
		return s
	case len(kept) == 0:
		return head
	}
	return head + "?" + strings.Join(kept, "&")
}

// like reports whether a name fits a pattern in which stars stand for any text.
func like(pattern, name string) bool {
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
