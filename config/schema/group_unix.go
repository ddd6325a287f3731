//go:build unix

package schema

import (
	"io/fs"
	"os/user"
	"strconv"
	"syscall"
)

// groupOf returns the name of the group that a file belongs to; "" if it is not known.
func groupOf(info fs.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	g, err := user.LookupGroupId(strconv.FormatUint(uint64(s.Gid), 10))
	if err != nil {
		return ""
	}
	return g.Name
}
