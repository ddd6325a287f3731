package shared

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Owners returns who owns the parts of a crawl, without being a node of it. Only Whole and Parts are set. It returns
// [ErrUnused] if no node has made the tables.
func Owners(ctx context.Context, database string) (st States, err error) {
	err = visit(ctx, database, func(c *pgx.Conn) error {
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error { return new(Store).readParts(ctx, tx, &st) })
	})
	return st, about(err, "read the owners of the crawl")
}
