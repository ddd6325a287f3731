package shared

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The errors that say why a node may not continue.
var (
	ErrFenced  = errors.New("another node has fenced this one, or a process with the same name has started")
	ErrOwner   = errors.New("this node does not own the whole crawl, or other nodes may own it too")
	ErrVersion = errors.New("unknown version of the tables")
	ErrRegroup = errors.New("politeness.group has changed, and the parts of hosts with it")
	ErrGroups  = errors.New("politeness.group is not the same here as at the nodes that crawl now: give all nodes the same " +
		"configuration, and change groups while all nodes are stopped")
)

// Store is a connection to the database, for one node. A process has one.
type Store struct {
	pool  *pgxpool.Pool // for shipments, for letters, and to load parts
	beats *pgxpool.Pool // for beats alone, so that nothing delays them
	looks *pgxpool.Pool // for rows of parts of other nodes
	finds *pgxpool.Pool // for payloads

	crawl       string // name of the crawl in this database, made at random
	node        string
	number      int // of the node
	incarnation int64
	able        abilities

	door  atomic.Pointer[Door]   // that this node has opened, until a beat has noted it
	unfit atomic.Pointer[string] // why this node can crawl nothing, until a beat has noted it
	known atomic.Pointer[States] // as the last beat read it; nil before the first
}

// maxShipping is the maximum number of connections that ship and load. They are opened when they are needed.
const maxShipping = 6

// maxFinding is the maximum number of connections that look for payloads.
const maxFinding = 2

// Open connects to the database, makes the tables if they are missing, and registers a node. An earlier process of this
// node is fenced by that. The caller closes the store.
func Open(ctx context.Context, database, node string) (_ *Store, err error) {
	s := &Store{node: node}
	for pool, connected := range map[**pgxpool.Pool]int32{
		&s.pool: maxShipping, &s.beats: 1, &s.looks: 1, &s.finds: maxFinding,
	} {
		if *pool, err = newPool(ctx, database, node, connected, pool == &s.finds); err != nil {
			s.Close()
			return nil, err
		}
	}
	if err = s.prepare(ctx); err == nil {
		s.able, err = ask(ctx, s.looks)
	}
	if err == nil {
		err = s.register(ctx)
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("connect to the database of the cluster: %w", err)
	}
	return s, nil
}

// Size returns how many bytes the rows of the crawl took in the database when s was opened; 0 if it does not tell.
func (s *Store) Size() int64 { return s.able.bytes }

// Close closes the connections.
func (s *Store) Close() {
	for _, pool := range []*pgxpool.Pool{s.pool, s.beats, s.looks, s.finds} {
		if pool != nil {
			pool.Close()
		}
	}
}

// Crawl returns the name of the crawl in this database. Two databases have different ones.
func (s *Store) Crawl() string { return s.crawl }

// Number returns the number of this node, from 1. It has the same one until it is removed.
func (s *Store) Number() int { return s.number }

// register makes the process the only one of its node.
func (s *Store) register(ctx context.Context) error {
	return s.locking(ctx, s.node, func(tx pgx.Tx) error {
		const node = `INSERT INTO arcrawl.node (name, incarnation, fenced) VALUES ($1, 1, false)
			ON CONFLICT (name) DO UPDATE SET incarnation = node.incarnation + 1, fenced = false RETURNING incarnation`
		if err := tx.QueryRow(ctx, node, s.node).Scan(&s.incarnation); err != nil {
			return err
		}
		const pulse = `INSERT INTO arcrawl.pulse (node, beat) VALUES ($1, 1)
			ON CONFLICT (node) DO UPDATE SET beat = pulse.beat + 1`
		if _, err := tx.Exec(ctx, pulse, s.node); err != nil {
			return err
		}
		return s.join(ctx, tx)
	})
}

const (
	fenceNode = `UPDATE arcrawl.node SET fenced = true WHERE name = $1`
	// fenceBeat changes nothing. The node may have beaten while the fence waited for its shipment. Otherwise its next beat
	// waits for the end of the fence.
	fenceBeat = `UPDATE arcrawl.pulse SET beat = beat WHERE node = $1 AND beat = $2`
)

// Fence ends the rights of another node, if it has not beaten since the given beat. It waits for a shipment of the node
// that is in progress, and ends it after lockTime. done is false if the node has beaten meanwhile.
func (s *Store) Fence(ctx context.Context, node string, beat int64) (done bool, err error) {
	err = s.locking(ctx, node, func(tx pgx.Tx) error {
		done = false
		if err := s.permit(ctx, tx); err != nil {
			return err
		}
		var now int64
		err := tx.QueryRow(ctx, `SELECT beat FROM arcrawl.pulse WHERE node = $1`, node).Scan(&now)
		if err != nil || now != beat {
			return err
		}
		if _, err := tx.Exec(ctx, fenceNode, node); err != nil {
			return err
		}
		same, err := tx.Exec(ctx, fenceBeat, node, beat)
		if done = same.RowsAffected() > 0; err == nil && !done {
			err = errBeaten
		}
		return err
	})
	if errors.Is(err, errBeaten) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("fence node %s: %w", node, err)
	}
	return done, nil
}

// errBeaten says that a node has beaten while another one wanted to fence it.
var errBeaten = errors.New("the node has beaten")

