//go:build unix

package admin

import (
	"io/fs"
	"syscall"

	"github.com/arcrawl/arcrawl/admin/access"
)

// owner returns the name of the user that a file belongs to.
func owner(info fs.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return access.UserName(s.Uid)
	}
	return ""
}
