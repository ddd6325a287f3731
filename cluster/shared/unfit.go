package shared

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
)

// maxWhy is the maximum size of what [Store.Unfit] says, in bytes.
const maxWhy = 300

// Unfit notes with the next beat why this node can crawl nothing, so that others take its shards; "" says that it can.
// It holds until the process ends.
func (s *Store) Unfit(why string) {
	why = why[:min(len(why), maxWhy)]
	s.unfit.Store(&why)
}

// noteUnfit stores why this process can crawl nothing; nil changes nothing.
func (s *Store) noteUnfit(ctx context.Context, tx pgx.Tx, why *string) (err error) {
	switch {
	case why == nil:
	case *why == "":
		_, err = tx.Exec(ctx, `DELETE FROM arcrawl.unfit WHERE node = $1`, s.node)
	default:
		_, err = tx.Exec(ctx, `INSERT INTO arcrawl.unfit (node, incarnation, why) VALUES ($1, $2, $3)
			ON CONFLICT (node) DO UPDATE SET incarnation = excluded.incarnation, why = excluded.why`,
			s.node, s.incarnation, strings.ToValidUTF8(*why, "?"))
	}
	return err
}

// readUnfit reads which nodes can crawl nothing, and why.
func (r *Report) readUnfit(ctx context.Context, c *pgx.Conn) error {
	rows, _ := c.Query(ctx, `SELECT u.node, u.why FROM arcrawl.unfit u
		JOIN arcrawl.node n ON n.name = u.node AND n.incarnation = u.incarnation`)
	var name, why string
	_, err := pgx.ForEachRow(rows, []any{&name, &why}, func() error {
		for i := range r.Nodes {
			if r.Nodes[i].Name == name {
				r.Nodes[i].Unfit = why
			}
		}
		return nil
	})
	return err
}
