package robots

import (
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

const (
	// entryBytes is the memory of an entry of a cache besides its rules and its name.
	entryBytes = 256
	// maxParsing is the number of files that are parsed at a time. A large file takes some MB while it is parsed.
	maxParsing = 4
)

// Cache keeps the rules of files in memory, because each visit asks for them. It keeps only the rules for one agent,
// and a bounded number of bytes. It is safe for concurrent use.
type Cache struct {
	agent    string
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
	if IsFile(file) {
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

// NewCache returns an empty cache for one agent that holds at most a number of bytes.
func NewCache(agent string, maxBytes int64) *Cache {
	return &Cache{
		agent: agent, maxBytes: maxBytes, parsing: make(chan struct{}, maxParsing), rules: map[name]entry{},
	}
}

// OriginRules returns the rules of the robots.txt of an origin. The file has this body and was fetched at this time.
func (c *Cache) OriginRules(origin uri.URI, fetched time.Time, body []byte) Rules {
	return c.of(name{origin, true}, fetched, body)
}

// Rules returns the rules of a file with this body, which was fetched at this time. It need not be a robots.txt.
func (c *Cache) Rules(file uri.URI, fetched time.Time, body []byte) Rules {
	return c.of(nameOf(file), fetched, body)
}

func (c *Cache) of(file name, fetched time.Time, body []byte) Rules {
	c.mu.Lock()
	have, ok := c.rules[file]
	c.mu.Unlock()
	if ok && have.fetched.Equal(fetched) {
		return have.rules
	}
	c.parsing <- struct{}{}
	rules := Parse(body).For(c.agent)
	<-c.parsing
	size := rules.size() + int64(len(file.u.String())) + entryBytes
	c.put(name{file.u.Clone(), file.origin}, entry{fetched: fetched, rules: rules, bytes: size})
	return rules
}

// put keeps an entry. Entries in no particular order make room for it.
func (c *Cache) put(file name, e entry) {
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

// Bytes returns how much memory the cache takes, in bytes.
func (c *Cache) Bytes() int64 {
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
