// Package backup copies the store of a frontier to another folder while a daemon uses it, and restores such a copy.
//
// # A backup
//
// The folder of backups has one folder for each backup, named by its time. A backup has every file of the state folder
// and a list of them with their SHA-256. Tables never change, so a backup links the tables that the backup before it
// has, and copies only new ones. Each backup is complete: any other one can be removed.
//
// A backup is what a kill of the daemon would have left at one moment: the tables that the manifest lists, and the
// logs with the newest writes. [Take] reads the logs first and the manifest second. A write that moves from a log to a
// table meanwhile is in both, and none is in neither. A table may be removed before it is copied, because it was
// merged with others. Then Take begins again with a newer manifest, and keeps the tables that it has.
//
// Badger can write its entries since a given version into a stream. Such a stream has no deletions that were merged
// away, so a restored store would have queue entries that were removed long ago. Files are copied instead.
//
// # What a kill leaves
//
// [Take] and [Backup.Restore] work in a folder with another name, which gets its final name when everything in it is on
// disk. The next call removes what a kill has left. A backup is no store that a daemon would open: the manifest has
// another name in it. Badger empties tables that it removes, and with them all links of them.
package backup

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

	"github.com/arcrawl/arcrawl/internal/fileio"
)

const (
	listName      = "backup.json"
	savedManifest = "MANIFEST.saved"
	unfinished    = ".unfinished-" // a backup that is being taken begins with it
	nameLayout    = "20060102T150405.000Z"
	format        = 1
)

// ErrDamaged says that a backup is not as it was written.
var ErrDamaged = errors.New("the backup is damaged")

// Options say what to copy and to where.
type Options struct {
	State string   // the state folder
	To    string   // the folder of backups; made if missing
	Skip  []string // names in the state folder that are not copied
	Keep  int      // number of backups that are kept; 0 = all
	Now   time.Time
}

// Backup is one backup.
type Backup struct {
	Format  int       `json:"format"`
	Taken   time.Time `json:"taken"`
	Program string    `json:"program"` // always "arcrawl"
	Files   []File    `json:"files"`

	Folder         string `json:"-"`
	Copied, Linked int64  `json:"-"` // bytes, known only after [Take]
}

// File is one file of a backup.
type File struct {
	Name   string    `json:"name"` // in the state folder
	Size   int64     `json:"size"`
	SHA256 string    `json:"sha256"`
	Time   time.Time `json:"time"` // when the original was changed last
}

// Size returns the number of bytes of all files.
func (b Backup) Size() (n int64) {
	for _, f := range b.Files {
		n += f.Size
	}
	return n
}

// Take makes a backup. A daemon may use the store meanwhile. After an error or a kill the folder has the backups that
// it had before.
func Take(ctx context.Context, o Options) (b Backup, err error) {
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
	unlock, err := lock(o.To)
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	before, err := List(o.To)
	if err != nil {
		return b, err
	}
	if err := removeUnfinished(o.To); err != nil {
		return b, err
	}
	c := copier{from: o.State, to: filepath.Join(o.To, unfinished+o.Now.UTC().Format(nameLayout)), skip: o.Skip}
	if len(before) > 0 {
		c.last = &before[len(before)-1]
	}
	if err := os.Mkdir(c.to, 0o750); err != nil {
		return b, err
	}
	if err := c.all(ctx); err != nil {
		return b, errors.Join(err, os.RemoveAll(c.to))
	}
	if b, err = c.finish(o.Now, filepath.Join(o.To, o.Now.UTC().Format(nameLayout))); err != nil {
		return b, errors.Join(err, os.RemoveAll(c.to))
	}
	return b, prune(before, o.Keep)
}

// finish writes the list of files and renames the backup to its final name.
func (c *copier) finish(now time.Time, folder string) (Backup, error) {
	b := Backup{
		Format: format, Taken: now.UTC(), Program: "arcrawl", Files: c.files,
		Folder: folder, Copied: c.copied, Linked: c.linked,
	}
	slices.SortFunc(b.Files, func(x, y File) int { return cmp.Compare(x.Name, y.Name) })
	list, err := json.MarshalIndent(b, "", " ")
	if err != nil {
		return b, err
	}
	if err := fileio.Write(filepath.Join(c.to, listName), append(list, '\n'), 0o444); err != nil {
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

// prune removes the oldest backups and keeps a number of them. One more was just taken.
func prune(before []Backup, keep int) error {
	if keep <= 0 {
		return nil
	}
	var errs error
	for len(before) > keep-1 {
		// A kill in between must not leave a folder that looks like a backup.
		gone := filepath.Join(filepath.Dir(before[0].Folder), unfinished+filepath.Base(before[0].Folder))
		if err := os.Rename(before[0].Folder, gone); err != nil {
			return errors.Join(errs, err)
		}
		errs = errors.Join(errs, os.RemoveAll(gone))
		before = before[1:]
	}
	return errs
}

// removeUnfinished removes what kills have left.
func removeUnfinished(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), unfinished) {
			if err := os.RemoveAll(filepath.Join(folder, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// List returns the backups in a folder, oldest first.
func List(folder string) ([]Backup, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var all []Backup
	for _, e := range entries {
		if _, err := time.Parse(nameLayout, e.Name()); err != nil || !e.IsDir() {
			continue
		}
		b, err := Read(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// Read reads the list of files of a backup.
func Read(folder string) (b Backup, err error) {
	text, err := os.ReadFile(filepath.Join(folder, listName))
	if errors.Is(err, fs.ErrNotExist) {
		return b, fmt.Errorf("%s has no %s: %w", folder, listName, ErrDamaged)
	}
	if err != nil {
		return b, err
	}
	if err := json.Unmarshal(text, &b); err != nil {
		return b, fmt.Errorf("read %s in %s: %w: %w", listName, folder, err, ErrDamaged)
	}
	if b.Format > format {
		return b, fmt.Errorf("%s has format %d, and this arcrawl reads formats up to %d; use a later version", folder, b.Format, format)
	}
	for _, f := range b.Files {
		if !filepath.IsLocal(f.Name) {
			return b, fmt.Errorf("%s names the file %q outside its folder: %w", folder, f.Name, ErrDamaged)
		}
	}
	b.Folder = folder
	return b, nil
}

// place returns the path of a file in a backup.
func place(folder, name string) string {
	if name == manifestName {
		name = savedManifest
	}
	return filepath.Join(folder, name)
}

// lock makes sure that nobody else takes a backup in a folder.
func lock(folder string) (unlock func() error, err error) {
	f, err := os.OpenFile(filepath.Join(folder, ".lock"), os.O_CREATE|os.O_RDWR, 0o640)
	if err != nil {
		return nil, err
	}
	if err := fileio.TryLock(f); err != nil {
		return nil, errors.Join(fmt.Errorf("another process takes a backup in this folder: %w; try again later", err), f.Close())
	}
	return f.Close, nil
}
