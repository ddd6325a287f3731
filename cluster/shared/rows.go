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
func (s *Store) Ship(ctx context.Context, epoch int64, all Rows) error {
	err := s.asOwner(ctx, epoch, func(tx pgx.Tx) error {
		return all(func(portion []Row) error { return write(ctx, tx, portion) })
	})
	return about(err, "ship rows as node %s", s.node)
}

// Clear removes what an earlier owner has shipped of its first store, before [Store.Ship] ships another one. Nobody
// else has rows then. It may take minutes, and be repeated. It does not wait for those who read the tables, as a
// running pg_dump does.
func (s *Store) Clear(ctx context.Context, epoch int64) error {
	err := s.truncate(ctx, epoch)
	if isLocked(err) {
		if err = s.clearByPortions(ctx, epoch, ofPayloads); err == nil {
			err = s.clearParts(ctx, epoch)
		}
	}
	return about(err, "remove the rows of an earlier owner as node %s", s.node)
}

// truncate removes all rows and all payloads at once, unless somebody reads them.
func (s *Store) truncate(ctx context.Context, epoch int64) error {
	return s.asOwner(ctx, epoch, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SET LOCAL lock_timeout = '1s'`); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `TRUNCATE `+rows+`, `+payloads)
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

// clearParts removes all rows that are not payloads in short transactions.
func (s *Store) clearParts(ctx context.Context, epoch int64) error {
	all, _ := s.pool.Query(ctx, `SELECT DISTINCT part FROM `+rows)
	parts, err := pgx.CollectRows(all, pgx.RowTo[int16])
	for _, part := range parts {
		err = errors.Join(err, s.clearByPortions(ctx, epoch, ofPart, part))
	}
	return err
}

// clearByPortions removes rows in short transactions.
func (s *Store) clearByPortions(ctx context.Context, epoch int64, from string, args ...any) error {
	text := `DELETE FROM ` + from + ` k = ANY(ARRAY(SELECT k FROM ` + from + ` k >= $1 ORDER BY k LIMIT $2)) RETURNING k`
	last := []byte{}
	for {
		var removed [][]byte
		err := s.asOwner(ctx, epoch, func(tx pgx.Tx) (err error) {
			gone, _ := tx.Query(ctx, text, append([]any{last, clearRows}, args...)...)
			removed, err = pgx.CollectRows(gone, pgx.RowTo[[]byte])
			return err
		})
		if err != nil || len(removed) == 0 {
			return err
		}
		last = slices.MaxFunc(removed, bytes.Compare) // the removed rows before it need not be looked at again
	}
}

// write writes some rows. No key of a table may be there twice.
func write(ctx context.Context, tx pgx.Tx, list []Row) error {
	var parts [Greatest + 1][]int16
	var keys, values [Greatest + 1][][]byte
	var goneParts []int16
	var gone [][]byte
	for _, r := range list {
		switch {
		case r.Begins:
			const text = `DELETE FROM ` + rows + ` WHERE part = $1 AND k >= $2 AND k < $3`
			if _, err := tx.Exec(ctx, text, r.Part, r.Key, after(r.Key)); err != nil {
				return err
			}
		case r.Gone:
			goneParts, gone = append(goneParts, r.Part), append(gone, r.Key)
		default:
			v := r.Value
			if v == nil {
				v = []byte{}
			}
			keys[r.Of], values[r.Of] = append(keys[r.Of], r.Key), append(values[r.Of], v)
			parts[r.Of] = append(parts[r.Of], r.Part)
		}
	}
	if len(keys[OfPart]) > 0 {
		const text = `INSERT INTO ` + rows + ` (part, k, v) SELECT * FROM unnest($1::smallint[], $2::bytea[], $3::bytea[])
			ON CONFLICT (part, k) DO UPDATE SET v = excluded.v`
		if _, err := tx.Exec(ctx, text, parts[OfPart], keys[OfPart], values[OfPart]); err != nil {
			return err
		}
	}
	for of, which := range [...]string{Payload: ``, Greatest: ` WHERE excluded.v > r.v`} {
		if Table(of) != OfPart && len(keys[of]) > 0 {
			text := `INSERT INTO ` + payloads + ` AS r (k, v) SELECT * FROM unnest($1::bytea[], $2::bytea[])
				ON CONFLICT (k) DO UPDATE SET v = excluded.v` + which
			if _, err := tx.Exec(ctx, text, keys[of], values[of]); err != nil {
				return err
			}
		}
	}
	if len(gone) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, removeRows, goneParts, gone)
	return err
}

// removeRows removes rows.
const removeRows = `DELETE FROM ` + rows + ` r USING unnest($1::smallint[], $2::bytea[]) AS u (part, k)
	WHERE r.part = u.part AND r.k = u.k`

// Complete records that all rows of the owner's store are here.
func (s *Store) Complete(ctx context.Context, epoch int64) error {
	err := s.changeOwned(ctx, `UPDATE arcrawl.crawl SET whole = true WHERE id = $1 AND owner = $2 AND epoch = $3`,
		s.shard, s.node, epoch)
	return about(err, "complete the copy of node %s", s.node)
}

// Each calls f with each row of this shard, by parts and in the order of the keys. Only the owner may rely on it:
// nobody else writes then.
func (s *Store) Each(ctx context.Context, f func(part int16, key, value []byte) error) error {
	for _, part := range append(PartsOf(s.shard, s.shards), OwnPart(s.shard)) {
		err := eachRow(ctx, s.pool, ofPart, func(k, v []byte) error { return f(part, k, v) }, part)
		if err != nil {
			return about(err, "read the rows of the crawl")
		}
	}
	return nil
}

// What eachRow reads: the rows of a part, or the payloads.
const (
	ofPart     = rows + ` WHERE part = $3 AND`
	ofPayloads = payloads + ` WHERE`
)

// eachRow calls f with rows in the order of their keys. It reads them in portions, because f may take longer than a
// statement. f may keep the slices.
func eachRow(ctx context.Context, q querier, from string, f func(key, value []byte) error, args ...any) error {
	last := []byte{}
	for n := readRows; n == readRows; {
		text := `SELECT k, v FROM ` + from + ` k > $1 ORDER BY k LIMIT $2`
		page, err := listOf[struct{ Key, Value []byte }](ctx, q, text, append([]any{last, readRows}, args...)...)
		for _, r := range page {
			if err = f(r.Key, r.Value); err != nil {
				break
			}
			last = r.Key
		}
		if n = len(page); err != nil {
			return err
		}
	}
	return nil
}
