package fetch

import (
	"context"
	"net"
	"net/netip"
	"os"
)

// IsPublic is the table behind Guard.
func IsPublic(ip netip.Addr) bool { return isPublic(ip) }

// GuardWith is Guard with another resolver.
func GuardWith(allow []netip.Prefix, r *net.Resolver) func(ctx context.Context, network, address string) (net.Conn, error) {
	return guard(allow, r)
}

// SpoolInto makes c open its spool files by create.
func SpoolInto(c *Client, create func(dir, pattern string) (*os.File, error)) {
	c.store.create = create
}

// InMemory is how many bytes of the block are held in memory.
func InMemory(c *Capture) int64 { return c.spool.inMemory }

// Idle is how many connections c keeps.
func Idle(c *Client) int {
	c.idle.mu.Lock()
	defer c.idle.mu.Unlock()
	return c.idle.order.Len()
}

// Usable is how many connections c keeps that it would use again. One that got bytes nobody asked for after it was put away is
// found out when it is to be used.
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
