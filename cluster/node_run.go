package cluster

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/cluster/shared"
)

// errHandedOver is the cause of the end of a shard's context when another node is going to crawl the shard.
var errHandedOver = errors.New("another node is going to crawl this shard")

// unit is a shard that is being crawled here.
type unit struct {
	shard *ownedShard
	end   context.CancelCauseFunc
	stop  func()
	err   error
	ends  bool // its context has ended
}

// Run takes and releases shards until ctx ends, and calls crawl with each shard that it takes, at once for all. crawl
// crawls the shard until its context ends, and then releases it. Run returns when all have returned. An error
// of one ends all.
func (n *thisNode) Run(ctx context.Context, crawl func(context.Context, *ownedShard) error) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	defer inBackground(n.Beat)()
	units := map[int]*unit{}
	ended := make(chan *unit, shared.MaxShards)
	start := func(s *ownedShard) {
		u := &unit{shard: s}
		of, end := context.WithCancelCause(ctx)
		u.end = end
		units[s.shard] = u
		u.stop = inBackground(func(context.Context) { u.err = crawl(of, s); end(nil); ended <- u })
	}
	var failure error
	done := ctx.Done()
	for began := time.Now(); done != nil || len(units) > 0; {
		select {
		case <-done: // the contexts of the units have ended with it
			done = nil
		case u := <-ended:
			u.stop()
			delete(units, u.shard.shard)
			if n.settle(u); u.err != nil {
				failure = errors.Join(failure, u.err)
				end()
			}
		case st := <-n.seen:
			if done == nil {
				continue
			}
			if err := n.place(ctx, st, time.Since(began) < youngFor, units, start); err != nil && ctx.Err() == nil {
				failure = errors.Join(failure, err)
				end()
			}
		}
	}
	return failure
}

// settle releases the shard of a unit that ended without that. Otherwise nobody would crawl it while this node lives.
func (n *thisNode) settle(u *unit) {
	s := u.shard
	if s.left.Load() || n.lease.lostFor() != nil || u.err != nil {
		return // an error ends the process, and the shard is taken over
	}
	clean := s.mirror == nil && s.before.Clean // it was not opened: the copy in the database is as it was before
	if err := s.release(context.Background(), clean); err != nil {
		n.lose(err)
	}
}

// place fences who stands still, and takes and releases shards.
func (n *thisNode) place(
	ctx context.Context, st sighting, young bool, units map[int]*unit, start func(*ownedShard),
) error {
	n.lives.look(st.States, st.at)
	n.watch.look(st, n.o.Log)
	if still := n.watch.still(); still.Owner != "" {
		n.fence(ctx, still)
	}
	n.watch.tell(n.o.Log)
	n.examine(time.Now())
	v := n.view(st.States, st.at, units)
	v.young = young
	for _, shard := range v.take() {
		if units[shard] != nil {
			continue
		}
		s, err := n.take(ctx, st.Shards[shard-1], shard)
		if err != nil {
			return err
		}
		if s != nil {
			start(s)
		}
	}
	for _, shard := range v.release() {
		if u := units[shard]; u != nil && !u.ends {
			n.o.Log.Info().Int("shard", shard).Bool("draining", v.draining).Bool("unfit", v.unfit).
				Msg("releasing a shard for another node: finishing its visits")
			u.ends = true
			u.end(errHandedOver)
		}
	}
	if len(units) == 0 {
		n.o.Notify("READY=1\nSTATUS=" + n.idleFor(st.States, v))
		n.o.Notify("WATCHDOG=1")
	}
	return nil
}

// idleFor returns why this node crawls nothing.
func (n *thisNode) idleFor(st shared.States, v view) string {
	if v.draining {
		return "drained: crawls nothing until arcrawl cluster drain --undo"
	}
	return "waiting to take over from " + owners(st)
}

// owners returns the names of the nodes that crawl.
func owners(st shared.States) string {
	var names []string
	known := map[string]bool{}
	for _, s := range st.Shards {
		if s.Owner != "" && !known[s.Owner] {
			known[s.Owner] = true
			names = append(names, s.Owner)
		}
	}
	return strings.Join(names, ", ")
}

// view returns what this node decides by.
func (n *thisNode) view(st shared.States, now time.Time, units map[int]*unit) view {
	v := view{me: n.o.Node, takers: map[string]int{}, calm: now.Sub(n.lives.changed) >= calmFor, unfit: n.fit.isUnfit()}
	for _, m := range st.Nodes {
		switch {
		case m.Draining:
			v.draining = v.draining || m.Name == n.o.Node
		case m.Unfit, m.Name == n.o.Node && v.unfit:
		case m.Name == n.o.Node || n.lives.live(m.Name, now):
			v.takers[m.Name] = 0
		}
	}
	v.kept = make([]bool, len(st.Shards))
	_ = n.eachMark(func(_ string, m mark, found bool) error { // a mark that cannot be read is of no newest copy
		if found && m.shard() <= len(st.Shards) {
			v.kept[m.shard()-1] = m.isNewest(st.Shards[m.shard()-1])
		}
		return nil
	})
	for i, s := range st.Shards {
		owner := s.Crawler()
		mine := units[i+1]
		v.crashed = append(v.crashed, s.Owner == n.o.Node && mine == nil && !n.isOwned(i+1))
		v.owners, v.freeFor = append(v.owners, owner), append(v.freeFor, now.Sub(n.lives.since[i]))
		if _, takes := v.takers[owner]; takes {
			v.takers[owner]++
		}
		v.calm = v.calm && (mine == nil || !mine.ends)
	}
	return v
}

// isOwned reports whether this process has taken a shard and not released it.
func (n *thisNode) isOwned(shard int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.owned[shard] != nil
}

// lives notes which nodes beat, and when shards changed their owners.
type lives struct {
	beats   map[string]int64
	moved   map[string]time.Time // when the beat of a node changed
	owners  []string
	since   []time.Time // owners did not change since then
	changed time.Time   // the last of them
}

// look compares the nodes with what it saw last.
func (l *lives) look(st shared.States, now time.Time) {
	beats, moved := map[string]int64{}, map[string]time.Time{}
	for _, m := range st.Nodes {
		beats[m.Name] = m.Beat
		if was, known := l.beats[m.Name]; known && was != m.Beat {
			moved[m.Name] = now
		} else if known {
			moved[m.Name] = l.moved[m.Name]
		}
	}
	l.beats, l.moved = beats, moved
	if len(l.owners) != len(st.Shards) {
		l.owners, l.since = make([]string, len(st.Shards)), make([]time.Time, len(st.Shards))
	}
	for i, s := range st.Shards {
		if owner := s.Crawler(); owner != l.owners[i] || l.since[i].IsZero() {
			l.owners[i], l.since[i], l.changed = owner, now, now
		}
	}
}

// live reports whether a node has beaten shortly before.
func (l *lives) live(node string, now time.Time) bool {
	return !l.moved[node].IsZero() && now.Sub(l.moved[node]) < liveFor
}
