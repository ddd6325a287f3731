//go:build unix

package audit

import (
	"io/fs"
	"syscall"
)

// owner returns the name of the user that a file belongs to.
func owner(info fs.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return UserName(s.Uid)
	}
	return ""
}
