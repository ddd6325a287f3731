//go:build unix

package fetch

import (
	"errors"
	"net"
	"syscall"
)

// peer looks into the receive queue of a socket. It is made once for a connection, so that a look allocates nothing.
type peer struct {
	raw   syscall.RawConn
	look  func(fd uintptr)
	one   [1]byte
	found error // by look
}

// newPeer is nil for a connection that is no socket.
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
		_, _, p.found = syscall.Recvfrom(int(fd), p.one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	}
	return p
}

// silent looks without waiting and without taking anything: neither bytes nor the end of the stream may be there. A connection
// that is no socket is taken to be silent.
func (p *peer) silent() bool {
	if p == nil {
		return true
	}
	if p.raw == nil || p.raw.Control(p.look) != nil {
		return false
	}
	return errors.Is(p.found, syscall.EAGAIN) || errors.Is(p.found, syscall.EWOULDBLOCK)
}
