package shared

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Letter carries something to the owner of a part. A row of the table [Letters] sends it; such a row that is Gone
// removes it.
type Letter struct {
	Part       int16 // that it is for
	Key, Value []byte
}

// Letters returns up to n letters to some parts. They stay until they are removed.
func (s *Store) Letters(ctx context.Context, parts []int16, n int) ([]Letter, error) {
	const text = `SELECT part, k, v FROM arcrawl.letter WHERE part = ANY($1::smallint[]) LIMIT $2`
	list, err := listOf[Letter](ctx, s.pool, text, parts, n)
	return list, about(err, "read the letters of other nodes")
}

// Full returns the parts for which n letters wait, or more.
func (s *Store) Full(ctx context.Context, n int) (map[int16]bool, error) {
	list, err := columnOf[int16](ctx, s.pool, `SELECT p.id FROM arcrawl.part p WHERE EXISTS
		(SELECT 1 FROM arcrawl.letter l WHERE l.part = p.id LIMIT 1 OFFSET $1::int - 1)`, n)
	full := map[int16]bool{}
	for _, part := range list {
		full[part] = true
	}
	return full, about(err, "count the letters that wait")
}

// maxAside is the number of damaged letters, and of damaged rows, that are kept for somebody who looks for the cause.
const maxAside = 10_000

// What the table of damaged letters and rows has.
const (
	asideRows    = 0
	asideLetters = 1
)

// keepAside keeps damaged rows, or letters, in a table of their own, unless maxAside of them are there. If another
// value of a key is there, the key is followed by the digest of the value.
const keepAside = `INSERT INTO arcrawl.aside (part, of, k, v)
	SELECT u.part, $1, CASE WHEN EXISTS (SELECT 1 FROM arcrawl.aside a
			WHERE a.part = u.part AND a.of = $1 AND a.k = u.k AND a.v <> u.v) THEN u.longer ELSE u.k END, u.v
		FROM unnest($2::smallint[], $3::bytea[], $4::bytea[], $5::bytea[]) AS u (part, k, longer, v)
		WHERE (SELECT count(*) FROM arcrawl.aside a WHERE a.of = $1) + $6 <= $7
	ON CONFLICT DO NOTHING`

// SetAside removes letters that cannot be read, and keeps the first ones in a table of their own.
func (s *Store) SetAside(ctx context.Context, letters []Letter) error {
	var c columns
	for _, l := range letters {
		c.add(l.Part, l.Key, l.Value)
	}
	err := s.setAside(ctx, asideLetters, c, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockLetters, c.parts, c.keys); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, removeLetters, c.parts, c.keys, c.values)
		return err
	})
	return about(err, "set %d damaged letters aside", len(letters))
}

// SetRowsAside removes damaged rows, and keeps the first ones in the table of the damaged letters.
func (s *Store) SetRowsAside(ctx context.Context, damaged []Row) error {
	var c columns
	for _, r := range damaged {
		c.add(r.Part, r.Key, r.Value)
	}
	err := s.setAside(ctx, asideRows, c, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, removeRows, c.parts, c.keys)
		return err
	})
	return about(err, "set %d damaged rows aside", len(damaged))
}

// setAside keeps damaged rows or letters, if there is room for all of them, and removes them.
func (s *Store) setAside(ctx context.Context, of int16, c columns, remove func(pgx.Tx) error) error {
	longer := make([][]byte, len(c.keys))
	for i, k := range c.keys {
		sum := sha256.Sum256(c.values[i])
		longer[i] = append(slices.Clone(k), sum[:]...)
	}
	return s.alone(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, keepAside, of, c.parts, c.keys, longer, c.values, len(c.keys), maxAside); err != nil {
			return err
		}
		return remove(tx)
	})
}
