package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/internal/fileio"
	"github.com/arcrawl/arcrawl/internal/human"
)

// deleteUploaded deletes finished WARC files here whose copies in the bucket are the same, and prints the results to
// out and errs. A file that stays does not keep the others. If dry is true, it only compares. path is the
// configuration.
func deleteUploaded(
	ctx context.Context, path string, files []string, dry bool, now func() time.Time, out, errs io.Writer,
) error {
	c, err := config.Load(path)
	if err != nil {
		return err
	}
	if c.Upload.Endpoint == "" {
		return errors.New("offload WARC files: the configuration has no [upload], so nothing has a copy")
	}
	if list := filepath.Join(c.Storage.WARC, uploadList); !slices.Contains(c.Storage.Elsewhere, list) {
		return fmt.Errorf("offload WARC files: the daemon would take them for lost: set storage.elsewhere = [%q] in %s",
			list, c.Path)
	}
	u := &uploader{Dir: c.Storage.WARC, State: c.Storage.State, Bucket: c.Upload, Now: now, Log: zerolog.Nop()}
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
		e, err := u.release(ctx, file, c.Storage.Folders.All(), dry)
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

// release removes a finished file here, after it has compared it and its copy in the bucket with the manifest. The file
// must be in the list of uploaded files. If dry is true, it only compares. It returns the entry of the file.
func (u *uploader) release(ctx context.Context, file string, folders []string, dry bool) (e fixity.Entry, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("delete %s here: %w", file, err)
		}
	}()
	name, err := nameOf(file, append([]string{u.Dir}, folders...))
	if err != nil {
		return e, err
	}
	e, err = u.entryOf(name)
	if err != nil {
		return e, err
	}
	up, err := u.uploadOf(e)
	if err != nil {
		return e, err
	}
	copies, err := u.copiesOf(name, folders)
	if err != nil {
		return e, err
	}
	for _, path := range copies {
		if err := compareHere(path, folders, e); err != nil {
			return e, err
		}
	}
	if err := u.compare(ctx, up.Key, e); err != nil {
		return e, fmt.Errorf("compare the copy %s in %s: %w; the file stays here", up.Key, up.Bucket, err)
	}
	if dry {
		return e, nil
	}
	unlock, err := lockFiles(u.State)
	if err != nil {
		return e, err
	}
	for _, path := range copies {
		err = errors.Join(err, removeFile(path, folders))
	}
	for _, folder := range folders {
		err = errors.Join(err, dropPart(filepath.Join(folder, filepath.FromSlash(name))))
	}
	return e, errors.Join(err, unlock())
}

// copiesOf returns where a file is here: in the folder where it was written, as it is or as a link, and in others if a
// move was interrupted before the link was made.
func (u *uploader) copiesOf(name string, folders []string) (copies []string, err error) {
	path := filepath.Join(u.Dir, filepath.FromSlash(name))
	place, err := placeOf(path, folders)
	switch {
	case err == nil:
		copies = append(copies, path)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	for _, folder := range folders {
		other := filepath.Join(folder, filepath.FromSlash(name))
		info, err := os.Lstat(other)
		switch {
		case errors.Is(err, fs.ErrNotExist) || other == place:
		case err != nil:
			return nil, err
		case info.Mode().IsRegular():
			copies = append(copies, other)
		}
	}
	if copies == nil {
		return nil, fmt.Errorf("it is in none of %s: it was deleted here before, or its disk is not mounted",
			strings.Join(append([]string{u.Dir}, folders...), ", "))
	}
	return copies, nil
}

// nameOf returns the name of a file in the manifest. A path must lead to one of some folders, because a file of the
// same name in another archive is another file.
func nameOf(file string, folders []string) (string, error) {
	if filepath.Base(file) == file {
		return file, nil
	}
	dir, err := filepath.Abs(filepath.Dir(file))
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", err
	}
	for _, folder := range folders {
		if folder, err = filepath.EvalSymlinks(folder); err != nil {
			continue // a disk that is not mounted
		}
		name, err := filepath.Rel(folder, filepath.Join(dir, filepath.Base(file)))
		if err == nil && filepath.IsLocal(name) {
			return filepath.ToSlash(name), nil
		}
	}
	return "", errors.New("it is neither in storage.warc nor in storage.folders: name a file that is")
}

