package cluster

import (
	"context"
	"time"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
)

// Join waits until this node owns a shard, and returns it.
func Join(ctx context.Context, o nodeOptions, lost func(error)) (*ownedShard, error) {
	return joinShard(ctx, o, lost, 0)
}

// joinShard waits until this node owns a given shard, or any if it is 0: first one of which it has a copy.
func joinShard(ctx context.Context, o nodeOptions, lost func(error), wants int) (*ownedShard, error) {
	n, err := openNode(ctx, o, lost)
	if err != nil {
		return nil, err
	}
	s, err := n.join(ctx, wants)
	if err != nil {
		n.Close()
		return nil, err
	}
	return s, nil
}

func (n *thisNode) join(ctx context.Context, wants int) (*ownedShard, error) {
	has := map[int]bool{}
	err := n.eachMark(func(_ string, m mark, found bool) error { has[m.shard()] = has[m.shard()] || found; return nil })
	if err != nil {
		return nil, err
	}
	for st := (<-n.seen).States; ; {
		for _, had := range []bool{true, false} {
			for i, state := range st.Shards {
				if had != has[i+1] || wants != 0 && wants != i+1 || state.Owner != "" && state.Owner != n.o.Node && !state.Fenced {
					continue
				}
				if s, err := n.take(ctx, state, i+1); s != nil || err != nil {
					return s, err
				}
			}
		}
		if err := cli.Wait(ctx, 200*time.Millisecond); err != nil {
			return nil, err
		}
		if st, err = n.beat(ctx); err != nil {
			return nil, err
		}
		n.lastBeat = st.Own
	}
}
