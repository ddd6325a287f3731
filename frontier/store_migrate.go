package frontier

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
)

// version is the format of the store that this code writes. It reads all earlier formats after a migration.
//
//	1  the first format
//	2  URIs can be held and hosts paused. The rows are the same; but an arcrawl that knows only format 1 would ignore a
//	   pause, and visit hosts that it must not visit.
const version = 2

// migrations[n-1] changes format n into the next one. A migration may be interrupted and repeated; the new version is
// written after it.
var migrations = [version - 1]func(*badger.DB) error{
	func(*badger.DB) error { return nil },
}

// migrate brings an older store to the present format, and returns it open. Before it changes anything it copies the
// store into a folder within its own, which stays until somebody removes it.
func migrate(db *badger.DB, o Options) (*badger.DB, error) {
	format, err := storedVersion(db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if format == 0 || format >= version {
		return db, nil
	}
	if err := db.Close(); err != nil { // so that all of it is in files that do not change
		return nil, err
	}
	copied := backupName(format)
	if err := backup(o.Dir, copied); err != nil {
		return nil, fmt.Errorf("copy the store before migrating format %d to %d: %w; "+
			"nothing was changed, make room and start again", format, version, err)
	}
	if db, err = openStore(o); err != nil {
		return nil, err
	}
	for ; format < version && err == nil; format++ {
		if err = migrations[format-1](db); err == nil {
			err = db.Update(func(txn *badger.Txn) error { return txn.Set([]byte(metaVersion), []byte{format + 1}) })
		}
	}
	if err = errors.Join(err, db.Sync()); err != nil {
		return nil, errors.Join(fmt.Errorf("migrate the store, which is unchanged in %s: %w", copied, err), db.Close())
	}
	return db, nil
}

// backupName returns the name of the folder, within the folder of the store, that keeps the store in an earlier
// format.
func backupName(format byte) string { return fmt.Sprintf("backup-format-%d", format) }

// storedVersion returns the format of a store that this code can read, 0 for an empty one.
func storedVersion(db *badger.DB) (format byte, err error) {
	err = db.View(func(txn *badger.Txn) error {
		fresh, err := checkVersion(txn)
		if fresh || err != nil {
			return err
		}
		v, err := readBytes(txn, metaVersion)
		if err == nil {
			format = v[0]
		}
		return err
	})
	return format, err
}

// backup copies the files of a closed store into a folder within its own, unless that folder exists. Files cannot be
// linked instead, because Badger empties a table before it removes it. File systems that can share blocks between
// files do so.
func backup(dir, name string) (err error) {
	whole := filepath.Join(dir, name)
	switch info, err := os.Stat(whole); {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return fmt.Errorf("%s is not a folder", whole)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	part := whole + ".part"
	if err := errors.Join(os.RemoveAll(part), os.Mkdir(part, 0o750)); err != nil {
		return err
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, file := range files {
		if !isStoreFile(file) {
			continue
		}
		if err := copyFile(filepath.Join(dir, file.Name()), filepath.Join(part, file.Name())); err != nil {
			return errors.Join(err, os.RemoveAll(part))
		}
	}
	return errors.Join(syncFile(part, (*os.File).Sync), os.Rename(part, whole), syncFile(dir, (*os.File).Sync))
}

// isStoreFile reports whether a file is one of Badger's. Other packages may keep files in the same folder.
func isStoreFile(file fs.DirEntry) bool {
	switch file.Name() {
	case badger.ManifestFilename, badger.KeyRegistryFileName, "DISCARD":
		return true
	}
	ext := filepath.Ext(file.Name())
	return file.Type().IsRegular() && (ext == ".sst" || ext == ".vlog" || ext == ".mem")
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}
