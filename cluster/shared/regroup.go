package shared

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// Regroup moves the rows of hosts to other parts, because the politeness groups have changed. partOf returns the part
// of a row; ok is false if it belongs to no host. It returns [ErrGroups] if another node owns a part. It may take
// minutes, and changes all or nothing. Local copies of the crawl are outdated then: all parts get a new epoch. Letters
// stay where they are.
func (s *Store) Regroup(
	ctx context.Context, groups string, partOf func(key, value []byte) (part int16, ok bool),
) (moved int, err error) {
	err = s.alone(ctx, func(tx pgx.Tx) error {
		moved = 0
		const long = `SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0`
		if _, err := tx.Exec(ctx, long); err != nil {
			return err
		}
		all, err := lockOwners(ctx, tx)
		if err != nil || all.groups == groups {
			return err
		}
		if err := s.whyOtherGroups(ctx, tx); !errors.Is(err, ErrRegroup) {
			return err
		}
		for part := range int16(Parts) {
			n, err := regroupPart(ctx, tx, part, partOf)
			if moved += n; err != nil {
				return err
			}
		}
		all.moves, all.groups = all.moves+1, groups
		if _, err := tx.Exec(ctx, `UPDATE arcrawl.part SET epoch = $1`, all.moves); err != nil {
			return err
		}
		return all.write(ctx, tx)
	})
	return moved, about(err, "move hosts to the parts of their groups as node %s", s.node)
}

// regroupPart moves the rows of a part that belong to other parts. What is there already stays.
func regroupPart(
	ctx context.Context, tx pgx.Tx, part int16, partOf func(key, value []byte) (part int16, ok bool),
) (moved int, err error) {
	var to []int16
	var keys [][]byte
	err = eachRow(ctx, tx, ofPart, func(k, v []byte) error {
		if is, ok := partOf(k, v); ok && is != part {
			to, keys = append(to, is), append(keys, k)
		}
		return nil
	}, part)
	for i := 0; i < len(keys) && err == nil; i += readRows {
		end := min(i+readRows, len(keys))
		if _, err = tx.Exec(ctx, `INSERT INTO `+rows+` (part, k, v)
			SELECT u.part, r.k, r.v FROM `+rows+` r JOIN unnest($2::smallint[], $3::bytea[]) AS u (part, k) ON r.k = u.k
			WHERE r.part = $1 ON CONFLICT DO NOTHING`, part, to[i:end], keys[i:end]); err == nil {
			_, err = tx.Exec(ctx, `DELETE FROM `+rows+` WHERE part = $1 AND k = ANY($2)`, part, keys[i:end])
		}
	}
	return len(keys), err
}
