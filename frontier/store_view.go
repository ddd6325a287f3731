package frontier

import (
	"sync"

	"github.com/dgraph-io/badger/v4"
)

// View calls read with a transaction that shows the store, to read a few keys in it. Changes that were made through
// the frontier before the call are visible. What another package wrote in a transaction of its own may be missing
// until the next settlement or [Frontier.Sync]. Several calls may run at the same time; read must not keep the
// transaction. After Close, View returns [ErrClosed].
//
// Claims read through View too. Beginning a transaction costs more than most readers need: it wakes a goroutine of
// the store twice, and in an idle process a thread. So all readers between two changes share one transaction.
func (f *Frontier) View(read func(txn *badger.Txn) error) error {
	v, err := f.views.acquire(f.db)
	if err != nil {
		return err
	}
	defer f.views.release(v)
	return read(v.txn)
}

// views holds the transactions that readers share. The store keeps everything that the oldest transaction can see, so
// none may stay open for long. A change of the frontier and a sync retire the present one, and its last reader ends
// it.
type views struct {
	// mu guards the fields below. Of the store's locks only the ones that a new transaction takes are taken while mu is
	// held.
	mu      sync.Mutex
	present *view // for new readers; nil if there is none
	closed  bool
}

// view is one of these transactions. Many goroutines may read in one at the same time, as the store itself does when
// it streams.
type view struct {
	txn     *badger.Txn
	readers int // guarded by views.mu
}

func (s *views) acquire(db *badger.DB) (*view, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	if s.present == nil {
		s.present = &view{txn: db.NewTransaction(false)}
	}
	s.present.readers++
	return s.present, nil
}

func (s *views) release(v *view) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v.readers--; v.readers == 0 && v != s.present {
		v.txn.Discard()
	}
}

// refresh makes later readers see everything that has been written by now.
func (s *views) refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retire()
}

// close makes all later calls of acquire fail.
func (s *views) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retire()
	s.closed = true
}

// retire leaves the present transaction to its readers, or ends it if there are none. The caller holds the lock.
func (s *views) retire() {
	if s.present != nil && s.present.readers == 0 {
		s.present.txn.Discard()
	}
	s.present = nil
}
