package shared

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/jackc/pgx/v5"
)

// maxAside is the number of damaged letters, and of damaged rows, that are kept for somebody who looks for the cause.
const maxAside = 10_000

// keepAside keeps damaged rows, or letters, in a table of their own, unless maxAside of them are there. The sender 0
// stands for rows. If another value of a key is there, the key is followed by the digest of the value.
const keepAside = `INSERT INTO arcrawl.aside (shard, sender, k, v)
	SELECT $1, u.sender, CASE WHEN EXISTS (SELECT 1 FROM arcrawl.aside a
			WHERE a.shard = $1 AND a.sender = u.sender AND a.k = u.k AND a.v <> u.v) THEN u.longer ELSE u.k END, u.v
		FROM unnest($2::int[], $3::bytea[], $4::bytea[], $5::bytea[]) AS u (sender, k, longer, v)
		WHERE (SELECT count(*) FROM arcrawl.aside a WHERE (a.sender = 0) = (($2::int[])[1] = 0)) + $6 <= $7
	ON CONFLICT DO NOTHING`

// keep keeps damaged rows and letters of this shard, if there is room for all of them.
func (s *Store) keep(ctx context.Context, tx pgx.Tx, senders []int32, keys, values [][]byte) error {
	longer := make([][]byte, len(keys))
	for i, k := range keys {
		sum := sha256.Sum256(values[i])
		longer[i] = append(slices.Clone(k), sum[:]...)
	}
	_, err := tx.Exec(ctx, keepAside, s.shard, senders, keys, longer, values, len(keys), maxAside)
	return err
}

// SetAside removes letters to this shard that cannot be read, and keeps the first ones in a table of their own.
func (s *Store) SetAside(ctx context.Context, epoch int64, letters []Letter) error {
	from, keys, values := columns(letters, func(l Letter) int { return l.Sender })
	err := s.asOwner(ctx, epoch, func(tx pgx.Tx) error {
		if err := s.keep(ctx, tx, from, keys, values); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, removeLetters, from, keys, values, s.shard)
		return err
	})
	return about(err, "set %d damaged letters aside", len(letters))
}

// SetRowsAside removes damaged rows of this shard, and keeps the first ones in the table of the damaged letters.
func (s *Store) SetRowsAside(ctx context.Context, epoch int64, damaged []Row) error {
	var parts []int16
	var keys, values [][]byte
	for _, r := range damaged {
		parts, keys, values = append(parts, r.Part), append(keys, r.Key), append(values, r.Value)
	}
	err := s.asOwner(ctx, epoch, func(tx pgx.Tx) error {
		if err := s.keep(ctx, tx, make([]int32, len(keys)), keys, values); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, removeRows, parts, keys)
		return err
	})
	return about(err, "set %d damaged rows aside", len(damaged))
}
