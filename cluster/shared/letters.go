package shared

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// Letter carries something to the owner of another shard.
type Letter struct {
	Sender     int // shard
	Shard      int // that it is for
	Key, Value []byte
}

// columns returns letters as the columns of a table, with one of their shards.
func columns(letters []Letter, of func(Letter) int) (shards []int32, keys, values [][]byte) {
	for _, l := range letters {
		shards, keys, values = append(shards, int32(of(l))), append(keys, l.Key), append(values, l.Value)
	}
	return shards, keys, values
}

// Send stores letters to other shards. A letter replaces an earlier one of this shard with the same key.
func (s *Store) Send(ctx context.Context, epoch int64, letters []Letter) error {
	to, keys, values := columns(letters, func(l Letter) int { return l.Shard })
	err := s.change(ctx, epoch, `INSERT INTO arcrawl.letter (shard, sender, k, v)
		SELECT u.shard, $4, u.k, u.v FROM unnest($1::int[], $2::bytea[], $3::bytea[]) AS u (shard, k, v)
		ON CONFLICT (shard, sender, k) DO UPDATE SET v = excluded.v`, to, keys, values, s.shard)
	return about(err, "send %d letters to other shards", len(letters))
}

// Letters returns up to n letters to this shard. They stay until [Store.Taken].
func (s *Store) Letters(ctx context.Context, n int) ([]Letter, error) {
	const text = `SELECT sender, shard, k, v FROM arcrawl.letter WHERE shard = $1 ORDER BY sender, k LIMIT $2`
	list, err := listOf[Letter](ctx, s.pool, text, s.shard, n)
	return list, about(err, "read the letters of other shards")
}

// Taken removes letters whose contents are in the copy of this shard, unless they have changed since they were read.
func (s *Store) Taken(ctx context.Context, epoch int64, letters []Letter) error {
	from, keys, values := columns(letters, func(l Letter) int { return l.Sender })
	err := s.change(ctx, epoch, removeLetters, from, keys, values, s.shard)
	return about(err, "remove %d letters that were taken", len(letters))
}

// removeLetters removes letters to a shard unless they have changed.
const removeLetters = `DELETE FROM arcrawl.letter l USING unnest($1::int[], $2::bytea[], $3::bytea[]) AS u (sender, k, v)
	WHERE l.shard = $4 AND l.sender = u.sender AND l.k = u.k AND l.v = u.v`

// Full returns the shards for which n letters wait, or more.
func (s *Store) Full(ctx context.Context, n int) (map[int]bool, error) {
	rows, _ := s.pool.Query(ctx, `SELECT c.id FROM arcrawl.crawl c WHERE
		(SELECT count(*) FROM (SELECT 1 FROM arcrawl.letter l WHERE l.shard = c.id LIMIT $1) AS first) >= $1`, n)
	full := map[int]bool{}
	var shard int
	_, err := pgx.ForEachRow(rows, []any{&shard}, func() error { full[shard] = true; return nil })
	return full, about(err, "count the letters that wait")
}

// Read returns the value of a key in a part of the crawl; nil if there is none.
func (s *Store) Read(ctx context.Context, part int16, key []byte) (value []byte, err error) {
	err = s.looks.QueryRow(ctx, `SELECT v FROM `+rows+` WHERE part = $1 AND k = $2`, part, key).Scan(&value)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return value, about(err, "read a row of another shard")
}
