//go:build !unix

package fileio

import (
	"io/fs"
	"time"
)

// KeepOwner does nothing: files have no numeric owner here.
func KeepOwner(string, fs.FileInfo) error { return nil }

// RestoreOwner does nothing.
func RestoreOwner(string, string, time.Time) error { return nil }
