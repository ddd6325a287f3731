//go:build !linux

package shared

import (
	"syscall"
	"time"
)

// GiveUpAfter does nothing: this system has no such limit.
func GiveUpAfter(syscall.RawConn, time.Duration) error { return nil }
