package frontier

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// Frontier is an open store. Its methods may be called by many goroutines at once.
type Frontier struct {
	db *badger.DB
	o  Options // with defaults

	// mu guards the fields below, up to the empty line. It is held while a transaction is written, so that there is one
	// writer at a time, and memory agrees with the disk whenever mu is free. A transaction takes some ten µs, since the
	// store does not wait for the disk. The known links of a page are looked up without mu.
	mu               sync.Mutex
	hosts            map[uri.Host]*host
	byID             []*host // host number n is at n-1
	listed           bool    // byID is read without mu, see listHosts
	vacant           []*host // evicted hosts whose numbers are free, except those that are used again
	groups           map[string]*hostGroup
	queue            hostQueue // all hosts
	quotaByKey       map[quotaKey]*quota
	lastClaim        int64  // ms; when Claim was last called
	serial           uint64 // of the last claim
	pooledContenders int    // in the pools of all hosts
	pooledPlaces     int    // that the pools are going to look at
	buffer           []byte // for the rows of the next change
	newHostCounts    newHostCounts
	restUnsaved      bool          // the rest of a host is in memory only
	quiet            bool          // nothing was claimed since the store was opened, and the store says so
	clockWasAhead    bool          // the store has times from the future
	jumped           time.Duration // sum of the jumps of the clock that ShiftRests was called for
	followed         bool          // the store passes changes on, also after their transactions
	closed           bool

	// The fields below have locks of their own; the package comment has a diagram.

	settlements  settlementQueue
	collisions   atomic.Int64 // candidates that were refused since the opening, because of their fingerprints
	refused      atomic.Int64 // candidates that were refused since the opening, because no further host may become known
	evicted      atomic.Int64 // hosts since the opening
	knownURIs    Recent
	robotsCopies robotsCache
	verification verifyProgress
	synced       syncState
	views        views
}

// DB returns the store, for packages that keep their own kinds of keys in it. It must not be closed.
func (f *Frontier) DB() *badger.DB { return f.db }

// Close ends all claims and writes what the store has in memory. It marks the store as properly closed, unless claims
// were in progress. Calls in progress must have returned; later ones return [ErrClosed], or do nothing.
func (f *Frontier) Close() error { return f.close(f.closeStore) }

// Leave does what [Frontier.Close] does while calls may still read in the store, or write to it with [Frontier.DB]:
// everything is on disk then, and the process may end. end closes the store when such calls have returned.
func (f *Frontier) Leave() (end func() error, err error) {
	err = f.close(func() error {
		f.synced.mu.Lock()
		defer f.synced.mu.Unlock()
		return errors.Join(syncStore(f.db), f.synced.syncFiles(f.o.Dir))
	})
	return f.closeStore, err
}

// close ends all claims, marks the store as properly closed, and then calls leave once.
func (f *Frontier) close(leave func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	f.synced.closed.Store(true)
	f.views.close()
	f.robotsCopies.clear()
	var err error
	broken := f.o.reserve.fault() != nil // then Badger may wait forever
	if f.inProgress() == 0 && !f.restUnsaved && !f.o.Inspect && !broken {
		err = f.db.Update(func(txn *badger.Txn) error {
			return errors.Join(txn.Set([]byte(metaClean), nil), txn.Delete([]byte(metaQuiet)))
		})
	}
	if err = errors.Join(err, leave()); err != nil {
		return fmt.Errorf("close frontier %s: %w", f.o.Dir, err)
	}
	return nil
}

func (f *Frontier) inProgress() int64 {
	var n int64
	for _, h := range f.byID {
		n += h.claims()
	}
	return n
}

// claimedHost returns the host whose slot a claim has.
func (f *Frontier) claimedHost(c Claim) (*host, error) {
	if f.closed {
		return nil, ErrClosed
	}
	if c.owner == f {
		if h := f.hosts[c.uri.Host()]; h != nil && h.slotBySerial(c.serial) != nil {
			return h, nil
		}
	}
	return nil, ErrStale
}

// setState replaces the state of a host, and moves the host in the heap.
func (f *Frontier) setState(h *host, s state) {
	change, moved := s.claims()-h.claims(), s.address != h.address || s.isUnmet() != h.isUnmet()
	f.queue.replaceState(h, s)
	f.countClaims(h, change)
	if moved {
		f.joinQuotas(h)
	}
	if h.group != nil {
		f.updateGroup(h.group)
		return
	}
	f.updateReady(h)
}

// addHost makes a host known in memory.
func (f *Frontier) addHost(h *host) {
	f.byID = append(f.byID, h)
	f.enterHost(h)
}

// enterHost makes a host known that has its place in the list of hosts.
func (f *Frontier) enterHost(h *host) {
	f.hosts[h.name] = h
	f.joinGroup(h)
	f.joinQuotas(h)
	h.ownReadyAt, h.readyAt = h.readyTimes()
	f.queue.add(h)
	if h.group != nil {
		f.updateGroup(h.group)
	}
}

// Errors of [Open].
var (
	// ErrLocked means that another process has opened the store.
	ErrLocked = errors.New("in use by another process")
	// ErrVersion means that this arcrawl does not know the format of the store.
	ErrVersion = errors.New("unknown format of the store")
	// ErrCorrupt means that the store is damaged. Any method that reads can return it.
	ErrCorrupt = errors.New("the frontier's store is damaged; stop, and restore its folder from a backup")
)

// Errors of an open frontier.
var (
	// ErrStale means that a claim has ended, or that another run made it.
	ErrStale = errors.New("claim is stale")
	// ErrClaimed means that a URI is being visited.
	ErrClaimed = errors.New("already claimed")
	// ErrCollision means that two URIs have the same fingerprint, or that damage to a record makes it look so.
	ErrCollision = errors.New("another URI has the same fingerprint")
	// ErrFull means that the disk has no space for the store. Nothing was changed, and the call may be repeated when there
	// is space again.
	ErrFull = errors.New("no disk space for the frontier's store")
	// ErrClosed means that the frontier is closed.
	ErrClosed = errors.New("frontier is closed")
	// ErrInvalid means that the caller asked for something that is not possible: with an unknown state or verb, or with a
	// cursor of another selection.
	ErrInvalid = errors.New("the selection or action is not valid")
)

// invalid is an error that is [ErrInvalid], with a text of its own.
type invalid struct{ error }

// Is reports whether the error is [ErrInvalid].
func (invalid) Is(target error) bool { return target == ErrInvalid }

func invalidf(format string, args ...any) error { return invalid{fmt.Errorf(format, args...)} }

// damaged returns an error that names the damaged key.
func damaged(key []byte, why error) error {
	return fmt.Errorf("%s: %w: %w", describeKey(key), why, ErrCorrupt)
}
