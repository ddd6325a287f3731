package frontier

import (
	"errors"
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"
)

// IsDerived reports whether [Frontier.Adopt] makes the row of a key from another row, so that a copy of the store need
// not have it: the places of queues, which change with each visit.
func IsDerived(key []byte) bool { return len(key) > 0 && key[0] == kindQueue }

// Load makes a store from the rows of other ones, as [Frontier.Adopt] takes them. The folder must have no store. clean
// says that the other stores were closed properly after these rows; otherwise the hosts rest when the store is opened,
// as after a crash. last is the version of the last change. A store that was not loaded to the end cannot be opened.
func Load(o Options, clean bool, each func(put func(portable, value []byte) error) error) (last uint64, err error) {
	f, err := open(o)
	if err != nil {
		return 0, fmt.Errorf("load a frontier into %s: %w", o.Dir, err)
	}
	defer func() {
		if err = errors.Join(err, f.closeStore()); err != nil {
			err = fmt.Errorf("load a frontier into %s: %w", o.Dir, err)
		}
	}()
	if f.db.MaxVersion() > 0 {
		return 0, errors.New("the folder has a store already")
	}
	if err := f.Space(); err != nil {
		return 0, err
	}
	err = f.db.Update(func(txn *badger.Txn) error {
		return errors.Join(txn.Set([]byte(metaVersion), []byte{version}), txn.Set([]byte(metaClean), nil),
			txn.Set([]byte(metaLoading), nil))
	})
	if err != nil {
		return 0, err
	}
	if err := f.load(f.o); err != nil {
		return 0, err
	}
	if _, err := f.Adopt(f.o.Now, time.Time{}, each); err != nil {
		return 0, err
	}
	// Something may have been claimed since the last shipment: without the mark of a quiet store, hosts rest.
	err = f.db.Update(func(txn *badger.Txn) error {
		if clean {
			err = txn.Set([]byte(metaClean), nil)
		}
		return errors.Join(err, txn.Delete([]byte(metaQuiet)), txn.Delete([]byte(metaLoading)))
	})
	if err != nil {
		return 0, err
	}
	return f.db.MaxVersion(), nil
}

// loadBytes is the size of the rows that [Frontier.Adopt] commits at once. The logs in reserve have room for that.
const loadBytes = 4 << 20

// readURI reads the row of a URI.
func readURI(k, v []byte) (w uriRow, err error) {
	if !w.read(v) {
		if err := cbor.Unmarshal(v, &w); err != nil {
			return w, damaged(k, err)
		}
	}
	return w, nil
}

// Follow returns the store for a package that subscribes to its changes. The store passes a change on after its
// transaction has ended, so the memory of a change is not used again from now on.
func (f *Frontier) Follow() *badger.DB {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.followed, f.buffer = true, nil
	return f.db
}

// IsQuiet reports whether nothing is claimed and all that the store must know of the hosts' rests is on disk. A store
// that is closed then is closed properly.
func (f *Frontier) IsQuiet() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.inProgress() == 0 && !f.restUnsaved
}
