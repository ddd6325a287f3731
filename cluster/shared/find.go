package shared

import (
	"bytes"
	"context"

	"github.com/jackc/pgx/v5"
)

// Payloads returns the values of keys in the table of payloads, with one question. A value is nil if the key is not
// there.
func (s *Store) Payloads(ctx context.Context, keys ...[]byte) (values [][]byte, err error) {
	// The limit keeps the database from reading the whole table instead.
	rows, _ := s.finds.Query(ctx, `SELECT u.n, p.v FROM unnest($1::bytea[]) WITH ORDINALITY AS u (k, n)
		CROSS JOIN LATERAL (SELECT v FROM arcrawl.payload WHERE k = u.k LIMIT 1) AS p`, keys)
	values = make([][]byte, len(keys))
	var n int
	var v []byte
	_, err = pgx.ForEachRow(rows, []any{&n, &v}, func() error { values[n-1] = bytes.Clone(v); return nil })
	return values, about(err, "look for %d payloads", len(keys))
}

// Loss is a word of an operator about a WARC file, which holds for all nodes.
type Loss struct {
	File  string
	Is    string // "lost", "moved" or "found"
	Order int64  // later words have larger numbers
}

// Lose stores a word of an operator about WARC files, for all nodes. The last word about a file counts.
func (s *Store) Lose(ctx context.Context, files []string, is string) error {
	err := s.inTransaction(ctx, func(tx pgx.Tx) error {
		// The row without a file is a lock. Words get their numbers one after the other, so that a node that has read one
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

// Losses returns the words of operators about WARC files after a number. They are in order, at most maxLosses and the
// rest of the last number.
func (s *Store) Losses(ctx context.Context, after int64) ([]Loss, error) {
	const text = `SELECT file, state, change FROM arcrawl.lost WHERE change > $1 AND change <= (SELECT max(change)
		FROM (SELECT change FROM arcrawl.lost WHERE change > $1 ORDER BY change LIMIT $2) AS first) ORDER BY change`
	list, err := listOf[Loss](ctx, s.looks, text, after, maxLosses)
	return list, about(err, "read which WARC files are lost")
}
