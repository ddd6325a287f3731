package dedup

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/dgraph-io/badger/v4"
)

// maxNames bounds the file names that have a number. Further names are written into each entry.
const maxNames = 100_000

// fileNames holds the names of the files of entries. Each name has a permanent number, from 1 on, and is stored before
// the first entry that uses it.
type fileNames struct {
	mu     sync.RWMutex // guards the fields below; held while a new name is written
	number map[string]uint32
	name   []string // number n is at n-1
}

func nameKey(n uint32) []byte {
	return about(fileName, string(binary.BigEndian.AppendUint32(nil, n)))
}

// byNumber returns the name of a file by its number.
func (f *fileNames) byNumber(n uint32) (string, bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if n == 0 || int(n) > len(f.name) {
		return "", false
	}
	return f.name[n-1], true
}

// numberOf returns the number of a file; zero if it has no name, or if there are too many names.
func (i *Index) numberOf(file string) (uint32, error) {
	f := &i.files
	f.mu.RLock()
	n := f.number[file]
	full := len(f.name) >= maxNames
	f.mu.RUnlock()
	if n > 0 || full || file == "" {
		return n, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := f.number[file]; n > 0 {
		return n, nil
	}
	n = uint32(len(f.name) + 1)
	err := i.db.Update(func(txn *badger.Txn) error {
		return txn.Set(nameKey(n), append([]byte{format}, file...))
	})
	if err != nil {
		return 0, fmt.Errorf("number the file %s: %w", file, err)
	}
	f.name = append(f.name, file)
	f.number[file] = n
	return n, nil
}

// readNames reads the numbered names of earlier runs from the store.
func (i *Index) readNames() error {
	i.files.number = map[string]uint32{}
	return i.db.View(func(txn *badger.Txn) error {
		return scan(txn, about(fileName, ""), func(key, v []byte) error {
			n := uint32(len(i.files.name) + 1)
			if string(key) != string(nameKey(n)) {
				return fmt.Errorf("%w: the name of the file with the number %d is missing", ErrCorrupt, n)
			}
			if len(v) < 2 || v[0] != format {
				return fmt.Errorf("%w: the name of the file with the number %d is %q", ErrCorrupt, n, v)
			}
			name := string(v[1:])
			i.files.name = append(i.files.name, name)
			i.files.number[name] = n
			return nil
		})
	})
}
