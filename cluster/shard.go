package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// ownedShard is a shard of the crawl that this node owns.
type ownedShard struct {
	*thisNode

	shared *shared.Store // for this shard
	mirror *mirror
	state  string // folder of the store

	before shared.State // of the shard, when it was taken
	shards int          // of the crawl
	shard  int          // its number
	epoch  int64
	taken  time.Time
	groups string    // what Options.Groups returned when the shard was taken
	since  uint64    // the database has the store up to this version
	whole  bool      // the database has no whole copy: ship all rows first
	kept   int       // if the local store was the newest copy: the number of shards then; 0 = it was loaded
	damage string    // of the local store, because of which the next start loads it again; "" = none
	known  string    // the damage because of which an earlier start loaded it again
	loaded time.Time // when it was loaded from the database; zero = it was not

	store *frontier.Frontier    // since Start
	group func(uri.Host) string // politeness group of a host, since Elsewhere; nil = none has one
	box   *letterbox            // since Elsewhere, if the crawl is divided
	post  courier               // only Ship uses it

	foreign foreignRows

	leaving atomic.Bool // the shard is being released: beats write no marks, and find nothing wrong with that
	left    atomic.Bool // the shard was released

	mu      sync.Mutex // guards the fields below
	fault   faultOf    // see Watch; nil = nothing is known
	beaten  int64      // the last beat
	noted   time.Time  // when the mark was written; zero = Prepare has not read the old one yet
	behind  time.Time  // since when something waits to be shipped; zero = nothing does
	ill     bool       // the last shipment failed
	standBy string     // why a loss of the database would lose visits; "" if it would not
}

// take takes a shard that has the state st. It returns nil if that fails, and may be tried again.
func (n *thisNode) take(ctx context.Context, st shared.State, shard int) (*ownedShard, error) {
	if st.Owner != "" && st.Owner != n.o.Node && !st.Whole {
		n.o.Log.Error().Str("owner", st.Owner).
			Msg("the owner has not shipped its whole store, so nobody can take the crawl over: start that node again")
		return nil, nil
	}
	s := &ownedShard{thisNode: n, shared: n.shared.Another(), shard: shard, group: n.o.Group}
	if n.o.Groups != nil {
		s.groups = n.o.Groups()
	}
	ask, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	var err error
	s.before, s.epoch, err = s.shared.Take(ask, shard, s.groups)
	if errors.Is(err, shared.ErrRegroup) {
		err = n.regroup(ctx, s.groups)
	}
	if err != nil || s.epoch == 0 {
		if errors.Is(err, shared.ErrFenced) {
			return nil, fmt.Errorf("%w: %w", errLost, err)
		}
		if errors.Is(err, shared.ErrGroups) {
			return nil, err
		}
		if err == nil {
			return nil, nil // the next attempt takes it
		}
		n.o.Log.Warn().Err(err).Int("shard", shard).Msg("could not take the crawl: trying again")
		return nil, nil
	}
	s.taken, s.shards = time.Now(), s.shared.Shards() // st may be older than a division of the crawl
	s.state = shardFolder(n.o.State, shard, s.shards)
	s.foreign.read, s.foreign.now = s.shared.Read, time.Now
	s.foreign.fail = func(err error) {
		n.o.Log.Warn().Err(err).Msg("could not read a row of another shard: using what was read before")
	}
	n.mu.Lock()
	n.owned[shard] = s
	n.mu.Unlock()
	n.o.Log.Info().Int("shard", shard).Int("shards", s.shards).Int64("epoch", s.epoch).
		Bool("clean", s.before.Clean).Msg("this node owns the crawl now")
	return s, os.MkdirAll(s.state, 0o750)
}

// Number returns the number of the shard, from 1; 0 if this process is on its own.
func (n *ownedShard) Number() int {
	if n == nil {
		return 0
	}
	return n.shard
}

// State returns the folder of the store. It is the folder of the node if the crawl was never divided.
func (n *ownedShard) State() string { return n.state }

// Count returns the number of shards of the crawl.
func (n *ownedShard) Count() int { return n.shards }

// owns reports whether the database says that this node owns its shard since it took it.
func (n *ownedShard) owns(st shared.States) bool {
	return n.shard <= len(st.Shards) && st.Shards[n.shard-1].Owner == n.o.Node && st.Shards[n.shard-1].Epoch == n.epoch
}

// mark returns the mark of the store while this node crawls.
func (n *ownedShard) mark() mark {
	return mark{Crawl: n.shared.Crawl(), Shard: n.shard, Shards: n.shards, Epoch: n.epoch, Damage: n.known}
}

// noteBeat writes the beat to the mark, at most once in noteEvery. So the next process of this node notices when the
// database was restored to an earlier state.
func (n *ownedShard) noteBeat(now time.Time, beat int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.beaten = beat
	if n.leaving.Load() || n.noted.IsZero() || now.Sub(n.noted) < noteEvery {
		return
	}
	n.noted = now
	m := n.mark()
	m.Beat = beat
	if err := m.write(n.state); err != nil {
		n.o.Log.Warn().Err(err).Msg("could not note the state of the database: a restored backup of it may go unnoticed")
	}
}

// writeMark writes the mark of the store. Beats write it too from now on.
func (n *ownedShard) writeMark(m mark) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.noted = time.Now()
	return m.write(n.state)
}

// release releases the shard in the database.
func (n *ownedShard) release(ctx context.Context, clean bool) error {
	ask, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	n.leaving.Store(true)
	if err := n.shared.Leave(ask, n.epoch, clean); err != nil {
		return err
	}
	n.left.Store(true)
	n.thisNode.mu.Lock()
	delete(n.owned, n.shard)
	n.thisNode.mu.Unlock()
	return nil
}

// Tell reports the state of this shard to whoever asks the database, also while the node cannot be reached otherwise.
func (n *ownedShard) Tell(ctx context.Context, text []byte) error {
	ask, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return n.shared.Tell(ask, n.epoch, text)
}

// Void returns why a visit that began at a time teaches nothing; nil if the node owned the crawl all the time.
func (n *ownedShard) Void(began time.Time) error { return n.lease.voids(began) }

// MayClaim returns why nothing may be claimed now; nil if it may.
func (n *ownedShard) MayClaim() error {
	if err := n.lease.err(); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.behind.IsZero() && time.Since(n.behind) > maxBehind {
		return fmt.Errorf("the database of the cluster has not taken the last %s of the crawl; "+
			"the crawl resumes when it does", time.Since(n.behind).Round(time.Second))
	}
	return nil
}
