package shared

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
)

// maxWhy is the maximum size of what [Store.Unfit] says, in bytes.
const maxWhy = 300

// Unfit notes with the next beat why this node can crawl nothing, so that others take its hosts; "" says that it can.
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
