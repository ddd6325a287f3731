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
