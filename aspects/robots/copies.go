package robots

import (
	"fmt"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	// Agent is the product token that groups of robots.txt address.
	Agent = "arcrawl"
	// maxRobotsRedirects is the number of redirects of a robots.txt that are followed (RFC 9309, 2.3.1.2).
	maxRobotsRedirects = 5
	// maxRulesBytes bounds the parsed rules kept in memory. The rules of 50,000 ordinary hosts fit.
	maxRulesBytes = 32 << 20
)

// Store knows the copies of robots.txt in force. A [frontier.Frontier] does.
type Store interface {
	// Robots returns the copy in force at an origin. It reports false if there is none.
	Robots(origin uri.URI) (frontier.RobotsCopy, bool, error)
	// Substitute returns the copy of a URI that a robots.txt redirects to. It reports false if there is none.
	Substitute(u uri.URI) (frontier.RobotsCopy, bool, error)
}

// Copies finds the robots.txt rules in force. It keeps parsed rules, because each visit asks for them. It is safe for
// concurrent use.
type Copies struct {
	copies Store
	cache  *cache
}

// NewCopies returns a Copies that reads the given copies.
func NewCopies(copies Store) *Copies {
	return &Copies{copies: copies, cache: newCache(maxRulesBytes)}
}

// Ruling holds the meaning of a copy of robots.txt.
type Ruling struct {
	Rules Rules // in force, unless one of Wanted and UnreachableUntil is set

	// At is the URI that robots.txt redirects to, directly or over others, whose copy has the rules; zero if it does not
	// redirect. Copy is that copy; zero after too many redirects.
	At   uri.URI
	Copy frontier.RobotsCopy

	// Wanted is the URI that robots.txt redirects to, directly or over others, and that must be fetched first. From is the
	// URI that redirects there. Both are zero if nothing is missing.
	Wanted, From uri.URI

	// UnreachableUntil is when the URI that robots.txt redirects to is asked again, because it could not be fetched.
	// Nothing may be visited before. It is zero if it was fetched.
	UnreachableUntil time.Time
}

// Sitemaps returns the sitemaps that the copy in force names.
func (r Ruling) Sitemaps() []string {
	if IsHTML(r.Copy.Body) {
		return nil
	}
	return Parse(r.Copy.Body).Sitemaps()
}

// Known reports whether the rules are known.
func (r Ruling) Known() bool { return r.Wanted.IsZero() && r.UnreachableUntil.IsZero() }

// Rules returns the meaning of a copy of robots.txt at an origin. It follows up to five redirects, to any path of any
// host; what they lead to replaces the robots.txt (RFC 9309, 2.3.1.2).
func (r *Copies) Rules(origin uri.URI, c frontier.RobotsCopy, now time.Time) (Ruling, error) {
	if !discover.IsRedirect(c.Status) { // nearly always
		rules := r.cache.rulesOf(name{origin, true}, c.Fetched, c.Body)
		return Ruling{Rules: rules, Copy: c}, nil
	}
	at := origin.Robots()
	for range maxRobotsRedirects + 1 {
		if !discover.IsRedirect(c.Status) {
			rules := r.cache.rulesOf(nameOf(at), c.Fetched, c.Body)
			return Ruling{Rules: rules, At: at, Copy: c}, nil
		}
		target, err := at.Join(string(c.Body))
		if err != nil || target.HasBadPort() {
			return Ruling{}, nil // an answer without rules
		}
		next, ok, err := r.copies.Substitute(target)
		switch {
		case err != nil:
			return Ruling{}, fmt.Errorf("look up %s: %w", target, err)
		case !ok || next.Fetched.After(now.Add(time.Minute)) || !now.Before(next.Expires.Add(overdueSubstitute(at, target))):
			return Ruling{Wanted: target, From: at}, nil
		case next.Unreachable:
			return Ruling{UnreachableUntil: next.Expires}, nil
		}
		at, c = target, next
	}
	// Too many redirects count as a missing robots.txt (RFC 9309, 2.3.1.2).
	return Ruling{}, nil
}

// overdueSubstitute returns how long a copy from another host is used after it has expired. It is then in the queue of
// that host and comes soon. One from the same host is fetched before the next visit, as robots.txt is.
func overdueSubstitute(from, target uri.URI) time.Duration {
	if from.Host() == target.Host() {
		return 0
	}
	return 12 * time.Hour
}

// LeadsTo reports whether a robots.txt, or a URI that replaces one, redirects to a URI.
func (r *Copies) LeadsTo(from, target uri.URI) bool {
	c, ok, err := r.copies.Substitute(from)
	if err != nil || !ok || !discover.IsRedirect(c.Status) {
		return false
	}
	to, err := from.Join(string(c.Body))
	return err == nil && to == target
}

