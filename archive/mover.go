package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/fileio"
	"github.com/arcrawl/arcrawl/internal/human"
)

const (
	// partSuffix ends the name of a copy that is being made, and linkSuffix of a link that replaces the original.
	partSuffix = ".part"
	linkSuffix = ".link"
)

// mover moves finished WARC files to further folders while there is too little space where they are written, or always.
type mover struct {
	Dir      string   // where files are written
	Folders  []string // where they go
	StateDir string
	Keep     int64 // bytes that stay free on the disk of each folder
	Order    config.FolderOrder
	Free     func(folder string) (int64, error)
	// SameDisk reports whether two folders are on one disk, so that moving between them frees nothing; nil = none are.
	SameDisk func(a, b string) (bool, error)
	Takes    func(file string) bool // which files are moved; nil = all
	Always   bool                   // as soon as they are finished, however much is free where they are written

	Now func() time.Time
	Log zerolog.Logger

	files   listed
	next    int             // entries of the manifest that need no further look
	changed map[string]bool // files that differ from the manifest; they stay
	used    map[string]bool // folders to which a link leads
	failing bool            // the last step failed

	mu    sync.Mutex // guards the field below
	state api.Offload
}

// freeSpace returns the free bytes of the disk of a folder.
func freeSpace(folder string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, fmt.Errorf("read the free disk space of %s: %w", folder, err)
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}

// sameDisk reports whether two folders are on one file system.
func sameDisk(a, b string) (bool, error) {
	var disks [2]syscall.Stat_t
	for i, folder := range []string{a, b} {
		if err := syscall.Stat(folder, &disks[i]); err != nil {
			return false, fmt.Errorf("read the disk of %s: %w", folder, err)
		}
	}
	return disks[0].Dev == disks[1].Dev, nil
}

// State returns where files went, and why one could not be moved.
func (m *mover) State() api.Offload {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state
}

// Step moves finished files, the oldest first, until enough space is free. It returns when the next step is due.
func (m *mover) Step(ctx context.Context) time.Duration {
	const every, afterError = 30 * time.Second, 5 * time.Minute
	m.files.dir = m.Dir
	err := m.move(ctx)
	if ctx.Err() != nil {
		return every
	}
	m.note(err)
	if err != nil {
		if !m.failing {
			m.Log.Error().Err(err).Msg("could not move finished WARC files to another folder; they stay, and the daemon tries again")
		}
		m.failing = true
		return afterError
	}
	m.failing = false
	return every
}

func (m *mover) note(err error) {
	state := api.Offload{}
	for _, folder := range m.Folders {
		free, _ := m.Free(folder) // check has said why it cannot be read
		files, bytes := countArchives(folder)
		state.Folders = append(state.Folders, api.Folder{Path: folder, Free: free, Files: files, Bytes: bytes})
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		state.Error, state.Since = err.Error(), m.state.Since
		if state.Since == nil {
			state.Since = api.Moment(m.Now())
		}
	}
	m.state = state
}

// countArchives returns the number and size of the WARC files in a folder and below.
func countArchives(folder string) (files int, bytes int64) {
	_ = filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || !warc.IsArchive(e.Name()) {
			return nil //nolint:nilerr // check says what is wrong with the folder
		}
		if info, err := e.Info(); err == nil {
			files++
			bytes += info.Size()
		}
		return nil
	})
	return files, bytes
}

// usable returns the folders that can take files. The error names those that cannot: a disk that is not mounted must
// not be filled below its mount point.
func (m *mover) usable() (all []string, err error) {
	for _, folder := range m.Folders {
		if fault := m.check(folder); fault != nil {
			err = errors.Join(err, fmt.Errorf("the folder %s of storage.folders takes no files: %w", folder, fault))
			continue
		}
		all = append(all, folder)
	}
	return all, err
}

// check returns why a folder cannot take files.
func (m *mover) check(folder string) error {
	if _, err := m.Free(folder); err != nil {
		return err
	}
	if files, _ := countArchives(folder); files == 0 && m.used[folder] && m.isLinked(folder) {
		return errors.New("the files that were moved there are gone; mount its disk")
	}
	if m.SameDisk == nil || m.used[folder] {
		return nil
	}
	same, err := m.SameDisk(m.Dir, folder)
	if err == nil && same {
		err = fmt.Errorf("it is on the disk of %s, so that moving there frees nothing; mount its disk, or name another one", m.Dir)
	}
	return err
}

// move moves files until enough space is free.
func (m *mover) move(ctx context.Context) error {
	entries, err := m.files.read()
	if err != nil {
		return err
	}
	e, ok, err := m.oldest(entries)
	if err != nil {
		return err
	}
	folders, unusable := m.usable()
	for ctx.Err() == nil && ok {
		free, err := m.Free(m.Dir)
		if err != nil || free >= m.Keep && !m.Always {
			return errors.Join(unusable, err)
		}
		folder, err := m.choose(folders, e.Size)
		if err == nil {
			err = m.take(ctx, e, folder)
		}
		if err == nil {
			e, ok, err = m.oldest(entries)
		}
		if err != nil {
			return errors.Join(unusable, err)
		}
	}
	return errors.Join(unusable, ctx.Err())
}

