//go:build !linux

package frontier

import "os"

// syncData writes the file.
func syncData(f *os.File) error { return f.Sync() }
