package fetch

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
)

// The statuses of an exchange without a response, as Heritrix numbers them. The package comment explains them.
const (
	DNSFailed      = -1
	ConnectFailed  = -2
	ConnectionLost = -3
	TimedOut       = -4
	NotHTTP        = -5
	EmptyReply     = -404
)

// Truncation is the reason why a body is not whole, in the words of the WARC-Truncated field.
type Truncation string

// The truncations. The zero value means that the body is not truncated.
const (
	TruncatedLength     Truncation = "length"
	TruncatedTime       Truncation = "time"
	TruncatedDisconnect Truncation = "disconnect"
)

var (
	errNotHTTP = errors.New("the answer is not HTTP")
	errMaxHead = errors.New("the response head is too long")
	errMaxBody = errors.New("the body is longer than the limit")
	errExcess  = errors.New("the body is longer than its Content-Length")
	errTooSlow = errors.New("the body is slower than the minimum rate")
)

// connectStatus returns the status for a connection that could not be made.
func connectStatus(err error) int {
	if dns := (*net.DNSError)(nil); errors.As(err, &dns) {
		return DNSFailed
	}
	return ConnectFailed
}

// connectError returns the misfortune of a connection that could not be made. A forbidden address explains itself.
func connectError(address string, err error) error {
	if op := (*net.OpError)(nil); errors.As(err, &op) && errors.Is(op.Err, ErrForbiddenAddress) {
		return op.Err
	}
	return fmt.Errorf("connect to %s: %w", address, err)
}

// outOfResources reports whether a connection could not be made because this process or machine has no files or memory
// left. That says nothing about the host.
func outOfResources(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) ||
		errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.ENOMEM)
}

// headStatus returns the status and the misfortune for a head that is not whole. received is the part that came.
func headStatus(err error, received []byte) (int, error) {
	switch {
	case errors.Is(err, errNotHTTP), errors.Is(err, errMaxHead):
		return NotHTTP, fmt.Errorf("read response head: %w", err)
	case isTimeout(err):
		return TimedOut, fmt.Errorf("read response head: timed out after %d bytes: %w", len(received), err)
	case len(received) == 0 && errors.Is(err, io.EOF):
		return EmptyReply, errors.New("the server closed the connection without an answer")
	case errors.Is(err, io.EOF):
		return ConnectionLost, fmt.Errorf("the connection ended inside the response head, after %d bytes", len(received))
	}
	return ConnectionLost, fmt.Errorf("read response head: %w", err)
}

// truncationOf returns the truncation for a body that did not end properly.
func truncationOf(err error) Truncation {
	switch {
	case errors.Is(err, errMaxBody):
		return TruncatedLength
	case errors.Is(err, errTooSlow), isTimeout(err):
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