// oldest returns the oldest file that is still where it was written.
func (m *mover) oldest(entries []fixity.Entry) (fixity.Entry, bool, error) {
	for ; m.next < len(entries); m.next++ {
		e := entries[m.next]
		if m.Takes != nil && !m.Takes(e.File) {
			continue
		}
		info, err := os.Lstat(filepath.Join(m.Dir, filepath.FromSlash(e.File)))
		switch {
		case errors.Is(err, fs.ErrNotExist) || m.changed[e.File]:
		case err != nil:
			return e, false, err
		case info.Mode().IsRegular():
			return e, true, nil
		case info.Mode()&fs.ModeSymlink != 0:
			m.noteUsed(filepath.Join(m.Dir, filepath.FromSlash(e.File)))
		}
	}
	return fixity.Entry{}, false, nil
}

// isLinked reports whether a link leads to a folder still: its files can have been deleted with their links.
func (m *mover) isLinked(folder string) bool {
	clear(m.used)
	for _, e := range m.files.entries[:m.next] {
		m.noteUsed(filepath.Join(m.Dir, filepath.FromSlash(e.File)))
	}
	return m.used[folder]
}

// noteUsed records to which folder a link leads.
func (m *mover) noteUsed(link string) {
	to, err := os.Readlink(link)
	if err != nil {
		return
	}
	for _, folder := range m.Folders {
		if strings.HasPrefix(to, folder+string(filepath.Separator)) {
			if m.used == nil {
				m.used = map[string]bool{}
			}
			m.used[folder] = true
		}
	}
}

// choose returns the one of some folders for a file of a size.
func (m *mover) choose(folders []string, size int64) (string, error) {
	best, most := "", int64(-1)
	for _, folder := range folders {
		free, err := m.Free(folder)
		if err != nil {
			return "", err
		}
		if free-size < m.Keep || free <= most {
			continue
		}
		if best, most = folder, free; m.Order == config.FillFolders {
			break
		}
	}
	if best == "" {
		key := "storage.folders_free"
		if m.Always {
			key = "storage.min_free"
		}
		return "", fmt.Errorf("none of %s has room for %s and %s besides (%s): add a folder to storage.folders",
			strings.Join(m.Folders, ", "), human.Bytes(size), human.Bytes(m.Keep), key)
	}
	return best, nil
}

// take moves a file. The copy is on disk and compared before a link replaces the original, so a crash loses nothing.
func (m *mover) take(ctx context.Context, e fixity.Entry, folder string) error {
	from := filepath.Join(m.Dir, filepath.FromSlash(e.File))
	to := filepath.Join(folder, filepath.FromSlash(e.File)) // files in several folders may have one name
	if err := os.MkdirAll(filepath.Dir(to), 0o750); err != nil {
		return fmt.Errorf("move %s to %s: %w", from, folder, err)
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		if err := m.checkLeft(ctx, e, to); err != nil {
			return err
		}
	}
	sum, err := copyFile(ctx, from, to+partSuffix)
	if isGone(from) { // it was deleted here, because a bucket has it
		return dropPart(to)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("move %s to %s: %w", from, folder, err), dropPart(to))
	}
	if sum != e.SHA256 {
		if m.changed == nil {
			m.changed = map[string]bool{}
		}
		m.changed[e.File] = true
		m.Log.Error().Str("file", from).Str("sha256", sum).Str("manifest", e.SHA256).
			Msg("a WARC file was changed since it was finished: it stays where it is; arcrawl verify says what is wrong")
		return dropPart(to)
	}
	moved, err := m.swap(from, to)
	if err != nil {
		return fmt.Errorf("replace %s by a link to its copy in %s: %w", from, folder, err)
	}
	if !moved {
		return nil
	}
	m.Log.Info().Str("file", e.File).Str("folder", folder).Msg("moved a finished WARC file; a link is in its place")
	return nil
}

// swap renames a finished copy and replaces the original by a link to it, unless the original was deleted meanwhile.
func (m *mover) swap(from, to string) (moved bool, err error) {
	unlock, err := lockFiles(m.StateDir)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if isGone(from) {
		return false, dropPart(to)
	}
	if err := os.Rename(to+partSuffix, to); err != nil {
		return false, err
	}
	if err := fileio.SyncDir(filepath.Dir(to)); err != nil {
		return false, err
	}
	return true, replaceByLink(from, to)
}

// isGone reports whether nothing is at a path, not even a link.
func isGone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// checkLeft returns an error if a file of this name in another folder is not the copy that a crash has left there.
func (m *mover) checkLeft(ctx context.Context, e fixity.Entry, to string) error {
	sum, _, err := warc.HashFile(to)
	if err != nil {
		return err
	}
	if sum != "sha256:"+e.SHA256 {
		return fmt.Errorf("%s is there and is another file than %s: move it away", to, e.File)
	}
	return ctx.Err()
}

// dropPart removes an unfinished copy.
func dropPart(to string) error {
	err := os.Remove(to + partSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// replaceByLink replaces a file by a symbolic link in one step.
func replaceByLink(from, to string) error {
	if err := os.Remove(from + linkSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Symlink(to, from+linkSuffix); err != nil {
		return err
	}
	if err := os.Rename(from+linkSuffix, from); err != nil {
		return err
	}
	return fileio.SyncDir(filepath.Dir(from))
}

// copyFile copies a file with its times, syncs the copy, and returns the SHA-256 of what was read back from it.
func copyFile(ctx context.Context, from, to string) (sum string, err error) {
	in, info, err := warc.OpenRegular(from)
	if err != nil {
		return "", err
	}
	defer in.Close() //nolint:errcheck // nothing was written
	out, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := fixity.Copy(ctx, out, in); err != nil {
		return "", err
	}
	if err := out.Sync(); err != nil {
		return "", err
	}
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	h := sha256.New()
	if _, err := fixity.Copy(ctx, h, out); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), os.Chtimes(to, info.ModTime(), info.ModTime())
}
