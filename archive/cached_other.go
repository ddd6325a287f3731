//go:build !linux

package archive

import "os"

// dropCached does nothing: other systems have no such advice.
func dropCached(*os.File) {}
