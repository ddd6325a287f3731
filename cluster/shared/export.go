package shared

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Copies are the rows and letters of all shards of a crawl, in a transaction of the database.
type Copies struct {
	// Before has the number of shards before a division of which a copy has hosts of other shards, or else the number of
	// all shards. Shard number n is at n-1.
	Before []int

	tx   pgx.Tx
	only int // the shard whose rows are read; 0 = all
}

// Of returns the copy of one shard.
func (c Copies) Of(shard int) Copies {
	c.only = shard
	return c
}

// Export calls do with the copies of a crawl, while no node owns a shard. It is not a node, and changes nothing.
func Export(ctx context.Context, database string, do func(Copies) error) (err error) {
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
		// do may stop for a while, to write to a slow disk.
		if _, err := tx.Exec(ctx, `SET LOCAL idle_in_transaction_session_timeout = '10min'`); err != nil {
			return err
		}
		all := Copies{Before: slices.Repeat([]int{shards}, shards), tx: tx}
		if err := all.read(ctx); err != nil {
			return err
		}
		return do(all)
	})
	return about(err, "read the crawl from the database of the cluster")
}

// read reads which shards have strays. Only a crawl that was divided has.
func (c Copies) read(ctx context.Context) error {
	if len(c.Before) < 2 {
		return nil
	}
	rows, _ := c.tx.Query(ctx, `SELECT s.shard, coalesce(d.before, 1) FROM arcrawl.strays s
		LEFT JOIN arcrawl.divided d ON d.shard = s.shard`)
	var shard, before int
	_, err := pgx.ForEachRow(rows, []any{&shard, &before}, func() error {
		if shard < 1 || shard > len(c.Before) || before < 1 {
			return fmt.Errorf("the table arcrawl.strays names shard %d of %d, which were %d", shard, len(c.Before), before)
		}
		c.Before[shard-1] = before
		return nil
	})
	return err
}

// Each calls f with the rows of all shards whose keys begin with a prefix and are longer: in the order of the keys, and
// those with one key in the order of the shards. f may keep the slices.
func (c Copies) Each(ctx context.Context, prefix []byte, f func(shard int, key, value []byte) error) error {
	var all []*cursor
	for i := range c.Before {
		if c.only == 0 || c.only == i+1 {
			all = append(all, &cursor{
				shard: i + 1, table: tableOf(i + 1), last: prefix, end: after(prefix),
				page: max(readRows/len(c.Before), 200),
			})
		}
	}
	return c.each(ctx, all, f)
}

// Payloads calls f with the rows of the table of payloads, in the order of their keys. f may keep the slices.
func (c Copies) Payloads(ctx context.Context, f func(key, value []byte) error) error {
	return c.each(ctx, []*cursor{{table: payloads, page: readRows}}, func(_ int, k, v []byte) error { return f(k, v) })
}

// each calls f with the rows at some cursors, in the order of their keys.
func (c Copies) each(ctx context.Context, all []*cursor, f func(shard int, key, value []byte) error) error {
	for {
		var first *cursor
		for _, next := range all {
			if err := next.fill(ctx, c.tx); err != nil {
				return err
			}
			if len(next.rows) > 0 && (first == nil || bytes.Compare(next.rows[0].Key, first.rows[0].Key) < 0) {
				first = next
			}
		}
		if first == nil {
			return nil
		}
		r := first.rows[0]
		first.rows = first.rows[1:]
		if err := f(first.shard, r.Key, r.Value); err != nil {
			return err
		}
	}
}

// Letters calls f with the values of the letters that wait for any shard.
func (c Copies) Letters(ctx context.Context, f func(value []byte) error) error {
	if len(c.Before) < 2 {
		return nil
	}
	rows, _ := c.tx.Query(ctx, `SELECT v FROM arcrawl.letter ORDER BY shard, sender, k`)
	var v []byte
	_, err := pgx.ForEachRow(rows, []any{&v}, func() error { return f(bytes.Clone(v)) })
	return err
}

// cursor reads the rows of a table in portions.
type cursor struct {
	shard     int
	table     string
	last, end []byte // all keys are larger than last and smaller than end; a nil end is no bound
	page      int    // rows that are read at once
	rows      []Row  // that were read
	done      bool   // there are no more
}

// fill reads the next rows, if there are none in memory.
func (c *cursor) fill(ctx context.Context, tx pgx.Tx) (err error) {
	if len(c.rows) > 0 || c.done {
		return nil
	}
	rows, _ := tx.Query(ctx, `SELECT k, v FROM `+c.table+` WHERE k > $1 AND ($2::bytea IS NULL OR k < $2) ORDER BY k LIMIT $3`,
		append([]byte{}, c.last...), c.end, c.page)
	c.rows, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (r Row, err error) {
		err = row.Scan(&r.Key, &r.Value)
		return r, err
	})
	if c.done = len(c.rows) < c.page; err == nil && len(c.rows) > 0 {
		c.last = c.rows[len(c.rows)-1].Key
	}
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
