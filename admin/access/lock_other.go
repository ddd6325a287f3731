//go:build !unix

package access

import "os"

// lockFile does nothing where there is no flock: there only one process at a time may edit a file.
func lockFile(*os.File) error { return nil }
