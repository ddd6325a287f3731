package shared

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Find returns the value of a key in the first of the other shards that has it, after the number of that shard in two
// bytes; nil if none has it.
func (s *Store) Find(ctx context.Context, key []byte) ([]byte, error) {
	var parts []string
	for shard := 1; shard <= s.shards; shard++ {
		if shard != s.shard {
			parts = append(parts, fmt.Sprintf("(SELECT %d, v FROM %s WHERE k = $1)", shard, tableOf(shard)))
		}
	}
	if len(parts) == 0 {
		return nil, nil
	}
	var shard uint16
	var value []byte
	err := s.looks.QueryRow(ctx, strings.Join(parts, " UNION ALL ")+" LIMIT 1", key).Scan(&shard, &value)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, about(err, "look for a row in the other shards")
	}
	return append(binary.BigEndian.AppendUint16(nil, shard), value...), nil
}

// Loss is a word of an operator about a WARC file, which holds for all shards.
type Loss struct {
	File  string
	Is    string // "lost", "moved" or "found"
	Order int64  // later words have larger numbers
}

// Lose stores a word of an operator about WARC files, for all nodes. The last word about a file counts.
func (s *Store) Lose(ctx context.Context, files []string, is string) error {
	err := s.inTransaction(ctx, func(tx pgx.Tx) error {
		// The row without a file is a lock. Words get their numbers one after the other, so that a shard that has read one
		// has read all before it.
		const lock = `INSERT INTO arcrawl.lost (file, state, change) VALUES ('', 'found', 0)
			ON CONFLICT (file) DO UPDATE SET state = excluded.state`
		if _, err := tx.Exec(ctx, lock); err != nil {
			return err
		}
		const text = `INSERT INTO arcrawl.lost (file, state, change)
			SELECT u.file, $2, (SELECT coalesce(max(change), 0) + 1 FROM arcrawl.lost) FROM unnest($1::text[]) AS u (file)
			ON CONFLICT (file) DO UPDATE SET state = excluded.state, change = excluded.change`
		_, err := tx.Exec(ctx, text, files, is)
		return err
	})
	return about(err, "let all nodes know of %d WARC files", len(files))
}

// maxLosses is the maximum number of words that are read at once.
const maxLosses = 10_000

// Losses returns the words of operators about WARC files after a number, unless this shard has taken them over. They
// are in order, at most maxLosses and the rest of the last number.
func (s *Store) Losses(ctx context.Context, after int64) ([]Loss, error) {
	const text = `SELECT file, state, change FROM arcrawl.lost WHERE
		change > greatest($1, (SELECT coalesce(max(change), 0) FROM arcrawl.aware WHERE shard = $3)) ORDER BY change
		FETCH FIRST $2 ROWS WITH TIES`
	list, err := listOf[Loss](ctx, s.looks, text, after, maxLosses, s.shard)
	return list, about(err, "read which WARC files are lost")
}

// NoteLosses stores that this shard has taken over the words of operators up to a number.
func (s *Store) NoteLosses(ctx context.Context, epoch, last int64) error {
	err := s.change(ctx, epoch, `INSERT INTO arcrawl.aware (shard, change) VALUES ($1, $2)
		ON CONFLICT (shard) DO UPDATE SET change = excluded.change`, s.shard, last)
	return about(err, "note which lost WARC files shard %d knows", s.shard)
}
