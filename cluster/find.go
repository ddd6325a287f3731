package cluster

import (
	"context"
	"encoding/binary"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/dedup"
)

// Payloads returns a function that looks for a row of the dedup index in all other shards; nil if there are none. A
// visit waits for it, so it must not wait long: while the database is slow, it finds only what was found before, and a
// payload is archived twice.
func (n *ownedShard) Payloads() func(key []byte) dedup.Copy {
	if n == nil || n.shards < 2 || n.shared == nil {
		return nil
	}
	f := &foreignRows{now: n.foreign.now, fail: n.foreign.fail}
	f.read = func(ctx context.Context, _ int, key []byte) ([]byte, error) { return n.shared.Find(ctx, key) }
	return func(key []byte) dedup.Copy {
		v := f.get(0, key) // it follows the number of the shard
		if len(v) <= 2 {
			return dedup.Copy{}
		}
		shard := int(binary.BigEndian.Uint16(v))
		return dedup.Copy{Value: v[2:], Read: func(key []byte) []byte { return n.readRow(shard, key) }}
	}
}

// Lose lets all nodes know what an operator says of WARC files.
func (n *ownedShard) Lose(ctx context.Context, files []string, is string) error {
	ask, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return n.shared.Lose(ask, files, is)
}

// Losses returns what operators said on any node of WARC files, after a number and what this shard has taken over.
func (n *ownedShard) Losses(ctx context.Context, after int64) ([]shared.Loss, error) {
	ask, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return n.shared.Losses(ask, after)
}

// NoteLosses stores that this shard has taken over what operators said, up to a number. Call it when that is shipped.
func (n *ownedShard) NoteLosses(ctx context.Context, last int64) error {
	ask, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return n.shared.NoteLosses(ask, n.epoch, last)
}
