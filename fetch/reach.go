package fetch

import (
	"context"
	"time"
)

// Reach reports whether a connection to an address, a host and a port, can be opened within a time. It sends nothing.
func (c *Client) Reach(ctx context.Context, address string, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	k, err := c.dial(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = k.Close() // nothing was sent
	return true
}
