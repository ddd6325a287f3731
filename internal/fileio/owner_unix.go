//go:build unix

package fileio

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"
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

// clockSkew is how far the clock of a file server may be behind.
const clockSkew = time.Hour

// RestoreOwner makes the owner of a folder the owner of what root owns in it: files that a command of root made since
// it began, which the daemon needs too. It does so for names that match a pattern, and for everything below them. It
// skips files in folders where nothing was made since an hour before. A folder that root made too gets the owner of its
// parent. For others than root, and in an older folder of root, it does nothing. It follows no links below the folder,
// and never leaves it.
func RestoreOwner(folder, pattern string, since time.Time) error {
	if os.Geteuid() != 0 {
		return nil
	}
	root, err := os.OpenRoot(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := root.Stat(".")
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if ok && owner.Uid == 0 && wasChanged(info, since) {
		if owner, err = giveToParent(folder, root, info); err != nil {
			return err
		}
	}
	if !ok || owner.Uid == 0 {
		return nil
	}
	changed := map[string]bool{".": wasChanged(info, since)}
	return fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return ignoreGone(err)
		}
		top, _, _ := strings.Cut(name, "/")
		if matches, _ := path.Match(pattern, top); !matches {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !e.IsDir() && !changed[path.Dir(name)] {
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return ignoreGone(err)
		}
		if e.IsDir() {
			changed[name] = wasChanged(info, since)
		}
		s, ok := info.Sys().(*syscall.Stat_t)
		if ok && s.Uid == 0 && (e.IsDir() || e.Type().IsRegular() && s.Nlink == 1) {
			err = root.Lchown(name, int(owner.Uid), int(owner.Gid))
		}
		return ignoreGone(err)
	})
}

// giveToParent makes the owner of the parent the owner of a folder, and returns it. A link instead of the folder could
// lead to a folder of the system, so it changes nothing.
func giveToParent(folder string, root *os.Root, info fs.FileInfo) (*syscall.Stat_t, error) {
	nobody := &syscall.Stat_t{}
	named, err := os.Lstat(folder)
	if err != nil || !os.SameFile(named, info) {
		return nobody, err
	}
	parent, err := os.Stat(filepath.Dir(folder))
	if err != nil {
		return nobody, err
	}
	owner, ok := parent.Sys().(*syscall.Stat_t)
	if !ok || owner.Uid == 0 {
		return nobody, nil
	}
	return owner, root.Lchown(".", int(owner.Uid), int(owner.Gid))
}

// wasChanged reports whether entries of a folder may have been made since a time.
func wasChanged(folder fs.FileInfo, since time.Time) bool {
	return !folder.ModTime().Before(since.Add(-clockSkew))
}

// ignoreGone returns nil for a file that another process has removed.
func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
