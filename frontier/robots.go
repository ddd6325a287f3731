package frontier

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// MaxRobots is how many bytes of a robots.txt are kept; the rest is cut off. RFC 9309, section 2.5, requires a limit
// of at least 500 KiB.
const MaxRobots = 512 << 10

// RobotsCopy is the robots.txt of an origin as it was last fetched.
type RobotsCopy struct {
	Fetched, Expires time.Time
	Status           int
	Unreachable      bool
	Body             []byte // at most [MaxRobots] are kept
}

// Robots returns the copy of robots.txt that is in force for an origin, as [uri.URI.Origin] names it; ok is false if
// there is none. It does not look at Expires.
func (f *Frontier) Robots(origin uri.URI) (c RobotsCopy, ok bool, err error) {
	return f.robotsCopy(robotsFile{u: origin})
}

// Substitute returns the copy of a URI that replaces a robots.txt, because a robots.txt redirects there; see
// [History].RobotsVia. The URI may be the robots.txt of another origin. ok is false if there is no copy.
func (f *Frontier) Substitute(u uri.URI) (c RobotsCopy, ok bool, err error) {
	if isRobotsFile(u) {
		return f.Robots(u.Origin())
	}
	return f.robotsCopy(robotsFile{u: u, substitute: true})
}

// robotsFile names a copy in the cache: the robots.txt of an origin, or a URI that replaces one. Each visit looks one
// up, so it is short.
type robotsFile struct {
	u          uri.URI // the origin, or the substitute
	substitute bool
}

// robotsFileOf returns the name of the copy that the visit of a URI brings.
func robotsFileOf(u uri.URI) robotsFile {
	if isRobotsFile(u) {
		return robotsFile{u: u.Origin()}
	}
	return robotsFile{u: u, substitute: true}
}

// key returns the key of the copy in the store.
func (r robotsFile) key(host uint32) []byte {
	if !r.substitute {
		return key(kindRobots, host, []byte(r.u.Scheme()))
	}
	return robotsKey(host, r.u)
}

// robotsCopy returns a copy.
func (f *Frontier) robotsCopy(file robotsFile) (c RobotsCopy, ok bool, err error) {
	c, ok, round := f.robotsCopies.get(file)
	if ok {
		return c, true, nil
	}
	if f.IsForeign(file.u.Host()) {
		c, ok = f.foreignRobots(file)
		return c, ok, nil
	}
	id, err := f.hostID(file.u)
	if id == 0 || err != nil {
		return RobotsCopy{}, false, err
	}
	var w robotsRow
	err = f.View(func(txn *badger.Txn) error {
		ok, err = readRow(txn, file.key(id), &w)
		return err
	})
	if err != nil && !errors.Is(err, ErrCorrupt) { // a damaged copy is fetched again
		return RobotsCopy{}, false, fmt.Errorf("look up the robots.txt of %s: %w", file.u, err)
	}
	if c, ok = w.copy(), ok && err == nil; ok {
		f.robotsCopies.put(file, c, round)
	}
	return c, ok, nil
}

// The maximum size of a [robotsCache].
const (
	maxCopies      = 4096
	maxCopiedBytes = 8 << 20
)

// robotsCache keeps copies of robots.txt as they are in the store, because each visit asks for the one of its origin,
// and more than once. A settlement with a new copy removes the old one before it returns.
type robotsCache struct {
	mu     sync.Mutex // guards the fields below; no other lock is taken while it is held
	copies map[robotsFile]RobotsCopy
	bytes  int
	round  int // number of removals; a copy that was read in an earlier round may be outdated
}

// get returns a copy, if it is here, and the round.
func (c *robotsCache) get(file robotsFile) (RobotsCopy, bool, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cached, ok := c.copies[file]
	return cached, ok, c.round
}

// put keeps a copy that was read from the store in a round, unless that round is over.
func (c *robotsCache) put(file robotsFile, copied RobotsCopy, round int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if round != c.round {
		return
	}
	if c.copies == nil || len(c.copies) >= maxCopies || c.bytes+len(copied.Body) > maxCopiedBytes {
		c.copies, c.bytes = make(map[robotsFile]RobotsCopy), 0
	}
	if old, ok := c.copies[file]; ok {
		c.bytes -= len(old.Body)
	}
	c.copies[robotsFile{file.u.Clone(), file.substitute}] = copied
	c.bytes += len(copied.Body)
}

// invalidate removes a copy.
func (c *robotsCache) invalidate(file robotsFile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.round++
	c.bytes -= len(c.copies[file].Body)
	delete(c.copies, file)
}

// clear removes all copies.
func (c *robotsCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.round++
	c.copies, c.bytes = nil, 0
}
