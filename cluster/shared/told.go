package shared

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// maxTold is the maximum size of what a node reports.
const maxTold = 256 << 10

// Told holds the last report of a node. The package does not know what it means.
type Told struct {
	Beats int64 // of the node since then
	Text  []byte
}

// Tell stores what this node reports. It replaces the last report.
func (s *Store) Tell(ctx context.Context, text []byte) error {
	if len(text) > maxTold {
		return fmt.Errorf("report the state of node %s: it has %d bytes, the maximum is %d", s.node, len(text), maxTold)
	}
	err := s.alone(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO arcrawl.told (node, beat, report)
			SELECT p.node, p.beat, $2 FROM arcrawl.pulse p WHERE p.node = $1
			ON CONFLICT (node) DO UPDATE SET beat = excluded.beat, report = excluded.report`, s.node, text)
		return err
	})
	return about(err, "report the state of node %s", s.node)
}

// Reports returns what the nodes reported last, by node.
func Reports(ctx context.Context, database string) (map[string]Told, error) {
	all := map[string]Told{}
	err := visit(ctx, database, func(c *pgx.Conn) error {
		list, err := listOf[struct {
			Node string
			Told
		}](ctx, c, `SELECT t.node, p.beat - t.beat, t.report FROM arcrawl.told t JOIN arcrawl.pulse p ON p.node = t.node`)
		for _, row := range list {
			all[row.Node] = row.Told
		}
		return err
	})
	return all, about(err, "read what the nodes report")
}
