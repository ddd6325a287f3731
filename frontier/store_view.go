package frontier

import (
	"sync"

	"github.com/dgraph-io/badger/v4"
)

// View shows the store as it is, to read a few things in it. What was changed through the frontier before the call is there; what another
// room wrote in a transaction of its own may be missing until the next settlement or [Frontier.Sync]. The function may be called while
// others are in progress, and must not keep the transaction. After Close it is not called, and the error is [ErrClosed].
//
// It is what a claim reads in too. To begin a transaction costs more than what most readers want to know: a goroutine of the store is told
// of it, and of its end, and in a process with little to do a thread is woken for that. So those who read between two changes share one.
func (f *Frontier) View(read func(txn *badger.Txn) error) error {
	v, err := f.views.acquire(f.db)
	if err != nil {
		return err
	}
	defer f.views.release(v)
	return read(v.txn)
}

// views are the transactions that readers share. The store keeps whatever the oldest of them can see, so that none may be left open for
// long: a change of the frontier and a sync put the present one aside, and its last reader ends it.
type views struct {
	mu      sync.Mutex // guards what follows; of the store's locks only those of a beginning transaction are taken while it is held
	present *view      // nil when none is open that newcomers may read in
	closed  bool
}

// view is one of them. A transaction that only reads may be used by many goroutines at once, as the store itself does when it streams.
type view struct {
	txn     *badger.Txn
	readers int // guarded by the lock of views
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

// renew has those who come from now on see what has been written by now.
func (s *views) refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retire()
}

// close lets nobody in any more.
func (s *views) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retire()
	s.closed = true
}

// putAside leaves the present transaction to its readers, and ends it when there are none. The lock is held.
func (s *views) retire() {
	if s.present != nil && s.present.readers == 0 {
		s.present.txn.Discard()
	}
	s.present = nil
}
