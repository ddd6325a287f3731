package node

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/frontier/mirror"
	"github.com/arcrawl/arcrawl/frontier/shared"
)

// askTime is the maximum duration of one exchange with the database, except shipments.
const askTime = 5 * time.Second

// noteEvery is the time between two marks with beats. A backup of the database is older.
const noteEvery = 10 * time.Second

// Options say which node this is.
type Options struct {
	Database string             // connection string
	Node     string             // name
	State    string             // folder of the store
	Notify   func(state string) // of systemd
	Single   bool               // the database has no replica on purpose
	// Groups returns what stands for the politeness groups of all hosts. It is called before a shard is taken, and may
	// read the configuration again. Nil means that there are no groups.
	Groups func() string
	Log    zerolog.Logger
}

// Forget removes the mark that a store is a copy of a crawl that nodes share. A process on its own changes the store
// without shipping the changes.
func Forget(state string) error {
	if err := os.Remove(filepath.Join(state, markFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget that the store is a copy: %w", err)
	}
	return nil
}

// Node is this process as a node of a cluster, which owns the crawl. Make one with [Join].
type Node struct {
	o      Options
	shared *shared.Store
	lease  *lease
	mirror *mirror.Mirror

	lastBeat int64        // that the database confirmed; only Beat uses it, and Join before
	before   shared.State // of the shard, when it was taken
	shards   int          // of the crawl
	shard    int          // that this node has taken
	epoch    int64
	groups   string    // what Options.Groups returned when the shard was taken
	since    uint64    // the database has the store up to this version
	whole    bool      // the database has no whole copy: ship all rows first
	kept     bool      // the local store was the newest copy, and was not loaded
	damage   string    // of the local store, because of which the next start loads it again; "" = none
	known    string    // the damage because of which an earlier start loaded it again
	loaded   time.Time // when it was loaded from the database; zero = it was not

	lost func(error) // is called when another node owns the crawl

	store *frontier.Frontier // since Start
	post  courier            // only Ship uses it

	foreign foreignRows

	mu      sync.Mutex // guards the fields below
	leaving bool       // the crawl is being released
	beaten  int64      // the last beat
	divided bool       // hosts of other shards were removed, and the database was not notified of that
	noted   time.Time  // when the mark was written; zero = Prepare has not read the old one yet
	behind  time.Time  // since when something waits to be shipped; zero = nothing does
	ill     bool       // the last shipment failed
	standBy string     // why a loss of the database would lose visits; "" if it would not
}

// Join waits until this node owns the crawl, and returns it. lost is called when another node owns the crawl later.
func Join(ctx context.Context, o Options, lost func(error)) (*Node, error) {
	n := &Node{o: o, lost: lost, lease: newLease(time.Now)}
	var err error
	n.shared, err = n.connect(ctx)
	if err == nil {
		n.foreign.read, n.foreign.now = n.shared.Read, time.Now
		n.foreign.fail = func(shard int, err error) {
			o.Log.Warn().Err(err).Int("shard", shard).Msg("could not read a row of another shard: using what was read before")
		}
		err = n.checkStore()
	}
	if err == nil {
		err = n.await(ctx)
	}
	if err != nil {
		if n.shared != nil {
			n.shared.Close()
		}
		return nil, err
	}
	return n, nil
}

// connect connects to the database, and waits for it if it does not answer.
func (n *Node) connect(ctx context.Context) (*shared.Store, error) {
	for told := false; ; told = true {
		ask, cancel := context.WithTimeout(ctx, askTime)
		s, err := shared.Open(ask, n.o.Database, n.o.Node)
		cancel()
		if err == nil || ctx.Err() != nil || errors.Is(err, shared.ErrVersion) || !shared.IsUnreachable(err) {
			return s, err
		}
		if !told {
			n.o.Log.Error().Err(err).Msg("the database of the cluster does not answer: trying again until it does")
		}
		n.o.Notify("STATUS=waiting for the database of the cluster")
		n.o.Notify("WATCHDOG=1")
		if err := pause(ctx, beatEvery); err != nil {
			return nil, err
		}
	}
}

// checkStore refuses a store that is not a copy of this crawl. It would be removed otherwise.
func (n *Node) checkStore() error {
	m, found, err := readMark(n.o.State)
	switch {
	case err != nil:
		return err
	case found && m.Crawl != n.shared.Crawl():
		return fmt.Errorf("the store in %s is of another crawl than the database: name another folder in storage.state, "+
			"or another database in cluster.database", n.o.State)
	}
	return nil
}

// refuse returns an error if the local store must be kept and is not the crawl of the database, whose state is st. It
// comes before the crawl is taken: a node that cannot crawl must not keep the others from it.
func (n *Node) refuse(st shared.States) error {
	m, found, err := readMark(n.o.State)
	if err != nil {
		return err
	}
	if found && (m.Ahead || m.Beat > st.Own || m.shard() > len(st.Shards) || m.isAfter(st.Shards[m.shard()-1])) {
		m.Ahead = true // for the next start: the epochs of the database grow, and reach this one
		return errors.Join(errAhead(n.o.State), m.write(n.o.State))
	}
	isWhole := func(s shared.State) bool { return s.Whole }
	if !found && slices.ContainsFunc(st.Shards, isWhole) && hasStore(n.o.State) {
		return fmt.Errorf("%s has a store that is not a copy of the crawl in the database: move it away", n.o.State)
	}
	return nil
}

// isAfter reports whether the store is newer than what the database has of its shard.
func (m mark) isAfter(st shared.State) bool {
	return m.Epoch > st.Epoch || m.Epoch == st.Epoch && m.Clean && !st.Clean
}

// await waits until this node owns a shard of the crawl.
func (n *Node) await(ctx context.Context) error {
	var seen watch
	for {
		start := time.Now()
		st, err := n.beat(ctx)
		if err == nil {
			err = n.examine(st)
		}
		var refused refusal
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &refused):
			return refused.error
		case errors.Is(err, shared.ErrFenced):
			return fmt.Errorf("%w: %w", ErrLost, err)
		case err != nil:
			n.o.Log.Warn().Err(err).Msg("the database of the cluster does not answer: waiting for it")
			seen = watch{} // what we did not see we do not count
		default:
			for _, shard := range n.wanted(st) {
				if taken, err := n.take(ctx, start, st, shard); taken || err != nil {
					return err
				}
			}
			if seen.look(st, n.o.Log) && n.fence(ctx, seen.still()) {
				continue
			}
		}
		n.o.Notify("READY=1\nSTATUS=waiting to take over from " + owners(st))
		n.o.Notify("WATCHDOG=1")
		if err := pause(ctx, beatEvery); err != nil {
			return err
		}
	}
}

