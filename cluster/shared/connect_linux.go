package shared

import (
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// GiveUpAfter lets the kernel break a connection when the other side has confirmed nothing of what was sent for some
// time. It does so also while this process stands still, and sends nothing of it afterwards.
func GiveUpAfter(raw syscall.RawConn, d time.Duration) error {
	var err error
	failed := raw.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(d.Milliseconds()))
	})
	return errors.Join(failed, err)
}