// Expired reports whether a copy of robots.txt must be fetched again. It is in force for as long as the settings say,
// whatever a server or a wrong clock has written into the store.
func Expired(c frontier.RobotsCopy, s Options, now time.Time) bool {
	longest := s.Wait
	if c.Unreachable {
		longest = s.UnreachableWait
	}
	return !now.Before(c.Expires) || c.Expires.Sub(now) > longest
}

// Bytes returns how much memory the parsed rules take.
func (r *Copies) Bytes() int64 { return r.cache.memory() }

// inForce returns the rules that apply to u, if they are known. fresh is the copy that the present visit brought; nil
// if it brought none.
func (r *Copies) inForce(u uri.URI, fresh *frontier.RobotsCopy, now time.Time) (Rules, bool) {
	if fresh != nil && u.IsRobots() {
		return Parse(fresh.Body), !fresh.Unreachable && !discover.IsRedirect(fresh.Status)
	}
	c, ok, err := r.copies.Robots(u.Origin())
	if err != nil || !ok || c.Unreachable {
		return Rules{}, false
	}
	ruling, err := r.Rules(u.Origin(), c, now)
	return ruling.Rules, err == nil && ruling.Known()
}

// Politeness returns how long a host rests after a visit to u, with the Crawl-delay of the rules in force. fresh is the
// copy of robots.txt that the visit brought; nil if it brought none.
func (r *Copies) Politeness(
	u uri.URI, p frontier.Politeness, crawlDelayUpTo time.Duration, fresh *frontier.RobotsCopy, now time.Time,
) frontier.Politeness {
	rules, ok := r.inForce(u, fresh, now)
	if !ok {
		return p
	}
	if delay, set := rules.CrawlDelay(Agent); set {
		p.CrawlDelay = min(delay, crawlDelayUpTo)
	}
	return p
}

// Candidate returns a URI that a robots.txt redirects to as a candidate. It is visited before all others of its host,
// whether it is in scope or not. from is the URI that redirects.
func Candidate(seed string, u, from uri.URI, now time.Time) frontier.Candidate {
	return frontier.Candidate{
		URI: u, Hops: uri.HopPath("").Then(uri.Prereq).Then(uri.Redirect), Via: from.String(), Seed: seed,
		Due: now, Urgent: true, Sooner: true, RobotsVia: from.String(),
	}
}

const (
	// entryBytes is the memory of an entry of a cache besides its rules and its name.
	entryBytes = 256
	// maxParsing is the number of files that are parsed at a time. A large file takes some MB while it is parsed.
	maxParsing = 4
)

// cache keeps the rules of files in memory, because each visit asks for them. It keeps only the rules for [Agent], and
// a bounded number of bytes. It is safe for concurrent use.
type cache struct {
	maxBytes int64
	parsing  chan struct{} // has a token for each file that is being parsed

	mu    sync.Mutex // guards the fields below; not held while parsing
	rules map[name]entry
	bytes int64
}

// name names a file: the robots.txt of an origin, or another URI that replaces one. It is made without an allocation.
type name struct {
	u      uri.URI
	origin bool
}

func nameOf(file uri.URI) name {
	if file.IsRobots() {
		return name{file.Origin(), true}
	}
	return name{u: file}
}

// entry holds the rules of a file.
type entry struct {
	fetched time.Time
	rules   Rules
	bytes   int64
}

// newCache returns an empty cache that holds at most a number of bytes.
func newCache(maxBytes int64) *cache {
	return &cache{maxBytes: maxBytes, parsing: make(chan struct{}, maxParsing), rules: map[name]entry{}}
}

// rulesOf returns the rules of a file with this body, which was fetched at this time. It need not be a robots.txt.
func (c *cache) rulesOf(file name, fetched time.Time, body []byte) Rules {
	c.mu.Lock()
	have, ok := c.rules[file]
	c.mu.Unlock()
	if ok && have.fetched.Equal(fetched) {
		return have.rules
	}
	c.parsing <- struct{}{}
	rules := Parse(body).For(Agent)
	<-c.parsing
	size := rules.size() + int64(len(file.u.String())) + entryBytes
	c.put(name{file.u.Clone(), file.origin}, entry{fetched: fetched, rules: rules, bytes: size})
	return rules
}

// put keeps an entry. Entries in no particular order make room for it.
func (c *cache) put(file name, e entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes += e.bytes - c.rules[file].bytes
	c.rules[file] = e
	for other, old := range c.rules {
		if c.bytes <= c.maxBytes {
			return
		}
		if other != file {
			delete(c.rules, other)
			c.bytes -= old.bytes
		}
	}
}

// memory returns how much memory the cache takes, in bytes.
func (c *cache) memory() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

// size returns the memory of rules for one agent, in bytes.
func (r Rules) size() int64 {
	n := int64(0)
	for _, g := range r.groups {
		n += int64(len(g.rules.text)) + 4*int64(cap(g.rules.ends)) + entryBytes
	}
	return n
}
