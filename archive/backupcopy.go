package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"

	"github.com/arcrawl/arcrawl/internal/fileio"
)

const (
	manifestName = badger.ManifestFilename
	tableSuffix  = ".sst"
	// maxCopyAttempts is how often a backup begins again because tables were removed before they were copied. Each time
	// fewer are left to copy.
	maxCopyAttempts = 50
	copiedBlock     = 64 << 10
)

// errMoved says that the store removed a file before it was copied.
var errMoved = errors.New("the store removes tables faster than they can be copied; use a faster disk, or stop the daemon")

// storeCopier copies a state folder.
type storeCopier struct {
	from, to string
	skip     []string
	last     *backup // nil if there is none
	have     map[string]backupFile
	folders  []string

	files          []backupFile
	copied, linked int64
}

// all copies all files.
func (c *storeCopier) all(ctx context.Context) error {
	c.have = map[string]backupFile{}
	err := errMoved
	for attempt := 0; errors.Is(err, errMoved) && attempt < maxCopyAttempts; attempt++ {
		err = c.storeFiles(ctx)
	}
	if err != nil {
		return err
	}
	return c.others(ctx)
}

// storeFiles copies the logs, then the manifest, and then the tables that the manifest lists.
func (c *storeCopier) storeFiles(ctx context.Context) error {
	logs, err := c.logs()
	if err != nil {
		return err
	}
	c.files = nil
	for _, name := range logs {
		if err := c.fresh(ctx, name); err != nil {
			return err
		}
	}
	tables, err := c.manifest()
	if err != nil {
		return err
	}
	if now, err := c.logs(); err != nil || !slices.Equal(now, logs) {
		return errors.Join(err, errMoved) // a log became a table while the logs were copied
	}
	for _, name := range tables {
		if err := errors.Join(ctx.Err(), c.table(ctx, name)); err != nil {
			return err
		}
	}
	// Tables of an earlier attempt that were merged since then.
	for name := range c.have {
		if !slices.Contains(tables, name) {
			if err := os.Remove(filepath.Join(c.to, name)); err != nil {
				return err
			}
			delete(c.have, name)
		}
	}
	return nil
}

// logs returns the names of the files with the newest writes, oldest first, and those with large values after them.
func (c *storeCopier) logs() ([]string, error) {
	entries, err := os.ReadDir(c.from)
	if err != nil {
		return nil, err
	}
	var mem, large []string
	for _, e := range entries {
		switch filepath.Ext(e.Name()) {
		case ".mem":
			mem = append(mem, e.Name())
		case ".vlog":
			large = append(large, e.Name())
		}
	}
	return append(mem, large...), nil
}

// manifest copies the whole entries of the manifest and returns the names of the tables that they list.
func (c *storeCopier) manifest() (tables []string, err error) {
	path := filepath.Join(c.from, manifestName)
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, info.Size()))
	if err != nil {
		return nil, err
	}
	copied := filepath.Join(c.to, savedManifest)
	if err := fileio.Write(copied, text, 0o444); err != nil {
		return nil, err
	}
	saved, err := os.Open(copied)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, saved.Close()) }()
	m, end, err := badger.ReplayManifestFile(saved, 0, badger.DefaultOptions(c.from))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	// The daemon may have been writing the last entry.
	if err := fileio.Write(copied, text[:end], 0o444); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text[:end])
	c.files = append(c.files, backupFile{
		Name: manifestName, Size: end, SHA256: hex.EncodeToString(sum[:]), Time: info.ModTime().UTC(),
	})
	for id := range m.Tables {
		tables = append(tables, table.IDToFilename(id))
	}
	slices.Sort(tables)
	return tables, nil
}

// table links or copies a table, unless an earlier attempt did.
func (c *storeCopier) table(ctx context.Context, name string) error {
	if f, ok := c.have[name]; ok {
		c.files = append(c.files, f)
		return nil
	}
	info, err := os.Stat(filepath.Join(c.from, name))
	if errors.Is(err, fs.ErrNotExist) {
		return errMoved
	}
	if err != nil {
		return err
	}
	if c.last != nil {
		i := slices.IndexFunc(c.last.Files, func(f backupFile) bool { return f.Name == name })
		if i >= 0 && c.last.Files[i].Size == info.Size() && c.last.Files[i].Time.Equal(info.ModTime()) &&
			os.Link(placeInBackup(c.last.Folder, name), filepath.Join(c.to, name)) == nil {
			c.have[name] = c.last.Files[i]
			c.files = append(c.files, c.last.Files[i])
			c.linked += info.Size()
			return nil
		}
	}
	err = c.fresh(ctx, name)
	if err == nil {
		c.have[name] = c.files[len(c.files)-1]
	}
	return err
}

