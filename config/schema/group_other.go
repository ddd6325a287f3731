//go:build !unix

package schema

import "io/fs"

// groupOf reports that the group of a file is not known.
func groupOf(fs.FileInfo) string { return "" }
