package offload

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/internal/atomicfile"
	"github.com/arcrawl/arcrawl/internal/human"
)

// Delete deletes finished WARC files here whose copies in the bucket are the same, and prints the results to out and
// errs. A file that stays does not keep the others. If dry is true, it only compares. path is the configuration.
func Delete(
	ctx context.Context, path string, files []string, dry bool, now func() time.Time, out, errs io.Writer,
) error {
	c, err := config.Load(path)
	if err != nil {
		return err
	}
	if c.Upload.Endpoint == "" {
		return errors.New("offload WARC files: the configuration has no [upload], so nothing has a copy")
	}
	if list := filepath.Join(c.Storage.WARC, ListName); !slices.Contains(c.Storage.Elsewhere, list) {
		return fmt.Errorf("offload WARC files: the daemon would take them for lost: set storage.elsewhere = [%q] in %s",
			list, c.Path)
	}
	u := &Uploader{Dir: c.Storage.WARC, State: c.Storage.State, Bucket: c.Upload, Now: now, Log: zerolog.Nop()}
	if err := u.Open(fetch.OwnServers()); err != nil {
		return err
	}
	done, bytes, verb := 0, int64(0), "deleted here"
	if dry {
		verb = "can be deleted here"
	}
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		e, err := u.release(ctx, filepath.Base(file), dry)
		if err != nil {
			fmt.Fprintln(errs, err)
			continue
		}
		done, bytes = done+1, bytes+e.Size
		fmt.Fprintf(out, "%s %s: the copy is the same\n", e.File, verb)
	}
	fmt.Fprintf(out, "%s of %s %s\n", human.Count(done, "file"), human.Bytes(bytes), verb)
	if left := len(files) - done; left > 0 {
		return fmt.Errorf("offload WARC files: %s not deleted", human.Count(left, "file"))
	}
	return nil
}

// release removes a finished file here, after it has read the copy in the bucket and compared it with the manifest. The
// file must be in the list of uploaded files. If dry is true, it only compares. It returns the entry of the file.
func (u *Uploader) release(ctx context.Context, name string, dry bool) (fixity.Entry, error) {
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
