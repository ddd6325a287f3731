package shared

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// readRows is the number of rows that are read at once.
const readRows = 5_000

// Rows calls ship with rows, in portions that fit into memory, and no key twice in one portion. It may be called again,
// and then has the same rows. It returns the error of ship.
type Rows func(ship func(portion []Row) error) error

// Ship writes changed rows, all or none. It may be repeated. It returns [ErrFenced] or [ErrOwner] if the node may not
// ship, and then nothing has changed.
func (s *Store) Ship(ctx context.Context, epoch int64, rows Rows) error {
	err := s.asOwner(ctx, epoch, func(tx pgx.Tx) error {
		return rows(func(portion []Row) error { return write(ctx, tx, s.shard, portion) })
	})
	return about(err, "ship rows as node %s", s.node)
}

// Clear removes what an earlier owner has shipped of its first store, before [Store.Ship] ships another one. Nobody
// else has payloads then. It may take minutes, and be repeated. It does not wait for those who read the tables, as a
// running pg_dump does.
func (s *Store) Clear(ctx context.Context, epoch int64) error {
	err := s.truncate(ctx, epoch)
	if isLocked(err) {
		err = errors.Join(s.clearByPortions(ctx, epoch, tableOf(s.shard)), s.clearByPortions(ctx, epoch, payloads))
	}
	return about(err, "remove the rows of an earlier owner as node %s", s.node)
}

// truncate removes all rows of this shard and all payloads at once, unless somebody reads them.
func (s *Store) truncate(ctx context.Context, epoch int64) error {
	return s.asOwner(ctx, epoch, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SET LOCAL lock_timeout = '1s'`); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `TRUNCATE `+tableOf(s.shard)+`, `+payloads)
		return err
	})
}

// isLocked reports whether a statement gave up because others used what it needs.
func isLocked(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "55P03"
}

// clearRows is the number of rows that are removed at once.
const clearRows = 20_000

// clearByPortions removes all rows of a table in short transactions.
func (s *Store) clearByPortions(ctx context.Context, epoch int64, table string) error {
	text := `DELETE FROM ` + table + ` WHERE k = ANY(ARRAY(
		SELECT k FROM ` + table + ` WHERE k >= $1 ORDER BY k LIMIT $2)) RETURNING k`
	last := []byte{}
	for {
		var removed [][]byte
		err := s.asOwner(ctx, epoch, func(tx pgx.Tx) (err error) {
			rows, _ := tx.Query(ctx, text, last, clearRows)
			removed, err = pgx.CollectRows(rows, pgx.RowTo[[]byte])
			return err
		})
		if err != nil || len(removed) == 0 {
			return err
		}
		last = slices.MaxFunc(removed, bytes.Compare) // the removed rows before it need not be looked at again
	}
}

// write writes some rows. No key of a table may be there twice.
func write(ctx context.Context, tx pgx.Tx, shard int, rows []Row) error {
	var keys, values, gone [Greatest + 1][][]byte
	for _, r := range rows {
		if r.Gone {
			gone[r.Of] = append(gone[r.Of], r.Key)
			continue
		}
		v := r.Value
		if v == nil {
			v = []byte{}
		}
		keys[r.Of], values[r.Of] = append(keys[r.Of], r.Key), append(values[r.Of], v)
	}
	for of, table := range [...]string{OfShard: tableOf(shard), Payload: payloads, Greatest: payloads} {
		if len(keys[of]) > 0 {
			text := `INSERT INTO ` + table + ` AS r (k, v) SELECT * FROM unnest($1::bytea[], $2::bytea[])
				ON CONFLICT (k) DO UPDATE SET v = excluded.v`
			if Table(of) == Greatest {
				text += ` WHERE excluded.v > r.v`
			}
			if _, err := tx.Exec(ctx, text, keys[of], values[of]); err != nil {
				return err
			}
		}
		if len(gone[of]) > 0 {
			if _, err := tx.Exec(ctx, `DELETE FROM `+table+` WHERE k = ANY($1::bytea[])`, gone[of]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Complete records that all rows of the owner's store are here.
func (s *Store) Complete(ctx context.Context, epoch int64) error {
	err := s.changeOwned(ctx, `UPDATE arcrawl.crawl SET whole = true WHERE id = $1 AND owner = $2 AND epoch = $3`,
		s.shard, s.node, epoch)
	return about(err, "complete the copy of node %s", s.node)
}

// Each calls f with each row, in the order of the keys. Only the owner may rely on it: nobody else writes then.
func (s *Store) Each(ctx context.Context, f func(key, value []byte) error) error {
	last := []byte{}
	text := `SELECT k, v FROM ` + tableOf(s.shard) + ` WHERE k > $1 ORDER BY k LIMIT $2`
	for n := readRows; n == readRows; {
		page, err := listOf[struct{ Key, Value []byte }](ctx, s.pool, text, last, readRows)
		for _, r := range page { // f may take longer than a statement
			if err = f(r.Key, r.Value); err != nil {
				break
			}
			last = r.Key
		}
		if n = len(page); err != nil {
			return about(err, "read the rows of the crawl")
		}
	}
	return nil
}
