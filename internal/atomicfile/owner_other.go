//go:build !unix

package atomicfile

import "io/fs"

// KeepOwner does nothing: files have no numeric owner here.
func KeepOwner(string, fs.FileInfo) error { return nil }