// others copies the files of the state folder that are not part of the store.
func (c *storeCopier) others(ctx context.Context) error {
	return filepath.WalkDir(c.from, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed meanwhile
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(c.from, path)
		switch {
		case err != nil || name == ".":
			return err
		case e.IsDir() && (slices.Contains(c.skip, name) || strings.HasPrefix(e.Name(), ".")):
			return filepath.SkipDir
		case e.IsDir():
			c.folders = append(c.folders, filepath.Join(c.to, name))
			return os.MkdirAll(filepath.Join(c.to, name), 0o750)
		case !e.Type().IsRegular() || c.isStore(name) || slices.Contains(c.skip, name):
			return nil
		}
		if err := c.fresh(ctx, name); !errors.Is(err, errMoved) {
			return err
		}
		return errors.Join(ctx.Err(), removeIfThere(filepath.Join(c.to, name)))
	})
}

// isStore reports whether a file belongs to the store, so that it is copied already or not needed.
func (c *storeCopier) isStore(name string) bool {
	return slices.Contains([]string{tableSuffix, ".mem", ".vlog"}, filepath.Ext(name)) ||
		strings.Contains(name, manifestName) || name == "LOCK" || strings.HasPrefix(filepath.Base(name), ".")
}

// fresh copies a file. It returns errMoved if the file is removed meanwhile: Badger empties a file before
// that.
func (c *storeCopier) fresh(ctx context.Context, name string) error {
	f, written, err := copyStoreFile(ctx, filepath.Join(c.from, name), filepath.Join(c.to, name), readOnlyMode)
	if errors.Is(err, fs.ErrNotExist) {
		return errMoved
	}
	f.Name = name
	c.files = append(c.files, f)
	c.copied += written
	return err
}

// readOnlyMode and writableMode return the permissions of a copy.
func readOnlyMode(mode fs.FileMode) fs.FileMode { return mode.Perm() &^ 0o222 }
func writableMode(mode fs.FileMode) fs.FileMode { return mode.Perm() | 0o200 }

// copyStoreFile copies a file to a new one and syncs it. Blocks of zeros become holes and are not counted as written.
func copyStoreFile(
	ctx context.Context, from, to string, mode func(fs.FileMode) fs.FileMode,
) (f backupFile, written int64, err error) {
	in, err := os.Open(from)
	if err != nil {
		return f, 0, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	before, err := in.Stat()
	if err != nil {
		return f, 0, err
	}
	if err := removeIfThere(to); err != nil {
		return f, 0, err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode(before.Mode()))
	if err != nil {
		return f, 0, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	f = backupFile{Size: before.Size(), Time: before.ModTime().UTC()}
	if f.SHA256, written, err = copyBytes(ctx, in, out, f.Size); err != nil {
		return f, written, err
	}
	after, err := in.Stat()
	if err == nil && after.Size() < before.Size() {
		return f, written, errMoved
	}
	return f, written, errors.Join(err, out.Truncate(f.Size), out.Sync(), os.Chtimes(to, time.Time{}, f.Time))
}

// copyBytes copies size bytes and returns their SHA-256 and how many were written. It returns errMoved if there are
// fewer.
func copyBytes(ctx context.Context, in io.Reader, out *os.File, size int64) (digest string, written int64, err error) {
	sum, block, zeros := sha256.New(), make([]byte, copiedBlock), make([]byte, copiedBlock)
	for size > 0 {
		if err := ctx.Err(); err != nil {
			return "", written, err
		}
		part := block[:min(size, copiedBlock)]
		if _, err := io.ReadFull(in, part); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return "", written, errMoved
		} else if err != nil {
			return "", written, err
		}
		size -= int64(len(part))
		_, _ = sum.Write(part)
		if bytes.Equal(part, zeros[:len(part)]) {
			_, err = out.Seek(int64(len(part)), io.SeekCurrent)
		} else {
			_, err = out.Write(part)
			written += int64(len(part))
		}
		if err != nil {
			return "", written, err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), written, nil
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
