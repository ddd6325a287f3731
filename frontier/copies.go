package frontier

import (
	"sync"

	"github.com/arcrawl/arcrawl/uri"
)

// maxCopies is how many copies of robots.txt are kept in memory, and maxCopied how many bytes they may have.
const (
	maxCopies = 4096
	maxCopied = 8 << 20
)

// copies keeps some copies of robots.txt as they are in the store, because each visit asks for that of its origin, and
// more than once. A new copy drives the old one out before its settlement returns.
type copies struct {
	mu    sync.Mutex // guards what follows; nothing else is locked while it is held
	known map[uri.URI]RobotsCopy
	bytes int
	round int // goes on with each copy that is driven out, so that nobody brings it back who read it before
}

// get gives the copy of an origin, if it is here, and the round.
func (c *copies) get(origin uri.URI) (RobotsCopy, bool, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.known[origin]
	return found, ok, c.round
}

// put keeps what was read from the store in a round, if that is not over.
func (c *copies) put(origin uri.URI, copied RobotsCopy, round int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if round != c.round {
		return
	}
	if c.known == nil || len(c.known) >= maxCopies || c.bytes+len(copied.Body) > maxCopied {
		c.known, c.bytes = make(map[uri.URI]RobotsCopy), 0
	}
	if old, ok := c.known[origin]; ok {
		c.bytes -= len(old.Body)
	}
	c.known[origin.Clone()] = copied
	c.bytes += len(copied.Body)
}

// drop drives out the copy of an origin.
func (c *copies) drop(origin uri.URI) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.round++
	c.bytes -= len(c.known[origin].Body)
	delete(c.known, origin)
}

// clear drives out all.
func (c *copies) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.round++
	c.known, c.bytes = nil, 0
}
