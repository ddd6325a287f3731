//go:build !unix

package access

import "io/fs"

// keepOwner does nothing: files have no numeric owner here.
func keepOwner(string, fs.FileInfo) error { return nil }
