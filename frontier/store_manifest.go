package frontier

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"

	"github.com/arcrawl/arcrawl/internal/fileio"
)

// unlistedFile is the name of a file that says that the last entry of the manifest may be wrong: it could not be
// synced, so Badger has removed the tables that it names, and not those that it replaces.
const unlistedFile = "MANIFEST-FAILED"

// stopListing ends the work of a goroutine of Badger that could not write the manifest. Badger would try again, but
// what it takes for the content of the manifest is wrong from now on. The next start reads everything from the logs.
func (r *reserve) stopListing(err error) {
	err = fmt.Errorf("write the list of tables: %w; start arcrawl again, it reads the store as it was", hiddenCause(err))
	r.mu.Lock()
	mark := leaveMark(filepath.Join(r.dir, unlistedFile))
	if mark != nil {
		mark = leaveMark(filepath.Join(r.dir, unlistedFile)) // without it, the store seems to be damaged
	}
	r.mu.Unlock()
	err = errors.Join(err, mark)
	r.broken.CompareAndSwap(nil, &err)
	select {
	case r.failed <- err:
	default:
	}
	select {} // the process ends soon
}

// leaveMark makes an empty file. It needs as little of the disk as possible, since that is failing.
func leaveMark(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o640)
	if err != nil {
		return err
	}
	_ = f.Close()
	_ = fileio.SyncDir(filepath.Dir(name)) // for a power failure
	return nil
}

// fault returns why the store must not be written any more; nil if it may.
func (r *reserve) fault() error {
	if r == nil {
		return nil
	}
	if err := r.broken.Load(); err != nil {
		return *err
	}
	return nil
}

// repairManifest removes entries from the manifest that could not be synced, if the last run has noted that there may
// be one. It does nothing else about tables that are missing: these are damage.
func repairManifest(dir string) error {
	mark := filepath.Join(dir, unlistedFile)
	if _, err := os.Stat(mark); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	name := filepath.Join(dir, badger.ManifestFilename)
	text, err := os.ReadFile(name)
	if err == nil {
		err = replaceManifest(name, text, withoutUnlisted(dir, text))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove what could not be synced from %s: %w", name, err)
	}
	return errors.Join(os.Remove(mark), fileio.SyncDir(dir))
}

func replaceManifest(name string, old, text []byte) error {
	if len(old) == len(text) {
		return nil
	}
	return fileio.Write(name, text, 0o600)
}

// manifestHead is the number of bytes before the first entry of a manifest.
const manifestHead = 8

// withoutUnlisted returns a manifest without the entries that name a new table that is neither there nor removed by a
// later entry. A table that Badger could not remove may be empty. The first entry stays, because it may be a list of
// all tables. It returns the manifest unchanged if it cannot be read: then it is damaged, and opening it says so.
func withoutUnlisted(dir string, text []byte) []byte {
	type entry struct {
		bytes            []byte
		created, removed []uint64
	}
	var entries []entry
	removed := map[uint64]bool{}
	rest := text[min(manifestHead, len(text)):]
	for len(rest) >= 8 {
		n := int64(binary.BigEndian.Uint32(rest))
		if n > int64(len(rest)-8) {
			break // was being written
		}
		e := entry{bytes: rest[:8+n]}
		var ok bool
		if e.created, e.removed, ok = tablesOf(e.bytes[8:]); !ok {
			return text
		}
		for _, id := range e.removed {
			removed[id] = true
		}
		entries, rest = append(entries, e), rest[8+n:]
	}
	kept := slices.Clone(text[:min(manifestHead, len(text))])
	for i, e := range entries {
		unlisted := i > 0 && slices.ContainsFunc(e.created, func(id uint64) bool {
			info, err := os.Lstat(table.NewFilename(id, dir))
			return !removed[id] && (errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0)
		})
		if !unlisted {
			kept = append(kept, e.bytes...)
		}
	}
	return append(kept, rest...)
}

// tablesOf returns the numbers of the tables that an entry of a manifest adds and removes. An entry is a message of
// protobuf: field 1 is a change, which has numbers only; its field 1 is the table, and field 2 is 1 for a removal.
func tablesOf(message []byte) (created, removed []uint64, ok bool) {
	for len(message) > 0 {
		n, width := binary.Uvarint(message[1:])
		if message[0] != 1<<3|2 || width <= 0 || n > uint64(len(message)-1-width) {
			return nil, nil, false
		}
		change := message[1+width:][:n]
		message = message[1+width+int(n):]
		var fields [3]uint64
		for len(change) > 0 {
			tag, a := binary.Uvarint(change)
			value, b := binary.Uvarint(change[max(a, 0):])
			if a <= 0 || b <= 0 {
				return nil, nil, false
			}
			if field := tag >> 3; field < uint64(len(fields)) {
				fields[field] = value
			}
			change = change[a+b:]
		}
		if fields[2] == 0 {
			created = append(created, fields[1])
		} else {
			removed = append(removed, fields[1])
		}
	}
	return created, removed, true
}
