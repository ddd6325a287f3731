package shared

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Row is a row of a store. Its key and its value are bytes that only the store understands.
type Row struct {
	Part       int16 // that its host belongs to
	Key, Value []byte
	Gone       bool // the row was removed; a letter is removed if it still has this value
	Begins     bool // all rows of the part were removed whose keys begin with Key
	Of         Table
}

// Table is the table of a row.
type Table uint8

// The tables.
const (
	OfPart   Table = iota
	Payload        // the last value of a key stays; none is removed
	Greatest       // of payloads; the greatest value of a key stays
	Letters        // to the owner of a part; the last value of a key stays
)

// Rows calls ship with rows, in portions that fit into memory, and no key twice in one portion. It may be called again,
// and then has the same rows. It returns the error of ship.
type Rows func(ship func(portion []Row) error) error

// All returns rows that are all in memory.
func All(rows ...Row) Rows {
	return func(ship func([]Row) error) error { return ship(rows) }
}

// Ship writes changed rows, all or none. It may be repeated. It returns [ErrFenced] if the node may not ship, and then
// nothing has changed. It does not ask who owns the parts: ship only what this node owns, and letters.
func (s *Store) Ship(ctx context.Context, all Rows) error {
	err := s.alone(ctx, func(tx pgx.Tx) error {
		return all(func(portion []Row) error { return write(ctx, tx, portion) })
	})
	return about(err, "ship rows as node %s", s.node)
}

// columns holds rows of a table as its columns.
type columns struct {
	parts        []int16
	keys, values [][]byte
}

func (c *columns) add(part int16, key, value []byte) {
	if value == nil {
		value = []byte{} // not NULL
	}
	c.parts, c.keys, c.values = append(c.parts, part), append(c.keys, key), append(c.values, value)
}

// put writes rows of each table.
var put = [...]string{
	OfPart: `INSERT INTO ` + rows + ` (part, k, v) SELECT * FROM unnest($1::smallint[], $2::bytea[], $3::bytea[])
		ON CONFLICT (part, k) DO UPDATE SET v = excluded.v`,
	Payload:  putPayloads,
	Greatest: putPayloads + ` WHERE excluded.v > r.v`,
	Letters: `INSERT INTO arcrawl.letter (part, k, v) SELECT * FROM unnest($1::smallint[], $2::bytea[], $3::bytea[])
		ON CONFLICT (part, k) DO UPDATE SET v = excluded.v`,
}

const putPayloads = `INSERT INTO ` + payloads + ` AS r (k, v)
	SELECT k, v FROM unnest($1::smallint[], $2::bytea[], $3::bytea[]) AS u (part, k, v)
	ON CONFLICT (k) DO UPDATE SET v = excluded.v`

const (
	removeRows = `DELETE FROM ` + rows + ` r USING unnest($1::smallint[], $2::bytea[]) AS u (part, k)
		WHERE r.part = u.part AND r.k = u.k`
	// removeLetters removes letters unless they have changed.
	removeLetters = `DELETE FROM arcrawl.letter l USING unnest($1::smallint[], $2::bytea[], $3::bytea[]) AS u (part, k, v)
		WHERE l.part = u.part AND l.k = u.k AND l.v = u.v`
	// lockLetters locks letters in one order for all nodes: one that writes some and removes others, and another that
	// does the opposite, would wait for each other.
	lockLetters = `SELECT 1 FROM arcrawl.letter l JOIN unnest($1::smallint[], $2::bytea[]) AS u (part, k)
		ON l.part = u.part AND l.k = u.k ORDER BY l.part, l.k FOR UPDATE OF l`
	removeBegins = `DELETE FROM ` + rows + ` WHERE part = $1 AND k >= $2 AND ($3::bytea IS NULL OR k < $3)`
)

// write writes some rows. No key of a table may be there twice.
func write(ctx context.Context, tx pgx.Tx, list []Row) error {
	var set, gone [Letters + 1]columns
	var letters columns
	// Other nodes may write the same payloads and letters, and lock them in the same order.
	for _, r := range slices.SortedFunc(slices.Values(list), inOrder) {
		if r.Begins {
			if _, err := tx.Exec(ctx, removeBegins, r.Part, r.Key, after(r.Key)); err != nil {
				return err
			}
			continue
		}
		if r.Of == Letters {
			letters.add(r.Part, r.Key, nil)
		}
		if r.Gone {
			gone[r.Of].add(r.Part, r.Key, r.Value)
		} else {
			set[r.Of].add(r.Part, r.Key, r.Value)
		}
	}
	if len(letters.keys) > 0 {
		if _, err := tx.Exec(ctx, lockLetters, letters.parts, letters.keys); err != nil {
			return err
		}
	}
	for of, c := range set {
		if len(c.keys) > 0 {
			if _, err := tx.Exec(ctx, put[of], c.parts, c.keys, c.values); err != nil {
				return err
			}
		}
	}
	if c := gone[OfPart]; len(c.keys) > 0 {
		if _, err := tx.Exec(ctx, removeRows, c.parts, c.keys); err != nil {
			return err
		}
	}
	if c := gone[Letters]; len(c.keys) > 0 {
		if _, err := tx.Exec(ctx, removeLetters, c.parts, c.keys, c.values); err != nil {
			return err
		}
	}
	return nil
}

func inOrder(a, b Row) int { return cmp.Or(cmp.Compare(a.Part, b.Part), bytes.Compare(a.Key, b.Key)) }

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

// Each calls f with each row of some parts, part by part and in the order of the keys. Only the owner may rely on it:
// nobody else writes then. f may keep the slices.
func (s *Store) Each(ctx context.Context, parts []int16, f func(part int16, key, value []byte) error) error {
	return about(eachOf(ctx, s.pool, parts, f), "read the rows of the crawl")
}

// OwnRows calls f with the rows of all nodes, also of removed ones, that are about no host. It has them by the numbers
// of the nodes, and in the order of the keys. f may keep the slices.
func (s *Store) OwnRows(ctx context.Context, f func(number int, key, value []byte) error) error {
	return about(eachOwn(ctx, s.pool, f), "read the rows of the crawl that are about no host")
}

func eachOf(ctx context.Context, q querier, parts []int16, f func(part int16, key, value []byte) error) error {
	for _, part := range parts {
		if err := eachRow(ctx, q, ofPart, func(k, v []byte) error { return f(part, k, v) }, part); err != nil {
			return err
		}
	}
	return nil
}

func eachOwn(ctx context.Context, q querier, f func(number int, key, value []byte) error) error {
	own, err := ownParts(ctx, q)
	if err != nil {
		return err
	}
	return eachOf(ctx, q, own, func(part int16, k, v []byte) error { return f(-int(part), k, v) })
}

// ownParts returns what [OwnPart] returns for the nodes that have rows.
func ownParts(ctx context.Context, q querier) ([]int16, error) {
	return columnOf[int16](ctx, q, `SELECT DISTINCT part FROM `+rows+` WHERE part < 0 ORDER BY part DESC`)
}

// readRows is the number of rows that are read at once.
const readRows = 5_000

// What eachRow reads: the rows of a part, the letters to it, or the payloads.
const (
	ofPart     = rows + ` WHERE part = $3 AND`
	ofLetters  = `arcrawl.letter WHERE part = $3 AND`
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

// Read returns the value of a key in a part of the crawl; nil if there is none.
func (s *Store) Read(ctx context.Context, part int16, key []byte) (value []byte, err error) {
	err = s.looks.QueryRow(ctx, `SELECT v FROM `+rows+` WHERE part = $1 AND k = $2`, part, key).Scan(&value)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return value, about(err, "read a row of another node")
}
