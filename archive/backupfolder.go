// This file copies the store of a frontier to another folder while a daemon uses it.
//
// The folder of backups has one folder for each backup, named by its time. A backup has every file of the state folder
// and a list of them with their SHA-256. Tables never change, so a backup links the tables that the backup before it
// has, and copies only new ones. Each backup is complete: any other one can be removed.
//
// A backup is what a kill of the daemon would have left at one moment: the tables that the manifest lists, and the
// logs with the newest writes. takeBackup reads the logs first and the manifest second. A write that moves from a log
// to a table meanwhile is in both, and none is in neither. A table may be removed before it is copied, because it was
// merged with others. Then takeBackup begins again with a newer manifest, and keeps the tables that it has.
//
// Badger can write its entries since a given version into a stream. Such a stream has no deletions that were merged
// away, so a restored store would have queue entries that were removed long ago. Files are copied instead.
//
// What a kill leaves:
//
// takeBackup and restore work in a folder with another name, which gets its final name when everything in it is on
// disk. The next call removes what a kill has left. A backup is no store that a daemon would open: the manifest has
// another name in it. Badger empties tables that it removes, and with them all links of them.

package archive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

const (
	backupList       = "backup.json"
	savedManifest    = "MANIFEST.saved"
	unfinishedBackup = ".unfinished-" // a backup that is being taken begins with it
	backupNames      = "20060102T150405.000Z"
	backupFormat     = 1
)

// damagedBackup says that a backup is not as it was written.
type damagedBackup struct{}

func (damagedBackup) Error() string { return "the backup is damaged" }

// ExitCode returns the exit code of commands for which a backup is damaged.
func (damagedBackup) ExitCode() int { return cli.ExitDamaged }

// backupOptions say what to copy and to where.
type backupOptions struct {
	State string   // the state folder
	To    string   // the folder of backups; made if missing
	Skip  []string // names in the state folder that are not copied
	Keep  int      // number of backups that are kept; 0 = all
	Now   time.Time
}

// backup is one backup.
type backup struct {
	Format  int          `json:"format"`
	Taken   time.Time    `json:"taken"`
	Program string       `json:"program"` // always "arcrawl"
	Files   []backupFile `json:"files"`

	Folder         string `json:"-"`
	Copied, Linked int64  `json:"-"` // bytes, known only after takeBackup
}

// backupFile is one file of a backup.
type backupFile struct {
	Name   string    `json:"name"` // in the state folder
	Size   int64     `json:"size"`
	SHA256 string    `json:"sha256"`
	Time   time.Time `json:"time"` // when the original was changed last
}

// size returns the number of bytes of all files.
func (b backup) size() (n int64) {
	for _, f := range b.Files {
		n += f.Size
	}
	return n
}

// takeBackup makes a backup. A daemon may use the store meanwhile. After an error or a kill the folder has the backups
// that it had before.
func takeBackup(ctx context.Context, o backupOptions) (b backup, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("back up %s to %s: %w", o.State, o.To, err)
		}
	}()
	if _, err := os.Stat(filepath.Join(o.State, manifestName)); err != nil {
		return b, fmt.Errorf("there is no store: %w", err)
	}
	if err := os.MkdirAll(o.To, 0o750); err != nil {
		return b, err
	}
	unlock, err := lockBackups(o.To)
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	before, err := listBackups(o.To)
	if err != nil {
		return b, err
	}
	if err := removeUnfinishedBackups(o.To); err != nil {
		return b, err
	}
	to := filepath.Join(o.To, unfinishedBackup+o.Now.UTC().Format(backupNames))
	c := storeCopier{from: o.State, to: to, skip: o.Skip}
	if len(before) > 0 {
		c.last = &before[len(before)-1]
	}
	if err := os.Mkdir(c.to, 0o750); err != nil {
		return b, err
	}
	if err := c.all(ctx); err != nil {
		return b, errors.Join(err, os.RemoveAll(c.to))
	}
	if b, err = c.finish(o.Now, filepath.Join(o.To, o.Now.UTC().Format(backupNames))); err != nil {
		return b, errors.Join(err, os.RemoveAll(c.to))
	}
	return b, pruneBackups(before, o.Keep)
}

