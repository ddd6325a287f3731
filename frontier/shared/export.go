package shared

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Export calls f with each row of a crawl that was never divided, in the order of the keys, while no node owns it. It
// is not a node, and changes nothing.
func Export(ctx context.Context, database string, f func(key, value []byte) error) (err error) {
	c, err := connect(ctx, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close(ctx)) }()
	err = pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		shards, err := released(ctx, tx) // its locks keep nodes from taking the crawl until the end
		if err != nil {
			return err
		}
		if shards > 1 {
			return fmt.Errorf("it is divided into %d shards, and each has numbers of its own: only a crawl that was never divided "+
				"can be one store", shards)
		}
		return each(ctx, tx, 1, f)
	})
	if err != nil {
		return fmt.Errorf("read the crawl from the database of the cluster: %w", err)
	}
	return nil
}
