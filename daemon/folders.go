package daemon

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/fileio"
	"github.com/arcrawl/arcrawl/internal/human"
)

// FolderError says that a folder, a file or a socket cannot be used.
type FolderError struct{ Err error }

// Error returns the text of the cause.
func (e FolderError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e FolderError) Unwrap() error { return e.Err }

// DiskError says that the disk is full or failing.
type DiskError struct{ Err error }

// Error returns the text of the cause.
func (e DiskError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e DiskError) Unwrap() error { return e.Err }

// openFolders makes the folders of the crawl, and makes sure that the disk has enough free space.
func (d *Daemon) openFolders(time.Time) error {
	if err := PrepareFolders(d.live.Current()); err != nil {
		return err
	}
	return checkSpace(d.live.Current(), d.parts.FreeSpace)
}

// PrepareFolders makes the folders of the crawl. It returns a [FolderError] if one of them cannot be written, or a
// [DiskError] if the disk is why.
func PrepareFolders(c *config.Config) error {
	folders := []struct{ key, path string }{
		{"storage.state", c.Storage.State},
		{"storage.state", SpoolFolder(c)},
		{"storage.warc", c.Storage.WARC},
		{"storage.log", filepath.Dir(c.Storage.Log)},
	}
	for _, folder := range c.Storage.Folders.All() {
		folders = append(folders, struct{ key, path string }{"storage.folders", folder})
	}
	for _, f := range folders {
		switch err := MakeFolder(f.path); {
		case errors.Is(err, syscall.EIO), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
			return DiskError{Err: fmt.Errorf("%s: write to the folder %s: %w", f.key, f.path, err)}
		case err != nil:
			return FolderError{Err: fmt.Errorf("%s: the folder %s cannot be used: %w; "+
				"give it to the user that runs arcrawl (chown), or name another one in %s", f.key, f.path, err, c.Path)}
		}
	}
	return nil
}

// MakeFolder makes a folder, unless it exists, and makes sure that files can be created in it.
func MakeFolder(path string) error {
	if err := os.MkdirAll(path, 0o750); err != nil {
		return err
	}
	probe, err := os.CreateTemp(path, ".writable-*")
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// SpoolFolder returns the folder for bodies that are being downloaded.
func SpoolFolder(c *config.Config) string { return filepath.Join(c.Storage.State, "spool") }

// freeSpace returns a function that returns the free bytes for the store, the archive and the log. If they are on
// several disks, it is the disk with the least free space. A quota that the free space does not show is an error.
func freeSpace(c *config.Config) func() (int64, error) {
	folders := []string{c.Storage.State, c.Storage.WARC, filepath.Dir(c.Storage.Log)}
	return func() (int64, error) {
		minimum := int64(-1)
		for _, folder := range folders {
			var s syscall.Statfs_t
			if err := syscall.Statfs(folder, &s); err != nil {
				return 0, fmt.Errorf("read the free disk space of %s: %w", folder, err)
			}
			if err := frontier.CheckQuota(folder); err != nil {
				return 0, err
			}
			if free := int64(s.Bavail) * int64(s.Bsize); minimum < 0 || free < minimum {
				minimum = free
			}
		}
		return minimum, nil
	}
}

// checkSpace returns a [DiskError] if less than storage.min_free is free.
func checkSpace(c *config.Config, freeSpace func() (int64, error)) error {
	free, err := freeSpace()
	if err != nil {
		return DiskError{Err: err}
	}
	if free < c.Storage.MinFree {
		const text = "%s of disk space is free, less than storage.min_free (%s) in %s: free some space, or lower storage.min_free"
		return DiskError{Err: fmt.Errorf(text, human.Bytes(free), human.Bytes(c.Storage.MinFree), c.Path)}
	}
	return nil
}

// RestoreOwner makes the owners of the folders of a crawl the owners of what root has made in them since a time: a
// command of root may have made files that the daemon needs too, such as the audit log or tables of the store. path is
// the main file. For others than root it does nothing.
func RestoreOwner(path string, since time.Time) error {
	if os.Geteuid() != 0 {
		return nil
	}
	folders, log, err := config.FoldersAt(path)
	if err != nil {
		return nil // without a configuration there are no folders
	}
	err = fileio.RestoreOwner(filepath.Dir(log), filepath.Base(log)+"*", since)
	for _, dir := range folders {
		err = errors.Join(err, fileio.RestoreOwner(dir, "*", since))
	}
	return err
}
