//go:build unix

package fetch

import (
	"errors"
	"net"
	"syscall"
)

// socketSilent looks into the socket's receive queue without waiting and without taking anything: neither bytes nor the
// end of the stream may be there. A connection that is no socket is taken to be silent.
func socketSilent(c net.Conn) bool {
	s, ok := c.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return false
	}
	var found error
	err = raw.Control(func(fd uintptr) {
		_, _, found = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	})
	return err == nil && (errors.Is(found, syscall.EAGAIN) || errors.Is(found, syscall.EWOULDBLOCK))
}
