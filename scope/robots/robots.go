package robots

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/jimsmart/grobotstxt"

	"github.com/arcrawl/arcrawl/uri"
)

// maxBody is how much of a robots.txt is read: the least that RFC 9309, section 2.5, asks for, and what others read.
const maxBody = 500 << 10

// maxDelay is the longest Crawl-delay that is reported. What is longer is a mistake or a way of saying no.
const maxDelay = 24 * time.Hour

// Rules is what one robots.txt says. It is immutable and may be shared; the zero value allows everything.
type Rules struct {
	groups   []group
	sitemaps []string
}

// group is a run of User-agent lines and what follows them.
type group struct {
	agents   []string // product tokens as written, without version
	everyone bool     // one of the lines names *
	rules    []rule
	delay    time.Duration // the longest Crawl-delay of the group
	hasDelay bool
}

type rule struct {
	pattern
	allow bool
}

// Parse reads a robots.txt. Any input gives rules: lines that say nothing are skipped. Only the first 500 KiB count, to
// the last line that is whole.
func Parse(body []byte) Rules {
	if len(body) > maxBody {
		body = body[:maxBody]
		body = body[:bytes.LastIndexAny(body, "\r\n")+1]
	}
	var c collector
	grobotstxt.Parse(spellOut(body), &c)
	return Rules{groups: c.groups, sitemaps: c.sitemaps}
}

// maxSitemaps is how many Sitemap lines count. More than that belongs into a sitemap index.
const maxSitemaps = 100

// Sitemaps are the addresses in its Sitemap lines, as they stand there, at most a hundred.
func (r Rules) Sitemaps() []string { return slices.Clone(r.sitemaps) }

// Allowed reports whether the crawler that calls itself agent may fetch u. Of agent only the product token counts: in
// "arcrawl/1.0 (+https://…)" it is "arcrawl". Case does not matter.
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
	allow, disallow := 0, 0
	for _, g := range r.groups {
		if !g.speaksFor(agent, specific) {
			continue
		}
		for _, rl := range g.rules {
			switch {
			case rl.allow && rl.length > allow && rl.matches(target):
				allow = rl.length
			case !rl.allow && rl.length > disallow && rl.matches(target):
				disallow = rl.length
			}
		}
	}
	return disallow <= allow
}

// CrawlDelay is the rest between two requests that the group for agent asks for, at most 24 hours; false when it asks
// for none, or for something that is not a number of seconds. Several in one group: the longest. The delay of the group
// for * does not count for an agent that has a group of its own.
func (r Rules) CrawlDelay(agent string) (time.Duration, bool) {
	agent = product(agent)
	specific := r.names(agent)
	var delay time.Duration
	found := false
	for _, g := range r.groups {
		if g.hasDelay && g.speaksFor(agent, specific) {
			delay, found = max(delay, g.delay), true
		}
	}
	return delay, found
}

// names reports whether any group names agent.
func (r Rules) names(agent string) bool {
	return slices.ContainsFunc(r.groups, func(g group) bool { return g.names(agent) })
}

func (g group) names(agent string) bool {
	return slices.ContainsFunc(g.agents, func(a string) bool { return strings.EqualFold(a, agent) })
}

// speaksFor reports whether g counts for agent; specific says that some group names it.
func (g group) speaksFor(agent string, specific bool) bool {
	if specific {
		return g.names(agent)
	}
	return g.everyone
}

// collector builds groups from the parser's callbacks. A User-agent line that follows a rule begins a new group; other
// lines, Crawl-delay among them, do not end the list of agents (RFC 9309, section 2.2.4).
type collector struct {
	groups   []group
	sitemaps []string
	ruled    bool // the last group has had a rule
}

var _ grobotstxt.ParseHandler = (*collector)(nil)

// current is the group that a line belongs to, nil before the first User-agent.
func (c *collector) current() *group {
	if len(c.groups) == 0 {
		return nil
	}
	return &c.groups[len(c.groups)-1]
}

// HandleRobotsStart is called before the first line.
func (c *collector) HandleRobotsStart() {}

// HandleRobotsEnd is called after the last line.
func (c *collector) HandleRobotsEnd() {}

// HandleSitemap is called for a Sitemap line, which belongs to no group.
func (c *collector) HandleSitemap(_ int, value string) {
	if value != "" && len(c.sitemaps) < maxSitemaps {
		c.sitemaps = append(c.sitemaps, value)
	}
}

// HandleUserAgent is called for a User-agent line.
func (c *collector) HandleUserAgent(_ int, value string) {
	if c.ruled || len(c.groups) == 0 {
		c.groups = append(c.groups, group{})
		c.ruled = false
	}
	g := c.current()
	// "* (all of you)" is still everyone.
	if value == "*" || strings.HasPrefix(value, "*") && unicode.IsSpace(rune(value[1])) {
		g.everyone = true
		return
	}
	g.agents = append(g.agents, product(value))
}

// HandleAllow is called for an Allow line.
func (c *collector) HandleAllow(_ int, value string) {
	c.add(rule{pattern: compile(value), allow: true})
	// As Google does: to allow a folder's index page is to allow the folder's address too.
	if slash := strings.LastIndexByte(value, '/'); slash >= 0 && strings.HasPrefix(value[slash:], "/index.htm") {
		c.add(rule{pattern: compile(value[:slash+1] + "$"), allow: true})
	}
}

// HandleDisallow is called for a Disallow line.
func (c *collector) HandleDisallow(_ int, value string) {
	c.add(rule{pattern: compile(value)})
}

func (c *collector) add(r rule) {
	if g := c.current(); g != nil {
		g.rules = append(g.rules, r)
		c.ruled = true
	}
}

// HandleUnknownAction is called for every other line of the form "key: value".
func (c *collector) HandleUnknownAction(_ int, key, value string) {
	g := c.current()
	if g == nil || !strings.EqualFold(key, "crawl-delay") {
		return
	}
	if d, ok := seconds(value); ok {
		g.delay, g.hasDelay = max(g.delay, d), true
	}
}

// seconds reads a plain decimal number, no exponent, no sign.
func seconds(s string) (time.Duration, bool) {
	if strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	if n >= maxDelay.Seconds() { // also when it is out of range
		return maxDelay, true
	}
	if err != nil {
		return 0, false
	}
	return time.Duration(n * float64(time.Second)), true
}

// product is the leading product token of a User-agent, in the characters that the parser takes for one.
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

// IsFile reports whether a URI is the robots.txt of its origin.
func IsFile(u uri.URI) bool { return u.RequestTarget() == "/robots.txt" }
