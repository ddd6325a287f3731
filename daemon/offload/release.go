package offload

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/internal/atomicfile"
)

// Release removes a finished file here, after it has read the copy in the bucket and compared it with the manifest. The
// file must be in the list of uploaded files. If dry is true, it only compares. It returns the entry of the file.
func (u *Uploader) Release(ctx context.Context, name string, dry bool) (fixity.Entry, error) {
	entries, err := u.files.read()
	if err != nil {
		return fixity.Entry{}, err
	}
	e, ok := fixity.Entry{}, false
	for _, one := range entries {
		if one.File == name {
			e, ok = one, true
		}
	}
	if !ok {
		return e, fmt.Errorf("delete %s here: the manifest of %s does not list it: only finished files can be deleted", name, u.Dir)
	}
	up, err := u.uploadOf(e)
	if err != nil {
		return e, fmt.Errorf("delete %s here: %w", name, err)
	}
	path := filepath.Join(u.Dir, filepath.FromSlash(name))
	if _, err := os.Lstat(path); err != nil {
		return e, fmt.Errorf("delete %s here: %w", name, err)
	}
	if err := u.compare(ctx, up.Key, e); err != nil {
		return e, fmt.Errorf("delete %s here: compare the copy %s in %s: %w; the file stays here", name, up.Key, up.Bucket, err)
	}
	if dry {
		return e, nil
	}
	if err := remove(path); err != nil {
		return e, fmt.Errorf("delete %s here: %w", name, err)
	}
	return e, nil
}

// remove removes a file, also if it was moved to another folder and left a link.
func remove(path string) error {
	if to, err := os.Readlink(path); err == nil {
		if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := atomicfile.SyncDir(filepath.Dir(to)); err != nil {
			return err
		}
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(path))
}

// uploadOf returns the line about a file in the list of uploaded files.
func (u *Uploader) uploadOf(e fixity.Entry) (Uploaded, error) {
	path := filepath.Join(u.Dir, ListName)
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Uploaded{}, fmt.Errorf("read the list of uploaded files: %w", err)
	}
	for line := range bytes.Lines(text) {
		var up Uploaded
		// A crash can have cut a line.
		if json.Unmarshal(line, &up) == nil && up.File == e.File && up.SHA256 == e.SHA256 && up.Bucket == u.known.Bucket {
			return up, nil
		}
	}
	return Uploaded{}, fmt.Errorf("%s does not list it for %s: it was not uploaded there yet", path, u.known.Bucket)
}
