package robots

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/arcrawl/arcrawl/uri"
)

// maxBody bounds the bytes of a robots.txt that are read. It is the minimum of RFC 9309, section 2.5, and what other
// crawlers read.
const maxBody = 500 << 10

// maxDelay is the maximum Crawl-delay that is reported. A longer one is a mistake or means "do not crawl".
const maxDelay = 24 * time.Hour

// Rules holds the rules of one robots.txt. It is immutable. The zero value allows everything.
type Rules struct {
	groups   []group
	sitemaps []string
}

// group is a sequence of User-agent lines and the lines that belong to them.
type group struct {
	agents   []string // product tokens as written, without version
	everyone bool     // one of the lines names *
	rules    ruleList
	delay    time.Duration // the longest Crawl-delay of the group
	hasDelay bool
}

// Parse reads a robots.txt. It accepts any input and skips lines without meaning. Only the complete lines in the first
// 500 KiB count.
func Parse(body []byte) Rules {
	if len(body) > maxBody {
		body = body[:maxBody]
		body = body[:bytes.LastIndexAny(body, "\r\n")+1]
	}
	var c collector
	eachLine(string(body), c.add)
	c.endGroup()
	return Rules{groups: c.groups, sitemaps: c.sitemaps}
}

// maxSitemaps bounds the Sitemap lines that count. More sitemaps belong in a sitemap index.
const maxSitemaps = 100

// Sitemaps returns the addresses in the Sitemap lines, as they are written, at most a hundred.
func (r Rules) Sitemaps() []string { return slices.Clone(r.sitemaps) }

// Allowed reports whether the crawler named agent may fetch u. Only the product token of agent counts, without case: in
// "arcrawl/1.0 (+https://…)" it is "arcrawl".
func (r Rules) Allowed(agent string, u uri.URI) bool {
	target := u.RequestTarget()
	if target == "/robots.txt" {
		return true
	}
	return r.allows(agent, spell(target, false))
}

func (r Rules) allows(agent, target string) bool {
	agent = product(agent)
	specific := r.names(agent)
	var found verdict
	for _, g := range r.groups {
		if g.appliesTo(agent, specific) {
			g.rules.judge(target, &found)
		}
	}
	return found.work <= maxWork && found.disallow <= found.allow
}

// maxWork bounds the bytes of a target that wildcards of all rules are compared with; what takes more is forbidden. A
// file can have 57,000 rules with a wildcard, so a target of 290 bytes never takes more. The work takes 40 ms at most.
const maxWork = 16 << 20

// verdict holds the answer of rules about a target.
type verdict struct {
	allow, disallow int // the lengths of the longest allowing and the longest forbidding rule that match
	work            int // the bytes of the target that were compared with wildcards
}

// CrawlDelay returns the rest between two requests that the group for agent asks for, at most 24 hours. It reports
// false if the group has no Crawl-delay, or none that is a number of seconds. If a group has several, the longest
// counts. The delay of the group for * does not apply to an agent that has a group of its own.
func (r Rules) CrawlDelay(agent string) (time.Duration, bool) {
	agent = product(agent)
	specific := r.names(agent)
	var delay time.Duration
	found := false
	for _, g := range r.groups {
		if g.hasDelay && g.appliesTo(agent, specific) {
			delay, found = max(delay, g.delay), true
		}
	}
	return delay, found
}

// For returns the rules that apply to one agent, for a cache. They hold what that agent may do, whichever agent they
// are asked about, and nothing else of the file.
func (r Rules) For(agent string) Rules {
	agent = product(agent)
	specific := r.names(agent)
	var one group
	var rules ruleDraft
	for _, g := range r.groups {
		if g.appliesTo(agent, specific) {
			rules.addAll(g.rules)
			one.hasDelay, one.delay = one.hasDelay || g.hasDelay, max(one.delay, g.delay)
		}
	}
	if len(rules.ends) == 0 && !one.hasDelay {
		return Rules{}
	}
	one.everyone, one.rules = true, rules.list()
	return Rules{groups: []group{one}}
}

// names reports whether any group names agent.
func (r Rules) names(agent string) bool {
	return slices.ContainsFunc(r.groups, func(g group) bool { return g.names(agent) })
}

func (g group) names(agent string) bool {
	return slices.ContainsFunc(g.agents, func(a string) bool { return strings.EqualFold(a, agent) })
}

