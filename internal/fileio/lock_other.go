//go:build !unix

package fileio

import "os"

// Lock does nothing where there is no flock: there only one process may use a file.
func Lock(*os.File) error { return nil }

// TryLock does nothing where there is no flock.
func TryLock(*os.File) error { return nil }
