package frontier

import (
	"container/heap"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// Options say where a frontier lives and how it behaves. Dir and Now must be set.
type Options struct {
	Dir string // folder of the store; made if it is not there

	// Compactors is the number of goroutines that tidy the store: zero is 2; -1 is none, for tests under a virtual clock,
	// where a busy store would stall in the end.
	Compactors int

	// BulkLoad says that a command is going to write a great number of rows at once and nothing is crawled meanwhile: the store is
	// tidied in smaller steps, which takes less memory, and in fewer levels, and is asked for less that it does not have. See also [Frontier.PageOut].
	BulkLoad bool

	Logger badger.Logger // for what the store has to say; nil is silence

	MaxURIsPerHost int64 // zero is 1,000,000; on-demand URIs are never refused

	// Valence says how many visits a host may have in progress at a time; nil is one for all, less than one counts as
	// one, more than 256 as 256. It is asked when a host becomes known and after each of its visits, so that a new
	// configuration reaches hosts that are known already. It is called with locks held: it must be quick and must not
	// call the frontier.
	Valence func(uri.Host) int

	// Group names the hosts that share politeness because one server stands behind them: those for which it gives the same
	// name have together as many visits in progress, and as long rests after them, as one of them may have alone, and a
	// Retry-After of one goes for all. Empty is a host by itself; nil makes no groups. It is asked when a host becomes known
	// and by [Frontier.RefreshHosts], under the same conditions as Valence.
	Group func(uri.Host) string

	// Limits says how many URIs a host may have; nil is MaxURIsPerHost for all. It is asked under the same conditions as
	// Valence, and for each URI that is new.
	Limits func(uri.Host) Limits

	// Names says which URIs of a host are one; nil is that each is its own. It is asked for every candidate, and may be
	// asked with locks held.
	Names func(uri.Host) *uri.Naming

	Order Order // of the URIs of a host that has more due than it can serve; see the package comment

	// Inspect opens the store to look at it only: nothing is marked in it or migrated, and what changes it fails or is lost.
	Inspect bool

	Now            time.Time     // time of opening
	RestAfterCrash time.Duration // how long every host rests after an unclean stop, if its politeness asks for no more; zero is 30s, at most 24h
}

// Limits bound the URIs of a host. What is discovered beyond them is refused; on-demand URIs never are.
type Limits struct {
	URIs         int64 // of the host; zero is [Options.MaxURIsPerHost]
	PerDirectory int64 // of one folder; zero is no limit
}

const (
	// DefaultMaxURIs is the maximum number of URIs of a host if [Options].MaxURIsPerHost is zero.
	DefaultMaxURIs = 1_000_000

	defaultRestAfterCrash = 30 * time.Second
)

func (o Options) withDefaults() (Options, error) {
	switch {
	case o.Dir == "":
		return o, errors.New("open frontier: no folder is given")
	case o.Now.IsZero():
		return o, errors.New("open frontier: the time of opening is not given")
	case o.Compactors < -1 || o.Compactors == 1:
		return o, fmt.Errorf("open frontier: %d compactors; want -1, 0 or at least 2", o.Compactors)
	case o.Order > ByDue:
		return o, fmt.Errorf("open frontier: unknown order %s", o.Order)
	case o.MaxURIsPerHost < 0 || o.RestAfterCrash < 0:
		return o, errors.New("open frontier: a limit is negative")
	}
	if o.MaxURIsPerHost == 0 {
		o.MaxURIsPerHost = DefaultMaxURIs
	}
	if o.RestAfterCrash == 0 {
		o.RestAfterCrash = defaultRestAfterCrash
	}
	o.RestAfterCrash = min(o.RestAfterCrash, maxRest)
	if o.Valence == nil {
		o.Valence = func(uri.Host) int { return 1 }
	}
	if o.Limits == nil {
		o.Limits = func(uri.Host) Limits { return Limits{} }
	}
	if o.Names == nil {
		o.Names = func(uri.Host) *uri.Naming { return nil }
	}
	return o, nil
}

// Frontier is an open store. Its methods may be called by many goroutines at once.
type Frontier struct {
	db      *badger.DB
	dir     string
	maxURIs int64
	inspect bool
	order   Order
	valence func(uri.Host) int
	group   func(uri.Host) string
	groups  map[string]*hostGroup // guarded by mu
	limits  func(uri.Host) Limits
	names   func(uri.Host) *uri.Naming

	// mu guards what follows, and is held while a transaction is written: so there is one writer at a time, and what is
	// in memory agrees with what is on disk whenever the lock is free. A transaction takes some ten µs, since the store
	// does not wait for the disk. Reading a page's known links happens outside.
	mu               sync.Mutex
	hosts            map[uri.Host]*host
	byID             []*host  // host number n is at n-1
	queue            hostHeap // all hosts
	serial           uint64   // of the last claim
	pooledContenders int      // contenders in all pools
	pooledPlaces     int      // places that these are going to look at
	buffer           []byte   // for the rows of the next change
	closed           bool

	restUnsaved bool // the rest of a host is in memory only

	afterCrash time.Duration // see [Options]

	settlements  settlementQueue
	knownURIs    knownCache
	robotsCopies robotsCache
	verification verifyProgress
	synced       syncState
	views        views
}

// DB is the store, for rooms that keep their own kind of keys in it. It must not be closed.
func (f *Frontier) DB() *badger.DB { return f.db }

// Close ends all claims, writes what the store still has in memory, and marks it as properly closed unless claims were
// in progress. Calls in progress must have returned; later ones get [ErrClosed], or do nothing.
func (f *Frontier) Close() error {
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
	if f.inProgress() == 0 && !f.restUnsaved && !f.inspect {
		err = f.db.Update(func(txn *badger.Txn) error { return txn.Set([]byte(metaClean), nil) })
	}
	if err = errors.Join(err, f.db.Close()); err != nil {
		return fmt.Errorf("close frontier %s: %w", f.dir, err)
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

// live finds what a claim stands for.
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

// set puts the host into a new state and to its new place among the hosts.
func (f *Frontier) setState(h *host, s state) {
	h.state = s
	if h.group != nil {
		f.updateGroup(h.group)
		return
	}
	h.ownReadyAt = s.readyTime()
	h.readyAt = h.ownReadyAt
	heap.Fix(&f.queue, h.pos)
}

// enlist makes the host known in memory.
func (f *Frontier) addHost(h *host) {
	f.hosts[h.name] = h
	f.byID = append(f.byID, h)
	f.joinGroup(h)
	h.ownReadyAt, h.readyAt = h.readyTimes()
	heap.Push(&f.queue, h)
	if h.group != nil {
		f.updateGroup(h.group)
	}
}
