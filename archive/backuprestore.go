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

	"github.com/arcrawl/arcrawl/internal/fileio"
)

// verify reads all files of a backup and compares them with the list. The error joins all differences.
func (b backup) verify(ctx context.Context) error {
	var errs error
	for _, f := range b.Files {
		sum, size, err := sumFile(ctx, placeInBackup(b.Folder, f.Name))
		switch {
		case err != nil && ctx.Err() != nil:
			return err
		case err != nil:
			errs = errors.Join(errs, fmt.Errorf("%w: %w", err, damagedBackup{}))
		case sum != f.SHA256 || size != f.Size:
			errs = errors.Join(errs, fmt.Errorf("%s: %d bytes with SHA-256 %s, want %d with %s: %w",
				placeInBackup(b.Folder, f.Name), size, sum, f.Size, f.SHA256, damagedBackup{}))
		}
	}
	return errs
}

func sumFile(ctx context.Context, path string) (sum string, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	size, err = io.Copy(h, readerFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return f.Read(p)
	}))
	return hex.EncodeToString(h.Sum(nil)), size, err
}

// readerFunc is a function that reads.
type readerFunc func(p []byte) (int, error)

// Read calls the function.
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// restore copies a backup to a state folder, which must be empty or missing. It compares each file with its digest. The
// state folder appears when everything is on disk. After a kill there is none, and Restore can be repeated.
func (b backup) restore(ctx context.Context, state string) (err error) {
	state = filepath.Clean(state)
	defer func() {
		if err != nil {
			err = fmt.Errorf("restore %s to %s: %w", b.Folder, state, err)
		}
	}()
	entries, err := os.ReadDir(state)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s is not empty: stop the daemon and move the folder away", state)
	}
	temporary := state + ".restoring"
	if err := os.RemoveAll(temporary); err != nil {
		return err
	}
	if err := os.MkdirAll(temporary, 0o750); err != nil {
		return err
	}
	if err := b.copyTo(ctx, temporary); err != nil {
		return errors.Join(err, os.RemoveAll(temporary))
	}
	if err := os.Rename(temporary, state); err != nil {
		return errors.Join(err, os.RemoveAll(temporary))
	}
	return fileio.SyncDir(filepath.Dir(state))
}

// copyTo copies all files to a folder and syncs it.
func (b backup) copyTo(ctx context.Context, folder string) error {
	folders := map[string]bool{folder: true}
	for _, f := range b.Files {
		to := filepath.Join(folder, f.Name)
		for dir := filepath.Dir(to); !folders[dir]; dir = filepath.Dir(dir) {
			folders[dir] = true
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o750); err != nil {
			return err
		}
		got, _, err := copyStoreFile(ctx, placeInBackup(b.Folder, f.Name), to, writableMode)
		if err != nil {
			return err
		}
		if got.SHA256 != f.SHA256 {
			return fmt.Errorf("%s has SHA-256 %s, want %s: %w",
				placeInBackup(b.Folder, f.Name), got.SHA256, f.SHA256, damagedBackup{})
		}
	}
	for dir := range folders {
		if err := fileio.SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}
