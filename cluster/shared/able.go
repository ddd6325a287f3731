package shared

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// abilities holds what PostgreSQL can do and other engines may not. A crawl does not need it. It is asked once for each
// [Store], and once for each command.
type abilities struct {
	sizes    bool  // without it the report says that sizes are not known
	replicas bool  // without it nobody warns that there is none
	sessions bool  // without it a fence waits until the engine ends a session that stands still
	bytes    int64 // of the rows of the crawl; 0 = it does not tell
	latest   bool  // a statement sees what was committed before; without it a lock is a write, which leaves old versions
}

// The statements that need an ability, and change nothing. An engine that copies each row by itself has no setting for
// standbys.
const (
	needsReplicas = `SHOW synchronous_standby_names`
	needsSessions = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity JOIN pg_locks USING (pid) WHERE false`
)

// ask asks for the abilities of the engine.
func ask(ctx context.Context, q querier) (able abilities, err error) {
	for text, is := range map[string]*bool{
		size: &able.sizes, needsReplicas: &able.replicas, needsSessions: &able.sessions,
	} {
		rows, _ := q.Query(ctx, text) // the rows have its error
		rows.Close()
		if *is = rows.Err() == nil; !*is && !isRefused(rows.Err()) {
			return able, rows.Err()
		}
	}
	if able.sizes {
		if err := q.QueryRow(ctx, rowsSize).Scan(&able.bytes); err != nil {
			return able, err
		}
	}
	var isolation string
	err = q.QueryRow(ctx, `SHOW transaction_isolation`).Scan(&isolation)
	able.latest = isolation == "read committed"
	return able, err
}

// isRefused reports whether the database has answered that it does not do something.
func isRefused(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && !IsUnreachable(err)
}

// errNoLocks says that two transactions could change one row at the same time.
var errNoLocks = errors.New("this engine does not let a transaction wait for another one that has locked a row, " +
	"so a cluster cannot use it: see docs/cluster.md")

// tryLock makes sure that a row that one transaction has written keeps another one waiting.
func (s *Store) tryLock(ctx context.Context) error {
	const write = `UPDATE arcrawl.part SET clean = true WHERE id = 0`
	return s.inTransaction(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, write); err != nil {
			return err
		}
		second := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `SET LOCAL lock_timeout = '100ms'`)
			if err == nil {
				_, err = tx.Exec(ctx, write)
			}
			return err
		})
		switch {
		case second == nil:
			return errNoLocks
		case isLocked(second) || isUnordered(second):
			return nil
		}
		return about(second, "find out whether this engine locks rows")
	})
}
