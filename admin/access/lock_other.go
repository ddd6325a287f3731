//go:build !unix

package access

import "os"

// openLocked opens a file. Where there is no flock, only one process at a time may edit a file.
func openLocked(path string) (*os.File, error) { return os.Open(path) }
