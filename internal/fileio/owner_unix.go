//go:build unix

package fileio

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// KeepOwner changes the owner of a file to the owner of another file or folder, because a command of root may write a
// file that the daemon needs too. Only root can do so; for others the file is their own already.
func KeepOwner(path string, like fs.FileInfo) error {
	s, ok := like.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	err := os.Chown(path, int(s.Uid), int(s.Gid))
	if errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0 {
		return nil
	}
	return err
}
