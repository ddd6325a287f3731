package policy

import (
	"fmt"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/scope/robots"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	// Agent is the product token that groups of robots.txt address.
	Agent = "arcrawl"
	// maxRobotsRedirects is the number of redirects of a robots.txt that are followed (RFC 9309, 2.3.1.2).
	maxRobotsRedirects = 5
	// maxRulesCached bounds the parsed rules kept in memory, one entry per origin.
	maxRulesCached = 10_000
)

// RobotsCopies knows the copies of robots.txt in force. A [frontier.Frontier] does.
type RobotsCopies interface {
	// Robots returns the copy in force at an origin. It reports false if there is none.
	Robots(origin uri.URI) (frontier.RobotsCopy, bool, error)
}

// Robots finds the robots.txt rules in force. It keeps parsed rules, because each visit asks for them. It is safe for
// concurrent use.
type Robots struct {
	copies RobotsCopies

	mu     sync.Mutex // guards parsed
	parsed map[uri.URI]parsedRules
}

type parsedRules struct {
	fetched time.Time
	rules   robots.Rules
}

// NewRobots returns a Robots that reads the given copies.
func NewRobots(copies RobotsCopies) *Robots {
	return &Robots{copies: copies, parsed: make(map[uri.URI]parsedRules)}
}

// Rules returns the rules that a copy of robots.txt at an origin stands for. It follows redirects to other robots.txt
// files. It reports false while one of them has not been fetched yet. A redirect to anything else is an answer without
// rules.
func (r *Robots) Rules(origin uri.URI, c frontier.RobotsCopy) (robots.Rules, bool, error) {
	for range maxRobotsRedirects + 1 {
		if !IsRedirect(c.Status) {
			return r.parse(origin, c), true, nil
		}
		target, err := origin.Robots().Join(string(c.Body))
		if err != nil || !robots.IsFile(target) {
			return robots.Rules{}, true, nil
		}
		origin = target.Origin()
		next, ok, err := r.copies.Robots(origin)
		if err != nil {
			return robots.Rules{}, false, fmt.Errorf("look up %s: %w", target, err)
		}
		if !ok || next.Unreachable {
			return robots.Rules{}, false, nil
		}
		c = next
	}
	// Too many redirects count as a missing robots.txt (RFC 9309, 2.3.1.2).
	return robots.Rules{}, true, nil
}

// parse returns the rules of the copy found at an origin.
func (r *Robots) parse(origin uri.URI, c frontier.RobotsCopy) robots.Rules {
	r.mu.Lock()
	defer r.mu.Unlock()
	if have, ok := r.parsed[origin]; ok && have.fetched.Equal(c.Fetched) {
		return have.rules
	}
	if len(r.parsed) >= maxRulesCached {
		clear(r.parsed)
	}
	rules := robots.Parse(c.Body)
	r.parsed[origin.Clone()] = parsedRules{c.Fetched, rules}
	return rules
}

// inForce returns the rules that apply to u, if they are known. fresh is the copy that the present visit brought; nil
// if it brought none.
func (r *Robots) inForce(u uri.URI, fresh *frontier.RobotsCopy) (robots.Rules, bool) {
	if fresh != nil {
		return robots.Parse(fresh.Body), !fresh.Unreachable && !IsRedirect(fresh.Status)
	}
	c, ok, err := r.copies.Robots(u.Origin())
	if err != nil || !ok || c.Unreachable {
		return robots.Rules{}, false
	}
	rules, ready, err := r.Rules(u.Origin(), c)
	return rules, ready && err == nil
}

// Politeness returns how long a host rests after a visit to u, with the Crawl-delay of the rules in force. fresh is the
// copy of robots.txt that the visit brought; nil if it brought none.
func (r *Robots) Politeness(u uri.URI, s config.Politeness, fresh *frontier.RobotsCopy) frontier.Politeness {
	p := s.Politeness
	rules, ok := r.inForce(u, fresh)
	if !ok {
		return p
	}
	if delay, set := rules.CrawlDelay(Agent); set {
		p.CrawlDelay = min(delay, s.CrawlDelayUpTo)
	}
	return p
}
