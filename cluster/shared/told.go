package shared

import (
	"context"
	"fmt"
)

// maxTold is the maximum size of what the owner of a shard reports.
const maxTold = 256 << 10

// Told holds the last report of the owner of a shard. The package does not know what it means.
type Told struct {
	Node  string // that was the owner
	Epoch int64
	Beats int64 // of the node since then
	Text  []byte
}

// Tell stores what the owner of this shard reports. It replaces the last report.
func (s *Store) Tell(ctx context.Context, epoch int64, text []byte) error {
	if len(text) > maxTold {
		return fmt.Errorf("report the state of shard %d: it has %d bytes, the maximum is %d", s.shard, len(text), maxTold)
	}
	err := s.change(ctx, epoch, `INSERT INTO arcrawl.told (shard, node, epoch, beat, report)
		SELECT $1, $2, $3, p.beat, $4 FROM arcrawl.pulse p WHERE p.node = $2
		ON CONFLICT (shard) DO UPDATE SET node = excluded.node, epoch = excluded.epoch, beat = excluded.beat,
			report = excluded.report`, s.shard, s.node, epoch, text)
	return about(err, "report the state of shard %d", s.shard)
}

// Reports returns what the owners of all shards reported last, by shard.
func Reports(ctx context.Context, database string) (all map[int]Told, err error) {
	c, err := connect(ctx, database)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close(ctx) }()
	all = map[int]Told{}
	const text = `SELECT t.shard, t.node, t.epoch, coalesce(p.beat, t.beat) - t.beat, t.report
		FROM arcrawl.told t LEFT JOIN arcrawl.pulse p ON p.node = t.node`
	list, err := listOf[struct {
		Shard int
		Told
	}](ctx, c, text)
	for _, row := range list {
		all[row.Shard] = row.Told
	}
	if err != nil && !isUndefined(err) {
		return nil, fmt.Errorf("read what the nodes report: %w", err)
	}
	return all, nil
}
