package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/uri"
)

// askTime is the maximum duration of one exchange with the database, except shipments.
const askTime = 5 * time.Second

// noteEvery is the time between two marks with beats. A backup of the database is older.
const noteEvery = 10 * time.Second

// nodeOptions say which node this is.
type nodeOptions struct {
	Database string             // connection string
	Node     string             // name
	State    string             // folder of the stores
	Notify   func(state string) // of systemd
	Single   bool               // the database has no replica on purpose
	// Groups returns what stands for the politeness groups of all hosts. It is called before a shard is taken, and may
	// read the configuration again. Nil means that there are no groups.
	Groups func() string
	Group  func(uri.Host) string // returns the politeness group of a host, before a store is open; nil = none has one
	Log    zerolog.Logger
}

// forgetCopy removes the mark that a store is a copy of a crawl that nodes share. A process on its own changes the
// store without shipping the changes.
func forgetCopy(state string) error {
	if err := os.Remove(filepath.Join(state, markFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget that the store is a copy: %w", err)
	}
	return nil
}

// thisNode is this process as a node of a cluster. It owns any number of shards. Make one with [openNode].
type thisNode struct {
	o      nodeOptions
	shared *shared.Store
	lease  *lease
	lost   func(error) // is called when this node may not continue

	lastBeat int64                         // that the database confirmed; only Beat uses it, and Open before
	beaten   time.Time                     // start of the last beat; zero after one that failed; as lastBeat
	watched  time.Time                     // what the last sighting has as its time; as lastBeat
	seen     chan sighting                 // what the last beat found, for Run
	found    atomic.Pointer[shared.States] // the same, for requests
	loading  chan struct{}                 // has a token for each store that is being loaded
	payloads *payloads

	// What Run knows of the others.
	watch watch
	lives lives
	fit   fitness

	mu    sync.Mutex // guards the field below
	owned map[int]*ownedShard
}

// sighting holds what a beat found of the other nodes.
type sighting struct {
	shared.States

	// at is the time by which the others are judged. It stands still from a beat to one that failed, and to the next one:
	// while the database is away, nobody can beat.
	at time.Time
}

// maxLoading is the maximum number of stores that are loaded at once, so that shipments find a connection.
const maxLoading = 2

// openNode joins the cluster, and waits for its database if it does not answer. It takes no shard. lost is called when
// this node may not continue later.
func openNode(ctx context.Context, o nodeOptions, lost func(error)) (*thisNode, error) {
	n := &thisNode{
		o: o, lost: lost, lease: newLease(time.Now), owned: map[int]*ownedShard{},
		seen: make(chan sighting, 1), watched: time.Now(), watch: watch{me: o.Node}, loading: make(chan struct{}, maxLoading),
	}
	var err error
	if n.shared, err = n.connect(ctx); err != nil {
		return nil, err
	}
	n.payloads = &payloads{read: n.shared.Payloads, now: time.Now, fail: func(err error) {
		o.Log.Warn().Err(err).Msg("could not look for payloads in the database of the cluster: what is archived now may be there twice")
	}}
	if err = n.checkStores(); err == nil {
		err = n.firstBeat(ctx)
	}
	if err != nil {
		n.shared.Close()
		return nil, err
	}
	return n, nil
}

// Close leaves the cluster. All shards must have been released.
func (n *thisNode) Close() { n.shared.Close() }

// connect connects to the database, and waits for it if it does not answer.
func (n *thisNode) connect(ctx context.Context) (s *shared.Store, err error) {
	err = persist(ctx, func() error {
		ask, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()
		s, err = shared.Open(ask, n.o.Database, n.o.Node)
		return err
	}, func(err error, first bool) bool {
		if !shared.IsUnreachable(err) {
			return false
		}
		if first {
			n.o.Log.Error().Err(err).Msg("the database of the cluster does not answer: trying again until it does")
		}
		n.o.Notify("STATUS=waiting for the database of the cluster")
		n.o.Notify("WATCHDOG=1")
		return true
	})
	return s, err
}

// firstBeat begins the lease, and refuses to crawl if the database is not the one of this node's stores, or went back.
func (n *thisNode) firstBeat(ctx context.Context) error {
	var start time.Time
	var st shared.States
	err := persist(ctx, func() (err error) {
		start = time.Now()
		st, err = n.beat(ctx)
		return err
	}, func(err error, _ bool) bool {
		if errors.Is(err, shared.ErrFenced) {
			return false
		}
		n.o.Log.Warn().Err(err).Msg("the database of the cluster does not answer: waiting for it")
		n.o.Notify("WATCHDOG=1")
		return true
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("%w: %w", errLost, err)
	}
	if err := n.refuse(st); err != nil {
		return err
	}
	if err := n.moveOldStore(len(st.Shards)); err != nil {
		return err
	}
	n.lastBeat = st.Own
	n.lease.extend(start)
	n.tell(st, start)
	return nil
}

// beat shows the others that this node is alive.
func (n *thisNode) beat(ctx context.Context) (shared.States, error) {
	ask, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return n.shared.Beat(ask)
}

// tell leaves what a beat found that began at start for Run and for requests, instead of what an earlier one found.
func (n *thisNode) tell(st shared.States, start time.Time) {
	if !n.beaten.IsZero() { // a longer time passes only while this process stands still, and maybe the others too
		n.watched = n.watched.Add(min(start.Sub(n.beaten), beatEvery+askTime))
	}
	n.beaten = start
	n.found.Store(&st)
	select {
	case <-n.seen:
	default:
	}
	n.seen <- sighting{st, n.watched}
}

// Beat extends the lease until ctx ends.
func (n *thisNode) Beat(ctx context.Context) {
	told := false
	for cli.Wait(ctx, beatEvery) == nil {
		start := time.Now()
		st, err := n.beat(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, shared.ErrFenced), err == nil && !n.ownsAll(st, start):
			n.lose(err)
			return
		case err == nil && st.Own <= n.lastBeat:
			n.lose(errors.Join(errAhead(n.o.State), n.noteAhead()))
			return
		case err != nil:
			n.beaten = time.Time{}
			if !told {
				n.o.Log.Error().Err(err).Msg("the database of the cluster does not answer: nothing is visited after 10 s without it")
			}
			told = true
			continue
		}
		n.lastBeat = st.Own
		n.lease.extend(start)
		for _, s := range n.all() {
			s.noteBeat(start, st.Own)
		}
		n.tell(st, start)
		if told {
			n.o.Log.Info().Msg("the database of the cluster answers again: crawling")
		}
		told = false
	}
}

// all returns the shards that this node has taken and not released.
func (n *thisNode) all() []*ownedShard {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Collect(maps.Values(n.owned))
}

// ownsAll reports whether the database, asked at start, says that this node owns all shards that it has taken before.
func (n *thisNode) ownsAll(st shared.States, start time.Time) bool {
	for _, s := range n.all() {
		if s.taken.Before(start) && !s.leaving.Load() && !s.owns(st) {
			return false
		}
	}
	return true
}

// noteAhead notes that the stores of this node are newer than the database.
func (n *thisNode) noteAhead() (err error) {
	for _, s := range n.all() {
		m := s.mark()
		m.Beat, m.Ahead = n.lastBeat, true
		err = errors.Join(err, s.writeMark(m))
	}
	return err
}

// lose ends the lease permanently.
func (n *thisNode) lose(why error) {
	err := errLost
	if why != nil {
		err = fmt.Errorf("%w: %w", errLost, why)
	}
	n.lease.end(err)
	n.lost(err)
}

// Dialer returns a dialer whose connections can be used only while this node may visit sites.
func (n *thisNode) Dialer(dial fetch.Dialer) fetch.Dialer { return n.lease.dialer(dial) }

// fence fences an owner that stands still, and reports whether that is done.
func (n *thisNode) fence(ctx context.Context, st shared.State) (done bool) {
	ask, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	done, err := n.shared.Fence(ask, st.Owner, st.Beat)
	switch {
	case err != nil:
		n.o.Log.Warn().Err(err).Msg("could not fence the node that stands still: trying again")
	case done:
		n.o.Log.Warn().Str("owner", st.Owner).Msg("fenced a node that stood still: taking the crawl over")
	}
	return done
}

// persist calls ask, which may be repeated, until it succeeds, ctx ends, or waits returns false: the error is final.
// first is true after the first failure.
func persist(ctx context.Context, ask func() error, waits func(err error, first bool) bool) error {
	for first := true; ; first = false {
		err := ask()
		if err == nil || ctx.Err() != nil || !waits(err, first) {
			return err
		}
		if err := cli.Wait(ctx, beatEvery); err != nil {
			return err
		}
	}
}