// entryOf returns the entry of a file in the manifest.
func (u *uploader) entryOf(name string) (fixity.Entry, error) {
	entries, err := u.files.read()
	if err != nil {
		return fixity.Entry{}, err
	}
	for _, e := range slices.Backward(entries) {
		if e.File == name {
			return e, nil
		}
	}
	return fixity.Entry{}, fmt.Errorf("the manifest of %s does not list it: only finished files can be deleted", u.Dir)
}

// compareHere compares a file here with the manifest. One that was changed is not what the bucket has.
func compareHere(path string, folders []string, e fixity.Entry) error {
	place, err := placeOf(path, folders)
	if err != nil {
		return err
	}
	sum, _, err := warc.HashFile(place)
	switch {
	case place != path && errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("it was moved to %s, which is not there: mount its disk; if the file was deleted, remove the link %s",
			place, path)
	case err != nil:
		return err
	case sum != "sha256:"+e.SHA256:
		return fmt.Errorf("%s was changed since it was finished, so the copy in the bucket is not the same: "+
			"arcrawl verify says what is wrong; the file stays here", place)
	}
	return nil
}

// placeOf returns where a file is: at its path, or in another folder if it was moved there and left a link.
func placeOf(path string, folders []string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().IsRegular() {
		return path, err
	}
	to, err := os.Readlink(path)
	if err != nil {
		return "", errors.New("it is not a file")
	}
	for _, folder := range folders {
		if name, err := filepath.Rel(folder, to); err == nil && filepath.IsLocal(name) {
			return to, nil
		}
	}
	return "", fmt.Errorf("%s leads to %s, which is in no folder of storage.folders: the daemon has not moved it there, "+
		"so delete it yourself if nobody needs it", path, to)
}

// removeFile removes a file, also if it was moved to another folder and left a link.
func removeFile(path string, folders []string) error {
	place, err := placeOf(path, folders) // the daemon may have moved it meanwhile
	if err != nil {
		return err
	}
	if place != path {
		if err := os.Remove(place); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := fileio.SyncDir(filepath.Dir(place)); err != nil {
			return err
		}
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	return fileio.SyncDir(filepath.Dir(path))
}

// uploadOf returns the line about a file in the list of uploaded files.
func (u *uploader) uploadOf(e fixity.Entry) (uploadedFile, error) {
	list, err := u.uploads()
	if err != nil {
		return uploadedFile{}, err
	}
	i := slices.IndexFunc(list, func(up uploadedFile) bool {
		return up.File == e.File && up.SHA256 == e.SHA256 && up.Bucket == u.known.Bucket
	})
	if i < 0 {
		return uploadedFile{}, fmt.Errorf("%s does not list it for %s: it was not uploaded there yet",
			filepath.Join(u.Dir, uploadList), u.known.Bucket)
	}
	return list[i], nil
}

// lockName is the name of the lock file, in the state folder.
const lockName = "offload.lock"

// lockFiles keeps other processes from deleting or replacing finished files until unlock is called. It waits without a
// context, because it is held only for moments: no file is copied or compared meanwhile.
func lockFiles(state string) (unlock func() error, err error) {
	f, err := os.OpenFile(filepath.Join(state, lockName), os.O_CREATE|os.O_RDWR, 0o640)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the state folder %s does not exist: name the configuration that the daemon uses", state)
	}
	if err != nil {
		return nil, fmt.Errorf("lock finished WARC files: %w", err)
	}
	if folder, err := os.Stat(state); err == nil {
		_ = fileio.KeepOwner(f.Name(), folder) // if it fails, the daemon reports that it cannot open the file
	}
	if err := fileio.Lock(f); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", f.Name(), err), f.Close())
	}
	return f.Close, nil
}