// finish writes the list of files and renames the backup to its final name.
func (c *storeCopier) finish(now time.Time, folder string) (backup, error) {
	b := backup{
		Format: backupFormat, Taken: now.UTC(), Program: "arcrawl", Files: c.files,
		Folder: folder, Copied: c.copied, Linked: c.linked,
	}
	slices.SortFunc(b.Files, func(x, y backupFile) int { return cmp.Compare(x.Name, y.Name) })
	list, err := json.MarshalIndent(b, "", " ")
	if err != nil {
		return b, err
	}
	if err := fileio.Write(filepath.Join(c.to, backupList), append(list, '\n'), 0o444); err != nil {
		return b, err
	}
	for _, dir := range append(c.folders, c.to) {
		if err := fileio.SyncDir(dir); err != nil {
			return b, err
		}
	}
	if err := os.Rename(c.to, folder); err != nil {
		return b, err
	}
	return b, fileio.SyncDir(filepath.Dir(folder))
}

// pruneBackups removes the oldest backups and keeps a number of them. One more was just taken.
func pruneBackups(before []backup, keep int) error {
	if keep <= 0 {
		return nil
	}
	var errs error
	for len(before) > keep-1 {
		// A kill in between must not leave a folder that looks like a backup.
		gone := filepath.Join(filepath.Dir(before[0].Folder), unfinishedBackup+filepath.Base(before[0].Folder))
		if err := os.Rename(before[0].Folder, gone); err != nil {
			return errors.Join(errs, err)
		}
		errs = errors.Join(errs, os.RemoveAll(gone))
		before = before[1:]
	}
	return errs
}

// removeUnfinishedBackups removes what kills have left.
func removeUnfinishedBackups(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), unfinishedBackup) {
			if err := os.RemoveAll(filepath.Join(folder, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// listBackups returns the backups in a folder, oldest first.
func listBackups(folder string) ([]backup, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var all []backup
	for _, e := range entries {
		if _, err := time.Parse(backupNames, e.Name()); err != nil || !e.IsDir() {
			continue
		}
		b, err := readBackup(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// readBackup reads the list of files of a backup.
func readBackup(folder string) (b backup, err error) {
	text, err := os.ReadFile(filepath.Join(folder, backupList))
	if errors.Is(err, fs.ErrNotExist) {
		return b, fmt.Errorf("%s has no %s: %w", folder, backupList, damagedBackup{})
	}
	if err != nil {
		return b, err
	}
	if err := json.Unmarshal(text, &b); err != nil {
		return b, fmt.Errorf("read %s in %s: %w: %w", backupList, folder, err, damagedBackup{})
	}
	if b.Format > backupFormat {
		return b, fmt.Errorf("%s has format %d, and this arcrawl reads formats up to %d; use a later version", folder, b.Format, backupFormat)
	}
	for _, f := range b.Files {
		if !filepath.IsLocal(f.Name) {
			return b, fmt.Errorf("%s names the file %q outside its folder: %w", folder, f.Name, damagedBackup{})
		}
	}
	b.Folder = folder
	return b, nil
}

// placeInBackup returns the path of a file in a backup.
func placeInBackup(folder, name string) string {
	if name == manifestName {
		name = savedManifest
	}
	return filepath.Join(folder, name)
}

// lockBackups makes sure that nobody else takes a backup in a folder.
func lockBackups(folder string) (unlock func() error, err error) {
	f, err := os.OpenFile(filepath.Join(folder, ".lock"), os.O_CREATE|os.O_RDWR, 0o640)
	if err != nil {
		return nil, err
	}
	if err := fileio.TryLock(f); err != nil {
		return nil, errors.Join(fmt.Errorf("another process takes a backup in this folder: %w; try again later", err), f.Close())
	}
	return f.Close, nil
}