// IsUnreachable reports whether an error means that the database does not answer now, and not that it refuses.
func IsUnreachable(err error) bool {
	var refused *pgconn.PgError
	if errors.As(err, &refused) { // 57: it is starting or stopping, or has no time; 53: no resources
		return strings.HasPrefix(refused.Code, "57") || strings.HasPrefix(refused.Code, "53") ||
			isLocked(err) || isUnordered(err)
	}
	for _, no := range []error{ErrFenced, ErrOwner, ErrVersion, ErrGroups, ErrRegroup, errNoLocks} {
		if errors.Is(err, no) {
			return false
		}
	}
	var syntax *pgconn.ParseConfigError
	return !errors.As(err, &syntax)
}

// querier is a pool of connections, a connection or a transaction.
type querier interface {
	Query(ctx context.Context, text string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, text string, args ...any) pgx.Row
}

// listOf returns the rows of a query, each as a struct whose fields are the columns.
func listOf[T any](ctx context.Context, q querier, text string, args ...any) ([]T, error) {
	rows, _ := q.Query(ctx, text, args...) // the rows have its error
	return pgx.CollectRows(rows, pgx.RowToStructByPos[T])
}

// columnOf returns the only column of a query.
func columnOf[T any](ctx context.Context, q querier, text string, args ...any) ([]T, error) {
	rows, _ := q.Query(ctx, text, args...)
	return pgx.CollectRows(rows, pgx.RowTo[T])
}

// about adds to an error what was attempted. It returns nil if there is no error.
func about(err error, what string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(what+": %w", append(args, err)...)
}

// permit makes sure that this process may act for its node now.
func (s *Store) permit(ctx context.Context, tx pgx.Tx) error {
	var one int
	const text = `SELECT 1 FROM arcrawl.node WHERE name = $1 AND incarnation = $2 AND NOT fenced`
	err := tx.QueryRow(ctx, text, s.node, s.incarnation).Scan(&one)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrFenced
	}
	return err
}

// alone calls do in a transaction, and commits, if this process may act for its node. It waits for an earlier one of
// the node whose answer was lost, and which the database may still commit: this one sees what that has changed.
func (s *Store) alone(ctx context.Context, do func(pgx.Tx) error) error {
	return s.inTransaction(ctx, func(tx pgx.Tx) error {
		if err := s.lock(ctx, tx); err != nil {
			return err
		}
		return do(tx)
	})
}

// The statements that lock the row of a node. What waits for the second one sees all that was committed before, or is
// repeated, whatever the isolation of the transactions.
const (
	lockNode  = `SELECT 1 FROM arcrawl.node WHERE name = $1 AND incarnation = $2 AND NOT fenced FOR UPDATE`
	writeNode = `UPDATE arcrawl.node SET fenced = false WHERE name = $1 AND incarnation = $2 AND NOT fenced`
)

// lock makes sure that this process may act for its node until the transaction ends, alone.
func (s *Store) lock(ctx context.Context, tx pgx.Tx) error {
	text := lockNode
	if !s.able.latest {
		text = writeNode
	}
	done, err := tx.Exec(ctx, text, s.node, s.incarnation)
	if err == nil && done.RowsAffected() == 0 {
		err = ErrFenced
	}
	return err
}

// lockTime is how long a transaction waits for a node that holds a lock and stands still, before it ends the node's
// sessions.
const lockTime = time.Second

// locking calls do in a transaction, and commits. If do cannot lock the row of a node, the sessions of the node are
// ended, and do is called again.
func (s *Store) locking(ctx context.Context, node string, do func(pgx.Tx) error) error {
	attempt := func() error {
		return s.inTransaction(ctx, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `SET LOCAL lock_timeout = `+milliseconds(lockTime)); err != nil {
				return err
			}
			return do(tx)
		})
	}
	err := attempt()
	if !isLocked(err) || !s.able.sessions {
		return err
	}
	if err := s.endSessions(ctx, node); err != nil {
		return err
	}
	return attempt()
}

// maxRepeats is how often a transaction is repeated that the database could not put in order.
const maxRepeats = 10

// The maximum pauses before it is repeated. Each is twice the one before.
const (
	firstPause = 10 * time.Millisecond
	maxPause   = 200 * time.Millisecond
)

// inTransaction calls do in a transaction, and commits.
func (s *Store) inTransaction(ctx context.Context, do func(pgx.Tx) error) error {
	return inTransaction(ctx, s.pool, do)
}

// inTransaction calls do in a transaction, and commits. It repeats the transaction if the database asks for that, after
// a pause that is different for each node, so that two that were in each other's way do not meet again.
func inTransaction(ctx context.Context, pool *pgxpool.Pool, do func(pgx.Tx) error) (err error) {
	pause := firstPause
	for range maxRepeats {
		err = pgx.BeginFunc(ctx, pool, do)
		if !isUnordered(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause/2 + rand.N(pause/2)):
		}
		pause = min(2*pause, maxPause)
	}
	return err
}

// isUnordered reports whether a transaction could not be put in order with others: repeat it.
func isUnordered(err error) bool { return hasCode(err, "40001", "40P01") }

// isLocked reports whether a statement gave up because others used what it needs.
func isLocked(err error) bool { return hasCode(err, "55P03") }
