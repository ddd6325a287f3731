package shared

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// MaxShards is the maximum number of shards of a crawl.
const MaxShards = 64

// Split divides a crawl into n shards, while no node runs. n is a multiple of the present number. It returns the number
// before.
func Split(ctx context.Context, database string, n int) (before int, err error) {
	c, err := connect(ctx, database)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.Close(ctx)) }()
	err = pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		before, err = splittable(ctx, tx, n)
		if err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO arcrawl.crawl (id, name, format, owner, epoch, clean, whole)
			SELECT n, c.name, c.format, NULL, c.epoch, c.clean, c.whole FROM generate_series($1::int + 1, $2) AS n
			JOIN arcrawl.crawl c ON c.id = (n - 1) % $1::int + 1`, before, n)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO `+rows+` (part, k, v) SELECT -n, r.k, r.v FROM generate_series($1::int + 1, $2) AS n
			JOIN `+rows+` r ON r.part = -((n - 1) % $1::int + 1)`, before, n)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("divide the crawl into %d shards: %w", n, err)
	}
	return before, nil
}

// splittable returns the number of shards, or an error if they cannot be divided into n.
func splittable(ctx context.Context, tx pgx.Tx, n int) (before int, err error) {
	if before, err = released(ctx, tx); err != nil {
		return 0, err
	}
	if n <= before || n%before != 0 || n > MaxShards {
		return 0, fmt.Errorf("there are %d shards now: ask for a larger multiple of that, up to %d", before, MaxShards)
	}
	return before, nil
}

// released returns the number of shards, or an error if not all of them were released properly. No node takes one until
// the transaction ends.
func released(ctx context.Context, tx pgx.Tx) (before int, err error) {
	rows, err := tx.Query(ctx, `SELECT coalesce(owner, ''), clean, whole, format FROM arcrawl.crawl ORDER BY id FOR UPDATE`)
	if err != nil {
		return 0, explainUnreleased(err)
	}
	var owner string
	var clean, whole bool
	var version int
	_, err = pgx.ForEachRow(rows, []any{&owner, &clean, &whole, &version}, func() error {
		before++
		switch {
		case owner != "":
			return fmt.Errorf("node %s crawls shard %d, or was not stopped properly: stop all nodes properly first", owner, before)
		case !whole:
			return fmt.Errorf("the store was never shipped: start the node that has it, and stop it when it crawls")
		case !clean:
			return fmt.Errorf("the node of shard %d was not stopped properly: start a node, and stop it when it crawls", before)
		}
		return checkVersion(version)
	})
	return before, err
}
