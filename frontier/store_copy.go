package frontier

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"
)

// IsDerived reports whether [Load] makes the row of a key from another row, so that a copy of the store need not have
// it: the places of queues, which change with each visit.
func IsDerived(key []byte) bool { return len(key) > 0 && key[0] == kindQueue }

// Load makes a store from the rows of another one, without its derived rows. The folder must have no store. each calls
// its argument with each row. clean says that the other store was closed properly after these rows; otherwise the hosts
// rest when the store is opened, as after a crash. version is the version of the last change. A store that was not
// loaded to the end cannot be opened. For a damaged row of a URI put returns [ErrCorrupt]; each may skip the row. On a
// full disk it returns [ErrFull], if [Options].AwaitSpace is set; each may wait and put the row again.
func Load(o Options, clean bool, each func(put func(key, value []byte) error) error) (version uint64, err error) {
	if o, err = o.withDefaults(); err != nil {
		return 0, err
	}
	o = o.withReserve()
	db, err := openStore(o)
	if err != nil {
		return 0, fmt.Errorf("load a frontier into %s: %w", o.Dir, err)
	}
	f := &Frontier{db: db, o: o}
	defer func() {
		if err = errors.Join(err, f.closeStore()); err != nil {
			err = fmt.Errorf("load a frontier into %s: %w", o.Dir, err)
		}
	}()
	if db.MaxVersion() > 0 {
		return 0, errors.New("the folder has a store already")
	}
	if err := f.Space(); err != nil {
		return 0, err
	}
	if err := db.Update(func(txn *badger.Txn) error { return txn.Set([]byte(metaLoading), nil) }); err != nil {
		return 0, err
	}
	batch, bytes := db.NewWriteBatch(), 0
	defer func() { batch.Cancel() }()
	err = each(func(k, v []byte) error {
		if bytes += len(k) + len(v); bytes >= loadBytes {
			if err := batch.Flush(); err != nil {
				return err
			}
			batch, bytes = db.NewWriteBatch(), 0
		}
		if err := f.Space(); err != nil {
			return err
		}
		return loadRow(batch, k, v)
	})
	if err != nil {
		return 0, err
	}
	// Something may have been claimed since the last shipment: without the mark of a quiet store, hosts rest.
	err = batch.Delete([]byte(metaQuiet))
	if clean {
		err = errors.Join(err, batch.Set([]byte(metaClean), nil))
	}
	if err != nil {
		return 0, err
	}
	if err := batch.Flush(); err != nil {
		return 0, err
	}
	if err := db.Update(func(txn *badger.Txn) error { return txn.Delete([]byte(metaLoading)) }); err != nil {
		return 0, err
	}
	txn := db.NewTransaction(false)
	defer txn.Discard()
	return txn.ReadTs(), nil
}

// loadBytes is the size of the rows that [Load] commits at once. The logs in reserve have room for that.
const loadBytes = 4 << 20

// loadRow writes a row and the row that is derived from it, neither if it is damaged. The batch keeps both slices.
func loadRow(batch *badger.WriteBatch, k, v []byte) error {
	if len(k) != hostPrefix+fingerprintLen || k[0] != kindURI {
		return batch.Set(k, v)
	}
	w, err := readURI(k, v)
	if err != nil {
		return err
	}
	if at := w.place(fingerprint(k[hostPrefix:])); !at.isNone() {
		if err := batch.Set(queueKey(binary.BigEndian.Uint32(k[1:]), at), w.hint()); err != nil {
			return err
		}
	}
	return batch.Set(k, v)
}

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
