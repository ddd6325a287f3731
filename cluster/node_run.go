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
		calm: now.Sub(n.watch.changed) >= calmFor && len(n.parts.in(initial, coming, leaving)) == 0,
	}
	for _, m := range st.Nodes {
		switch {
		case m.Fenced:
		case m.Draining:
			v.draining = v.draining || m.Name == n.o.Node
		case m.Unfit, m.Name == n.o.Node && v.unfit:
		case m.Name == n.o.Node || n.watch.live(m.Name):
			v.takers[m.Name] = 0
		}
	}
	mine := n.parts.mine(time.Time{})
	for part, p := range st.Parts {
		owner, is := st.Crawler(int16(part)), n.parts.is(int16(part))
		one := place{owner: owner, kept: is == kept, ready: is == kept || is == absent, freeFor: now.Sub(n.watch.since[part])}
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
