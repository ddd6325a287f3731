package fetch

import (
	"net"
	"net/netip"
	"os"
)

// GuardWith returns a Guard that uses the given resolver.
func GuardWith(allow []netip.Prefix, r *net.Resolver) Dialer {
	return guard(allow, nil, r)
}

// SpoolInto makes c create its spool files with create.
func SpoolInto(c *Client, create func(dir, pattern string) (*os.File, error)) {
	c.spools.create = create
}

// InMemory returns how many bytes of the block are in memory.
func InMemory(c *Capture) int64 { return c.spool.inMemory }

// Idle returns how many connections c keeps.
func Idle(c *Client) int {
	c.idle.mu.Lock()
	defer c.idle.mu.Unlock()
	return c.idle.order.Len()
}

// Usable returns how many of the connections that c keeps it would use again. A connection on which unexpected bytes
// have arrived is not used again.
func Usable(c *Client) (n int) {
	c.idle.mu.Lock()
	defer c.idle.mu.Unlock()
	for e := c.idle.order.Front(); e != nil; e = e.Next() {
		if e.Value.(*conn).silent() {
			n++
		}
	}
	return n
}
