package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config/revision"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// askTime is the maximum duration of one exchange with the database, except shipments.
const askTime = 5 * time.Second

// noteEvery is the time between two marks with beats. A backup of the database is older.
const noteEvery = 10 * time.Second

// nodeOptions say which node this is.
type nodeOptions struct {
	Database string                // connection string
	Node     string                // name
	State    string                // folder of the store
	Notify   func(state string)    // of systemd
	Single   bool                  // the database has no replica on purpose
	Groups   string                // stands for the politeness groups of all hosts; "" = there are none
	Group    func(uri.Host) string // returns the politeness group of a host; nil = none has one
	Log      zerolog.Logger
}

// forgetCopy removes the mark that a store is a copy of a crawl that nodes share. A process on its own changes the
// store without shipping the changes.
func forgetCopy(state string) error {
	if err := os.Remove(filepath.Join(state, markFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget that the store is a copy: %w", err)
	}
	return nil
}

// thisNode is this process as a node of a cluster, and owns the store of its daemon. Make one with [openNode].
type thisNode struct {
	ctx    context.Context // of the process
	o      nodeOptions
	shared *shared.Store
	lease  *lease
	lost   func(error) // is called when this node may not continue
	began  time.Time
	parts  partTable

	lastBeat int64                    // that the database confirmed; only Beat uses it, and Open before
	beaten   time.Time                // start of the last beat; zero after one that failed; as lastBeat
	watched  time.Time                // what the last sighting has as its time; as lastBeat
	seen     chan sighting            // what the last beat found, for Run
	found    atomic.Pointer[sighting] // the same, for requests
	payloads *payloads
	foreign  foreignRows
	pushed   *revision.Follower // nil in commands

	// What Run knows of the others.
	watch watch
	fit   fitness

	// The store, see prepare.
	known   string    // the damage because of which an earlier start made the store again
	since   uint64    // the database has the store up to this version
	empty   bool      // the store was removed, and its rows come from the database
	isFirst bool      // there is a store, which the database does not have
	loaded  time.Time // when it was removed; zero = it was not

	store    *frontier.Frontier // since Opened
	mirror   *mirror            // since Opened
	box      *letterbox
	crowd    crowd         // since begin; nil in commands
	placed   chan struct{} // is closed when the node has its first parts
	isPlaced sync.Once

	shipping sync.Mutex      // held during a shipment, and while parts are released
	courier  courier         // only Follow uses it
	sync     func() error    // makes sure that crawl.log is on disk; guarded by shipping
	received []shared.Letter // since the last shipment; guarded by shipping

	mu      sync.Mutex      // guards the fields below
	fault   faultOf         // see Watch; nil = nothing is known
	full    faultOf         // why no rows can be loaded; nil = they can
	beatNow int64           // the last beat
	noted   time.Time       // when the mark was written; zero = prepare has not read the old one yet
	closing bool            // beats write no marks any more
	whole   bool            // the database has a whole copy of the crawl
	torn    bool            // rows of a part that never came whole may be in the store
	damage  string          // of the store, because of which the next start makes it again; "" = none
	behind  time.Time       // since when something waits to be shipped; zero = nothing does
	ill     bool            // the last shipment failed
	silent  map[string]bool // nodes that have not beaten for some time
	standBy string          // why a loss of the database would lose visits; "" if it would not
}

var _ daemon.Owner = (*thisNode)(nil)

// sighting holds what a beat found of the other nodes.
type sighting struct {
	shared.States

	// at is the time by which the others are judged. It stands still from a beat to one that failed, and to the next one:
	// while the database is away, nobody can beat.
	at time.Time
}

// openNode joins the cluster, and waits for its database if it does not answer. It takes no part of the crawl. lost is
// called when this node may not continue later.
func openNode(ctx context.Context, o nodeOptions, lost func(error)) (*thisNode, error) {
	if o.Group == nil {
		o.Group = func(uri.Host) string { return "" }
	}
	n := &thisNode{
		ctx: ctx, o: o, lost: lost, lease: newLease(time.Now), began: time.Now(), watched: time.Now(),
		seen:  make(chan sighting, 1),
		watch: watch{me: o.Node}, placed: make(chan struct{}),
	}
	defer stayAlive(o.Notify)()
	var err error
	if n.shared, err = n.connect(ctx); err != nil {
		return nil, err
	}
	n.payloads = &payloads{read: n.shared.Payloads, now: time.Now, fail: func(err error) {
		o.Log.Warn().Err(err).Msg("could not look for payloads in the database of the cluster: what is archived now may be there twice")
	}}
	n.foreign.read, n.foreign.now = n.shared.Read, time.Now
	n.foreign.fail = func(err error) {
		o.Log.Warn().Err(err).Msg("could not read a row of another node: using what was read before")
	}
	n.box = newLetterbox(n.route, n.readRow)
	n.box.size = n.shared.Size() / 5 * 2
	if err = n.firstBeat(ctx); err != nil {
		n.shared.Close()
		return nil, err
	}
	return n, nil
}

// Close leaves the cluster. All parts must have been released.
func (n *thisNode) Close() { n.shared.Close() }

// connect connects to the database, and waits for it if it does not answer.
func (n *thisNode) connect(ctx context.Context) (s *shared.Store, err error) {
	return s, n.patiently(ctx, func() error {
		ask, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()
		s, err = shared.Open(ask, n.o.Database, n.o.Node)
		return err
	})
}

// firstBeat begins the lease, and prepares the store for what the database has.
func (n *thisNode) firstBeat(ctx context.Context) error {
	var start time.Time
	var st shared.States
	err := n.patiently(ctx, func() (err error) {
		start = time.Now()
		st, err = n.beat(ctx)
		return err
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("%w: %w", errLost, err)
	}
	if err := n.prepare(st); err != nil {
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
	s := sighting{st, n.watched}
	n.found.Store(&s)
	select {
	case <-n.seen:
	default:
	}
	n.seen <- s
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
		n.noteBeat(start, st.Own)
		n.tell(st, start)
		if told {
			n.o.Log.Info().Msg("the database of the cluster answers again: crawling")
		}
		told = false
	}
}

// ownsAll reports whether the database, asked at start, says that this node owns all parts that it has taken before.
func (n *thisNode) ownsAll(st shared.States, start time.Time) bool {
	for part, epoch := range n.parts.mine(start) {
		// One that was released meanwhile is not among the present ones.
		if is := st.Parts[part]; (is.Owner != n.o.Node || is.Epoch != epoch) && n.parts.owns(part, epoch) {
			return false
		}
	}
	return true
}

// lose ends the rights of this node permanently: another node may have them.
func (n *thisNode) lose(why error) {
	err := errLost
	if why != nil {
		err = fmt.Errorf("%w: %w", errLost, why)
	}
	n.fail(err)
}

// fail lets the process end with an error. Nothing is visited any more.
func (n *thisNode) fail(err error) {
	n.lease.end(err)
	n.lost(err)
}

// fence fences a node that stands still.
func (n *thisNode) fence(ctx context.Context, m shared.Member) {
	ask, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	done, err := n.shared.Fence(ask, m.Name, m.Beat)
	switch {
	case err != nil:
		n.o.Log.Warn().Err(err).Msg("could not fence the node that stands still: trying again")
	case done:
		n.o.Log.Warn().Str("other", m.Name).Msg("fenced a node that stood still: its hosts are crawled by others now")
	}
}
