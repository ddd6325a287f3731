package shared

import (
	"bytes"
	"context"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Clear removes what an earlier owner has shipped of its first store, before [Store.Ship] ships another one: rows,
// payloads and letters. It returns [ErrOwner] unless this node owns all parts and the database has no whole copy. It
// may take minutes, and be repeated. It does not wait for those who read the tables, as a running pg_dump does.
func (s *Store) Clear(ctx context.Context) error {
	err := s.clearing(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SET LOCAL lock_timeout = '1s'`); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `TRUNCATE `+rows+`, `+payloads+`, arcrawl.letter`)
		return err
	})
	if isRefused(err) || isLocked(err) {
		err = s.clearByPortions(ctx)
	}
	return about(err, "remove the rows of an earlier owner as node %s", s.node)
}

// clearing calls do in a transaction, and commits, if this node owns a crawl of which there is no whole copy.
func (s *Store) clearing(ctx context.Context, do func(pgx.Tx) error) error {
	return s.alone(ctx, func(tx pgx.Tx) error {
		all, err := s.ownAll(ctx, tx)
		if err != nil {
			return err
		}
		if all.whole {
			return ErrOwner
		}
		return do(tx)
	})
}

// clearRows is the number of rows that are removed at once.
const clearRows = 20_000

// clearByPortions removes all rows, payloads and letters in short transactions.
func (s *Store) clearByPortions(ctx context.Context) error {
	if err := s.clearFrom(ctx, ofPayloads); err != nil {
		return err
	}
	for table, of := range map[string]string{rows: ofPart, "arcrawl.letter": ofLetters} {
		for part := math.MinInt16; part < Parts; part++ {
			next := `SELECT coalesce(min(part), $2::int) FROM ` + table + ` WHERE part >= $1::int` // that has something
			err := s.pool.QueryRow(ctx, next, part, Parts).Scan(&part)
			if err == nil && part < Parts {
				err = s.clearFrom(ctx, of, part)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// clearFrom removes the rows that eachRow would read.
func (s *Store) clearFrom(ctx context.Context, from string, args ...any) error {
	text := `DELETE FROM ` + from + ` k = ANY(ARRAY(SELECT k FROM ` + from + ` k >= $1 ORDER BY k LIMIT $2)) RETURNING k`
	last := []byte{}
	for {
		var removed [][]byte
		err := s.clearing(ctx, func(tx pgx.Tx) (err error) {
			removed, err = columnOf[[]byte](ctx, tx, text, append([]any{last, clearRows}, args...)...)
			return err
		})
		if err != nil || len(removed) < clearRows {
			return err
		}
		last = slices.MaxFunc(removed, bytes.Compare) // the removed rows before it need not be looked at again
	}
}
