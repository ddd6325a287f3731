package shared

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// MaxShards is the maximum number of shards of a crawl.
const MaxShards = 64

// Split divides a crawl into n shards, while no node runs. n is a multiple of the present number. Each new shard gets a
// copy of the shard that it is a part of; its node removes what belongs to the others. It returns the number before.
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
		// The copies take as long as they take.
		if _, err := tx.Exec(ctx, `SET LOCAL statement_timeout = 0`); err != nil {
			return err
		}
		if err := noteBefore(ctx, tx, before); err != nil {
			return err
		}
		for shard := before + 1; shard <= n; shard++ {
			if err := copyShard(ctx, tx, (shard-1)%before+1, shard); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `INSERT INTO arcrawl.strays (shard) SELECT id FROM arcrawl.crawl ON CONFLICT DO NOTHING`)
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

// Stays reports whether the copy of a shard keeps a host that belongs to another one, after the crawl was divided. It
// does if the host belonged to another one before the division too, because its group had changed: then the other one
// has no copy of its history. Of several copies the first one keeps it.
func Stays(before, shard, other int) bool {
	return shard <= before && (shard-1)%before != (other-1)%before
}

// noteBefore notes how many shards there were before a division. A copy that still has strays of an earlier division
// has the strays of that one too.
func noteBefore(ctx context.Context, tx pgx.Tx, before int) error {
	if _, err := tx.Exec(ctx, `DELETE FROM arcrawl.divided WHERE shard NOT IN (SELECT shard FROM arcrawl.strays)`); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `INSERT INTO arcrawl.divided (shard, before)
		SELECT c.id, CASE WHEN s.shard IS NULL THEN $1 ELSE 1 END FROM arcrawl.crawl c
		LEFT JOIN arcrawl.strays s ON s.shard = c.id ON CONFLICT DO NOTHING`, before)
	return err
}

// copyShard makes a shard as a copy of another one.
func copyShard(ctx context.Context, tx pgx.Tx, from, to int) error {
	for _, text := range []string{
		`CREATE TABLE ` + tableOf(to) + ` (LIKE ` + tableOf(from) + ` INCLUDING ALL) WITH (fillfactor = 85)`,
		`INSERT INTO ` + tableOf(to) + ` SELECT * FROM ` + tableOf(from),
		fmt.Sprintf(`INSERT INTO arcrawl.divided SELECT %d, before FROM arcrawl.divided WHERE shard = %d`, to, from),
	} {
		if _, err := tx.Exec(ctx, text); err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, `INSERT INTO arcrawl.crawl (id, name, format, owner, epoch, clean, whole)
		SELECT $2, name, format, NULL, epoch, clean, whole FROM arcrawl.crawl WHERE id = $1`, from, to)
	return err
}