// refusal says why this node may not wait for the crawl.
type refusal struct{ error }

// examine returns a [refusal] if the database is not the one of this node's store, or went back.
func (n *Node) examine(st shared.States) error {
	if err := n.refuse(st); err != nil {
		return refusal{err}
	}
	if st.Own <= n.lastBeat {
		return refusal{fmt.Errorf("the database of the cluster went back to an older state, as after a backup was restored, "+
			"while node %s waited: see \"The database\" in docs/cluster.md", n.o.Node)}
	}
	n.lastBeat = st.Own
	return nil
}

// wanted returns the shards that this node may take: first the one that it owned when it died, then the one whose copy
// it has, then the others. Nodes that start together want different ones.
func (n *Node) wanted(st shared.States) (list []int) {
	m, found, _ := readMark(n.o.State)
	sum := sha256.Sum256([]byte(n.o.Node))
	first := int(sum[0])
	rank := func(shard int) int {
		switch s := st.Shards[shard-1]; {
		case s.Owner == n.o.Node:
			return -2
		case found && shard == m.shard():
			return -1
		}
		return (shard + first) % len(st.Shards)
	}
	for i, s := range st.Shards {
		if s.Owner == "" || s.Owner == n.o.Node || s.Fenced {
			list = append(list, i+1)
		}
	}
	slices.SortFunc(list, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	return list
}

// owners returns the names of the nodes that crawl.
func owners(st shared.States) string {
	var names []string
	for _, s := range st.Shards {
		if s.Owner != "" {
			names = append(names, s.Owner)
		}
	}
	return strings.Join(names, ", ")
}

// beat shows the others that this node is alive.
func (n *Node) beat(ctx context.Context) (shared.States, error) {
	ask, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return n.shared.Beat(ask)
}

// fence fences an owner that stands still, and reports whether that is done.
func (n *Node) fence(ctx context.Context, st shared.State) (done bool) {
	ask, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	done, err := n.shared.Fence(ask, st.Owner, st.Beat)
	switch {
	case err != nil:
		n.o.Log.Warn().Err(err).Msg("could not fence the node that stands still: trying again")
	case done:
		n.o.Log.Warn().Str("node", st.Owner).Msg("fenced a node that stood still: taking the crawl over")
	}
	return done
}

// take takes a shard after a beat that began at start.
func (n *Node) take(ctx context.Context, start time.Time, st shared.States, shard int) (taken bool, err error) {
	if s := st.Shards[shard-1]; s.Owner != "" && s.Owner != n.o.Node && !s.Whole {
		n.o.Log.Error().Str("node", s.Owner).
			Msg("the owner has not shipped its whole store, so nobody can take the crawl over: start that node again")
		return false, nil
	}
	groups := ""
	if n.o.Groups != nil {
		groups = n.o.Groups()
	}
	ask, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	n.before, n.epoch, err = n.shared.Take(ask, shard, groups)
	if err != nil {
		if errors.Is(err, shared.ErrFenced) {
			return false, fmt.Errorf("%w: %w", ErrLost, err)
		}
		if errors.Is(err, shared.ErrGroups) {
			return false, err
		}
		n.o.Log.Warn().Err(err).Int("shard", shard).Msg("could not take the crawl: trying again")
		return false, nil
	}
	n.shard, n.shards = shard, n.shared.Shards() // st may be older than a division of the crawl
	n.groups = groups
	n.lease.extend(start)
	n.o.Log.Info().Str("node", n.o.Node).Int("shard", shard).Int("shards", n.shards).Int64("epoch", n.epoch).
		Bool("clean", n.before.Clean).Msg("this node owns the crawl now")
	return true, nil
}

// Beat extends the lease until ctx ends.
func (n *Node) Beat(ctx context.Context) {
	told := false
	var orphans watch
	for pause(ctx, beatEvery) == nil {
		start := time.Now()
		st, err := n.beat(ctx)
		switch {
		case ctx.Err() != nil, n.isLeaving():
			return
		case errors.Is(err, shared.ErrFenced), err == nil && !n.owns(st):
			n.lose(err)
			return
		case err == nil && st.Own <= n.lastBeat:
			m := n.mark()
			m.Beat, m.Ahead = n.lastBeat, true
			n.lose(errors.Join(errAhead(n.o.State), n.writeMark(m)))
			return
		case err != nil:
			n.lease.breakOff()
			if !told {
				n.o.Log.Error().Err(err).Msg("the database of the cluster does not answer: nothing is visited after 10 s without it")
			}
			told = true
			continue
		}
		n.lastBeat = st.Own
		n.lease.extend(start)
		n.noteBeat(start)
		orphans.tell(st, n.o.Log)
		if told {
			n.o.Log.Info().Msg("the database of the cluster answers again: crawling")
		}
		told = false
	}
}

// owns reports whether the database says that this node owns its shard since it took it.
func (n *Node) owns(st shared.States) bool {
	return n.shard <= len(st.Shards) && st.Shards[n.shard-1].Owner == n.o.Node && st.Shards[n.shard-1].Epoch == n.epoch
}

// mark returns the mark of the store while this node crawls.
func (n *Node) mark() mark {
	return mark{Crawl: n.shared.Crawl(), Shard: n.shard, Epoch: n.epoch, Damage: n.known}
}

// noteBeat writes the beat to the mark, at most once in noteEvery. So the next process of this node notices when the
// database was restored to an earlier state.
func (n *Node) noteBeat(now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.beaten = n.lastBeat
	if n.leaving || n.noted.IsZero() || now.Sub(n.noted) < noteEvery {
		return
	}
	n.noted = now
	m := n.mark()
	m.Beat = n.lastBeat
	if err := m.write(n.o.State); err != nil {
		n.o.Log.Warn().Err(err).Msg("could not note the state of the database: a restored backup of it may go unnoticed")
	}
}

// writeMark writes the mark of the store. Beats write it too from now on.
func (n *Node) writeMark(m mark) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.noted = time.Now()
	return m.write(n.o.State)
}

// leave notes that the crawl is being released. Beats write no marks from now on.
func (n *Node) leave() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.leaving = true
}

// isLeaving reports whether the crawl is being released, so that a beat finds nothing wrong with that.
func (n *Node) isLeaving() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.leaving
}

// lose ends the lease permanently.
func (n *Node) lose(why error) {
	err := ErrLost
	if why != nil {
		err = fmt.Errorf("%w: %w", ErrLost, why)
	}
	n.lease.end(err)
	n.lost(err)
}

// Dialer returns a dialer whose connections can be used only while this node may visit sites.
func (n *Node) Dialer(dial fetch.Dialer) fetch.Dialer { return n.lease.dialer(dial) }

// Void returns why a visit that began at a time teaches nothing; nil if the node owned the crawl all the time.
func (n *Node) Void(began time.Time) error { return n.lease.voids(began) }

// MayClaim returns why nothing may be claimed now; nil if it may.
func (n *Node) MayClaim() error {
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

// pause waits for d. It returns the error of ctx if ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
