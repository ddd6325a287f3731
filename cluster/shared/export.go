package shared

import (
	"bytes"
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// Copies are the rows and letters of a crawl, in a transaction of the database.
type Copies struct{ tx pgx.Tx }

// Export calls do with the copies of a crawl, while no node owns a shard. It is not a node, and changes nothing.
func Export(ctx context.Context, database string, do func(Copies) error) (err error) {
	c, err := connect(ctx, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close(ctx)) }()
	err = pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if _, err := released(ctx, tx); err != nil { // its locks keep nodes from taking the crawl until the end
			return err
		}
		// do may stop for a while, to write to a slow disk.
		if _, err := tx.Exec(ctx, `SET LOCAL idle_in_transaction_session_timeout = '10min'`); err != nil {
			return err
		}
		return do(Copies{tx})
	})
	return about(err, "read the crawl from the database of the cluster")
}

// Each calls f with the rows of a part, in the order of their keys. f may keep the slices.
func (c Copies) Each(ctx context.Context, part int16, f func(key, value []byte) error) error {
	return eachRow(ctx, c.tx, ofPart, f, part)
}

// Payloads calls f with the rows of the table of payloads, in the order of their keys. f may keep the slices.
func (c Copies) Payloads(ctx context.Context, f func(key, value []byte) error) error {
	return eachRow(ctx, c.tx, ofPayloads, f)
}

// Letters calls f with the values of the letters that wait for any shard.
func (c Copies) Letters(ctx context.Context, f func(value []byte) error) error {
	rows, _ := c.tx.Query(ctx, `SELECT v FROM arcrawl.letter ORDER BY shard, sender, k`)
	var v []byte
	_, err := pgx.ForEachRow(rows, []any{&v}, func() error { return f(bytes.Clone(v)) })
	return err
}

// after returns the first key behind all that begin with a prefix; nil if there is none.
func after(prefix []byte) []byte {
	end := bytes.TrimRight(prefix, "\xff")
	if len(end) == 0 {
		return nil
	}
	end = bytes.Clone(end)
	end[len(end)-1]++
	return end
}
