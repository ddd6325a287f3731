//go:build !unix

package warcout

import "os"

// lockFile does nothing where there is no flock: there a folder must have only one writer.
func lockFile(*os.File) error { return nil }
