package uri

import (
	"regexp"
	"strings"
)

// heritrixRule is one step of Heritrix's canonicalisation.
type heritrixRule struct {
	name  string // of the class in Heritrix
	apply func(string) string
}

// heritrixRules are the steps in the order of Heritrix 1.x and 3. Each expression keeps what its two groups match.
// Expressions try the last place first, as there: of two session ids the last one goes.
var heritrixRules = []heritrixRule{
	{"LowercaseRule", strings.ToLower},
	{"StripUserinfoRule", keeping(`(?is)^((?:https?|ftps?)://)[^/]+@(.*)$`)},
	{"StripWWWNRule", keeping(`(?i)^(https?://)www[0-9]*\.([^/]*/.+)$`)},
	{"StripSessionIDs", stripSessionIDs},
	{"StripSessionCFIDs", keeping(`(?i)^(.+)cfid=[^&]+&cftoken=[^&]+(?:jsession=[^&]+)?(?:&(.*))?$`)},
	{"FixupQueryString", fixupQuery},
}

// keeping makes a rule that keeps the two groups of an expression where it matches.
func keeping(expression string) func(string) string {
	re := regexp.MustCompile(expression)
	return func(s string) string {
		if m := re.FindStringSubmatch(s); m != nil {
			return m[1] + m[2]
		}
		return s
	}
}

var sessionRules = []func(string) string{
	keeping(`(?i)^(.+)(?:jsessionid|phpsessid)=[0-9a-z]{32}(?:&(.*))?$`),
	keeping(`(?i)^(.+)sid=[0-9a-z]{32}(?:&(.*))?$`),
	keeping(`(?i)^(.+)aspsessionid[a-z]{8}=[a-z]{24}(?:&(.*))?$`),
}

// stripSessionIDs takes one session id of each kind away, when it ends the URI or an ampersand follows.
func stripSessionIDs(s string) string {
	for _, rule := range sessionRules {
		s = rule(s)
	}
	return s
}

// fixupQuery mends what the steps before leave of a query, and no more than one thing.
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
