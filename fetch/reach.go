package fetch

import (
	"context"
	"time"
)

// Reach reports whether a connection to an address, a host and a port, can be opened in a way within a time. It sends
// nothing.
func (c *Client) Reach(ctx context.Context, w *Way, address string, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(WithWay(ctx, w), limit)
	defer cancel()
	k, err := c.dial(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = k.Close() // nothing was sent
	return true
}
