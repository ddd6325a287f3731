package config

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/uri"
)

// neverMatches warns of an expression that can match no URI. host is the host of the file if the expression is about no
// other one.
func neverMatches(re *regexp.Regexp, host uri.Host) (problem, remedy string) {
	parsed, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return "", ""
	}
	parsed = parsed.Simplify()
	for _, text := range neededAddresses(parsed) {
		if problem, remedy = neverInURI(text); problem != "" {
			return problem, remedy
		}
	}
	head, ok := head(parsed)
	if !ok {
		return "", ""
	}
	scheme := ""
	for _, s := range []string{"http://", "https://"} {
		if strings.HasPrefix(head, s) || strings.HasPrefix(s, head) {
			scheme = s
		}
	}
	if scheme == "" {
		return "can never match: a URI begins with http:// or https://",
			"remove the ^, or begin with the scheme of the URI"
	}
	rest, whole := strings.CutPrefix(head, scheme)
	name, _, ends := strings.Cut(rest, "/")
	switch {
	case whole && name != strings.ToLower(name):
		return "can never match: the host of a URI is written in small letters", "write " + strings.ToLower(name)
	case whole && ends && host != "" && !covers(host, uri.Host(name)):
		return fmt.Sprintf("can never match: this file is for %s", host),
			"move it to the file of that host or to the main file"
	}
	return "", ""
}

// neverInURI reports why no URI of the crawl contains a text.
func neverInURI(text string) (problem, remedy string) {
	for _, r := range text {
		switch {
		case r == '#':
			return "can never match: URIs are visited without the part behind #", "remove the # and what follows it"
		case r <= ' ' || r > '~':
			return fmt.Sprintf("can never match: URIs have no %q, only its percent-encoded form", r),
				"write " + uriEscaped(r)
		}
	}
	return "", ""
}

// uriEscaped returns the percent-encoded form of a character.
func uriEscaped(r rune) string {
	var b strings.Builder
	for _, c := range []byte(string(r)) {
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// neededAddresses returns texts that every match of an expression contains.
func neededAddresses(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return []string{string(re.Rune)}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return neededAddresses(re.Sub[0])
	case syntax.OpConcat:
		var all []string
		for _, sub := range re.Sub {
			all = append(all, neededAddresses(sub)...)
		}
		return all
	}
	return nil
}

// head returns the text that everything begins with that an expression matches. It returns false if the expression is
// not anchored at the beginning, or begins with something else than a text.
func head(parsed *syntax.Regexp) (string, bool) {
	if parsed.Op != syntax.OpConcat || len(parsed.Sub) < 2 || parsed.Sub[0].Op != syntax.OpBeginText {
		return "", false
	}
	text := parsed.Sub[1]
	if text.Op != syntax.OpLiteral || text.Flags&syntax.FoldCase != 0 {
		return "", false
	}
	return string(text.Rune), true
}

// shadowed returns the earlier expression of a list that matches everything that re matches: the same one, or one that
// matches every URI. It returns nil if there is none.
func shadowed(re *regexp.Regexp, earlier []*regexp.Regexp) *regexp.Regexp {
	for _, other := range earlier {
		switch other.String() {
		case re.String(), "", ".", ".*", ".+", "^", "^.*", "^.*$", "^http", "^https?://":
			return other
		}
	}
	return nil
}

// expressions warns of scope rules, and of a criterion about the URI, that can match nothing. path is a [[when]] of
// the document or empty; h is the host of the file, "" for the main file.
func expressions(doc *schema.Document, path schema.Path, h uri.Host, when *regexp.Regexp) {
	if when != nil {
		problem, remedy := neverMatches(when, h)
		if problem != "" {
			schema.Field{Doc: doc, Name: "when.uri", Path: path.Child("uri"), Value: when.String()}.Warn(problem, remedy)
		}
	}
	rules, _ := doc.Setting(path, "scope.rules")
	list, _ := rules.Value.([]any)
	var earlier []*regexp.Regexp
	for i, v := range list {
		s, _ := v.(string)
		_, expression, _ := strings.Cut(strings.TrimSpace(s), " ")
		re, err := regexp.Compile(strings.TrimSpace(expression))
		if err != nil {
			continue
		}
		at := schema.Field{Doc: doc, Name: rules.Name, Path: rules.Path.Element(i), Value: s}
		problem, remedy := neverMatches(re, "")
		if other := shadowed(re, earlier); problem == "" && other != nil {
			problem, remedy = "never decides: an earlier rule matches all of its URIs, "+schema.Show(other.String()),
				"put it before that rule, or remove it"
		}
		if problem != "" {
			at.Warn(problem, remedy)
		}
		earlier = append(earlier, re)
	}
}
