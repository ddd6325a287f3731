package shared

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Copies are the rows and letters of a crawl, in a transaction of the database.
type Copies struct {
	tx pgx.Tx

	Clean bool // all parts were released properly, so nothing was claimed when their last rows were shipped
}

// Export calls do with the copies of a crawl, while no node owns a part. It is not a node, and changes nothing.
func Export(ctx context.Context, database string, do func(Copies) error) error {
	err := visit(ctx, database, func(c *pgx.Conn) error {
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			clean, err := released(ctx, tx)
			if err != nil {
				return err
			}
			// do may stop for a while, to write to a slow disk.
			if _, err := tx.Exec(ctx, `SET LOCAL idle_in_transaction_session_timeout = '10min'`); err != nil {
				return err
			}
			return do(Copies{tx, clean})
		})
	})
	return about(err, "read the crawl from the database of the cluster")
}

// released returns an error if a node owns a part, and whether all were released properly. No node takes one until the
// transaction ends.
func released(ctx context.Context, tx pgx.Tx) (clean bool, err error) {
	all, err := lockOwners(ctx, tx)
	if err != nil {
		return false, err
	}
	var owner string
	var torn int
	const text = `SELECT coalesce(min(owner), ''), count(*) FILTER (WHERE NOT clean) FROM arcrawl.part`
	err = tx.QueryRow(ctx, text).Scan(&owner, &torn)
	switch {
	case err != nil:
		return false, err
	case owner != "":
		return false, fmt.Errorf("node %s crawls, or was not stopped properly: stop all nodes properly first", owner)
	case !all.whole:
		return false, errors.New("the store was never shipped: start the node that has it, and stop it when it crawls")
	}
	return torn == 0, nil
}

// Each calls f with the rows of a part, in the order of their keys. f may keep the slices.
func (c Copies) Each(ctx context.Context, part int16, f func(key, value []byte) error) error {
	return eachRow(ctx, c.tx, ofPart, f, part)
}

// OwnRows calls f with the rows of all nodes that are about no host, by the numbers of the nodes. f may keep the
// slices.
func (c Copies) OwnRows(ctx context.Context, f func(number int, key, value []byte) error) error {
	return eachOwn(ctx, c.tx, f)
}

// Payloads calls f with the rows of the table of payloads, in the order of their keys. f may keep the slices.
func (c Copies) Payloads(ctx context.Context, f func(key, value []byte) error) error {
	return eachRow(ctx, c.tx, ofPayloads, f)
}

// Letters calls f with the values of the letters that wait for any part. f may keep the slices.
func (c Copies) Letters(ctx context.Context, f func(value []byte) error) error {
	for part := range int16(Parts) {
		if err := eachRow(ctx, c.tx, ofLetters, func(_, v []byte) error { return f(v) }, part); err != nil {
			return err
		}
	}
	return nil
}
