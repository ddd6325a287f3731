//go:build !unix

package fetch

import "net"

// peer cannot look into a socket here; a connection that is gone shows when it is used, and is then replaced.
type peer struct{}

func newPeer(net.Conn) *peer { return nil }

func (*peer) silent() bool { return true }
