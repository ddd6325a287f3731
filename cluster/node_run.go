package cluster

import (
	"context"
	"time"

	"github.com/arcrawl/arcrawl/cluster/shared"
)

// Run takes and releases parts of the crawl until ctx ends, or until this node may not continue.
func (n *thisNode) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case st := <-n.seen:
			if err := n.place(ctx, st); err != nil {
				if ctx.Err() == nil {
					n.fail(err)
				}
				return
			}
		}
	}
}

// place fences who stands still, and takes and releases parts.
func (n *thisNode) place(ctx context.Context, st sighting) error {
	n.lives.look(st.States, st.at)
	n.watch.look(st, n.o.Log)
	for _, m := range n.watch.still() {
		n.fence(ctx, m)
	}
	n.mu.Lock()
	n.silent, n.whole = n.watch.silent(), n.whole || st.Whole
	n.mu.Unlock()
	n.examine(time.Now())
	if st.Whole {
		n.parts.outdate(st.Parts)
	}
	v := n.view(st.States, st.at)
	if !st.Whole && n.isFirst && ownedByOthers(st.States, n.o.Node) {
		return errOthersFirst
	}
	if list := v.take(); len(list) > 0 {
		if err := n.take(ctx, st.States, list); err != nil {
			return err
		}
	}
	n.isPlaced.Do(func() { close(n.placed) })
	if list := v.release(); len(list) > 0 {
		n.o.Log.Info().Int("parts", len(list)).Bool("draining", v.draining).Bool("unfit", v.unfit).
			Msg("releasing hosts for other nodes: finishing their visits")
		n.parts.set(list, leaving)
	}
	return nil
}

// view returns what this node decides by.
func (n *thisNode) view(st shared.States, now time.Time) view {
	age := now.Sub(n.began)
	v := view{
		me: n.o.Node, takers: map[string]int{}, unfit: n.fit.isUnfit(), whole: st.Whole, young: age < youngFor,
		calm: now.Sub(n.lives.changed) >= calmFor && len(n.parts.in(initial, coming, leaving)) == 0,
	}
	for _, m := range st.Nodes {
		switch {
		case m.Fenced:
		case m.Draining:
			v.draining = v.draining || m.Name == n.o.Node
		case m.Unfit, m.Name == n.o.Node && v.unfit:
		case m.Name == n.o.Node || n.lives.live(m.Name, now):
			v.takers[m.Name] = 0
		}
	}
	mine := n.parts.mine(time.Time{})
	for part, p := range st.Parts {
		owner, is := st.Crawler(int16(part)), n.parts.is(int16(part))
		one := place{owner: owner, kept: is == kept, ready: is == kept || is == absent, freeFor: now.Sub(n.lives.since[part])}
		_, has := mine[int16(part)] // one that was just released is still owned, as the beat found it
		if p.Owner == n.o.Node && !has && !n.parts.hasLeft(int16(part), p.Epoch) {
			// An earlier process of this node may still be at work, somewhere, until its lease is over.
			one.crashed, one.ready = true, one.ready && age >= leaseTime
		}
		v.parts = append(v.parts, one)
		if _, takes := v.takers[owner]; takes {
			v.takers[owner]++
		}
	}
	return v
}

// lives notes which nodes beat, and when parts changed their owners.
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
	if len(l.owners) != len(st.Parts) {
		l.owners, l.since = make([]string, len(st.Parts)), make([]time.Time, len(st.Parts))
	}
	for part := range st.Parts {
		if owner := st.Crawler(int16(part)); owner != l.owners[part] || l.since[part].IsZero() {
			l.owners[part], l.since[part], l.changed = owner, now, now
		}
	}
}

// live reports whether a node has beaten shortly before.
func (l *lives) live(node string, now time.Time) bool {
	return !l.moved[node].IsZero() && now.Sub(l.moved[node]) < liveFor
}
