//go:build unix

package fetch

import (
	"errors"
	"net"
	"syscall"
)

// peer looks into the receive queue of a socket. It is made once for each connection, so that looking allocates
// nothing.
type peer struct {
	raw  syscall.RawConn
	look func(fd uintptr)
	one  [1]byte
	err  error // result of look
}

// newPeer returns the peer of a connection, nil if the connection is not a socket.
func newPeer(c net.Conn) *peer {
	s, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := s.SyscallConn()
	p := &peer{raw: raw}
	if err != nil {
		p.raw = nil
	}
	p.look = func(fd uintptr) {
		_, _, p.err = syscall.Recvfrom(int(fd), p.one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	}
	return p
}

// silent reports whether neither bytes nor the end of the stream have arrived. It does not wait and consumes nothing. A
// connection that is not a socket counts as silent.
func (p *peer) silent() bool {
	if p == nil {
		return true
	}
	if p.raw == nil || p.raw.Control(p.look) != nil {
		return false
	}
	return errors.Is(p.err, syscall.EAGAIN) || errors.Is(p.err, syscall.EWOULDBLOCK)
}
