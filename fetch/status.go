package fetch

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
)

// The statuses of an exchange without response, as Heritrix numbers them; the package comment says when each is given.
const (
	DNSFailed      = -1
	ConnectFailed  = -2
	ConnectionLost = -3
	TimedOut       = -4
	NotHTTP        = -5
	EmptyReply     = -404
)

// Truncation is why a body is not whole, in the words of the WARC-Truncated field.
type Truncation string

// The truncations. TruncatedNot is the zero value.
const (
	TruncatedNot        Truncation = ""
	TruncatedLength     Truncation = "length"
	TruncatedTime       Truncation = "time"
	TruncatedDisconnect Truncation = "disconnect"
)

var (
	errNotHTTP = errors.New("the answer is not HTTP")
	errMaxHead = errors.New("the response head is too long")
	errMaxBody = errors.New("the body is longer than the limit")
)

// ofConnect gives the status for a connection that did not come about.
func ofConnect(err error) int {
	if dns := (*net.DNSError)(nil); errors.As(err, &dns) {
		return DNSFailed
	}
	return ConnectFailed
}

// exhausted tells that a connection did not come about because this process or machine has no more files or memory for it. That says
// nothing about the host.
func exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.ENOMEM)
}

// ofHead gives the status, and the words, for a head that did not come whole. received is what came of the answer.
func ofHead(err error, received []byte) (int, error) {
	switch {
	case errors.Is(err, errNotHTTP), errors.Is(err, errMaxHead):
		return NotHTTP, fmt.Errorf("read response head: %w", err)
	case isTimeout(err):
		return TimedOut, fmt.Errorf("read response head: out of time after %d bytes: %w", len(received), err)
	case len(received) == 0 && errors.Is(err, io.EOF):
		return EmptyReply, errors.New("the server closed the connection without an answer")
	case errors.Is(err, io.EOF):
		return ConnectionLost, fmt.Errorf("the connection ended inside the response head, after %d bytes", len(received))
	}
	return ConnectionLost, fmt.Errorf("read response head: %w", err)
}

// ofBody names the truncation for a body that did not come to its proper end.
func ofBody(err error) Truncation {
	switch {
	case errors.Is(err, errMaxBody):
		return TruncatedLength
	case isTimeout(err):
		return TruncatedTime
	}
	return TruncatedDisconnect
}

func isTimeout(err error) bool {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return true
	}
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