// appliesTo reports whether g applies to agent. specific says that some group names the agent.
func (g group) appliesTo(agent string, specific bool) bool {
	if specific {
		return g.names(agent)
	}
	return g.everyone
}

// collector builds groups from lines. A User-agent line after a rule begins a new group. Other lines, such as
// Crawl-delay, do not end the list of agents (RFC 9309, section 2.2.4).
type collector struct {
	groups   []group
	rules    ruleDraft // of the last group
	sitemaps []string
	ruled    bool // the last group has had a rule
}

// current returns the group that a line belongs to; nil before the first User-agent.
func (c *collector) current() *group {
	if len(c.groups) == 0 {
		return nil
	}
	return &c.groups[len(c.groups)-1]
}

// add adds a line.
func (c *collector) add(l line) {
	switch l.field {
	case agentField:
		c.addAgent(l.value)
	case allowField:
		c.addRule(l.value, true)
		// To allow the index page of a folder allows the address of the folder too, as for Google.
		if slash := strings.LastIndexByte(l.value, '/'); slash >= 0 && strings.HasPrefix(l.value[slash:], "/index.htm") {
			c.addRule(l.value[:slash+1]+"$", true)
		}
	case disallowField:
		c.addRule(l.value, false)
	case sitemapField: // belongs to no group
		if l.value != "" && len(c.sitemaps) < maxSitemaps {
			c.sitemaps = append(c.sitemaps, l.value)
		}
	case delayField:
		g := c.current()
		if d, ok := seconds(l.value); ok && g != nil {
			g.delay, g.hasDelay = max(g.delay, d), true
		}
	}
}

func (c *collector) addAgent(name string) {
	if c.ruled || len(c.groups) == 0 {
		c.endGroup()
		c.groups = append(c.groups, group{})
		c.ruled = false
	}
	g := c.current()
	// "* (all of you)" is still everyone.
	if name == "*" || strings.HasPrefix(name, "*") && unicode.IsSpace(rune(name[1])) {
		g.everyone = true
		return
	}
	g.agents = append(g.agents, product(name))
}

func (c *collector) addRule(pattern string, allow bool) {
	if len(c.groups) > 0 {
		c.rules.add(pattern, allow)
		c.ruled = true
	}
}

// endGroup stores the rules of the last group.
func (c *collector) endGroup() {
	if g := c.current(); g != nil {
		g.rules = c.rules.list()
	}
	c.rules.text, c.rules.ends = c.rules.text[:0], c.rules.ends[:0]
}

// seconds reads a decimal number of seconds, without exponent and sign.
func seconds(s string) (time.Duration, bool) {
	if strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	if n >= maxDelay.Seconds() { // also if it is out of range
		return maxDelay, true
	}
	if err != nil {
		return 0, false
	}
	return time.Duration(n * float64(time.Second)), true
}

// product returns the product token at the beginning of a User-agent: the characters of a token of HTTP but ! and &
// (RFC 9110, section 5.6.2).
func product(agent string) string {
	end := strings.IndexFunc(agent, func(c rune) bool {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		return !letter && (c >= 0x80 || !strings.ContainsRune("~#$%'*+-.^_`|", c))
	})
	if end < 0 {
		return agent
	}
	return agent[:end]
}

// A pattern is the value of an Allow or Disallow line: literal pieces with anything between them. It is bound to the
// start of the target, and to the end of the target if it ends in $. A match is as long as its pattern.

// matches reports whether a pattern matches a target. It looks for each piece where it first occurs: if the leftmost
// places do not fit, no others do. Only a last piece that is bound to the end has a fixed place. It adds to work the
// bytes in which it has to look for pieces.
func matches(pattern, target string, work *int) bool {
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
	*work += len(target)
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

// judge adds to found what the rules say of a target. It stops if that takes too much work.
func (l ruleList) judge(target string, found *verdict) {
	begin := 0
	for _, mark := range l.ends {
		end := int(mark >> 1)
		length := end - begin
		switch allows := mark&1 != 0; {
		case found.work > maxWork:
			return
		case allows && length > found.allow && matches(l.text[begin:end], target, &found.work):
			found.allow = length
		case !allows && length > found.disallow && matches(l.text[begin:end], target, &found.work):
			found.disallow = length
		}
		begin = end
	}
}
