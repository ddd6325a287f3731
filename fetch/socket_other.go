//go:build !unix

package fetch

import "net"

// peer cannot look into a socket on this platform. A closed connection is noticed and replaced when it is used.
type peer struct{}

func newPeer(net.Conn) *peer { return nil }

func (*peer) silent() bool { return true }
