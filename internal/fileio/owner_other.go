//go:build !unix

package fileio

import "io/fs"

// KeepOwner does nothing: files have no numeric owner here.
func KeepOwner(string, fs.FileInfo) error { return nil }
