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
	ErrOwner   = errors.New("another node owns the crawl")
	ErrVersion = errors.New("unknown version of the tables")
	ErrRegroup = errors.New("politeness.group has changed, and the parts of hosts with it")
	ErrGroups  = errors.New("politeness.group is not the same here as at the nodes that crawl now: give all nodes the same " +
		"configuration, and change groups while all nodes are stopped")
)

// Parts is the number of parts of a crawl. Each host belongs to one of them, and each part to a shard. It never
// changes.
const Parts = 1024

// PartsOf returns the parts of a shard, one of a number of shards.
func PartsOf(shard, shards int) (list []int16) {
	for part := shard - 1; part < Parts; part += shards {
		list = append(list, int16(part))
	}
	return list
}

// OwnPart stands for the rows of a shard that are about no host.
func OwnPart(shard int) int16 { return int16(-shard) }

// ShardOf returns the shard of a part, one of a number of shards. The shards of a multiple of that number are parts of
// these.
func ShardOf(part int16, shards int) int { return 1 + int(part)%shards }

// Row is a row of a store. Its key and its value are bytes that only the store understands.
type Row struct {
	Part       int16 // that its host belongs to
	Key, Value []byte
	Gone       bool // the row was removed
	Begins     bool // all rows of the part were removed whose keys begin with Key
	Of         Table
}

// Table is the table of a row.
type Table uint8

// The tables.
const (
	OfPart   Table = iota
	Payload        // the last value of a key stays
	Greatest       // of payloads; the greatest value of a key stays
)

// All returns rows that are all in memory.
func All(rows ...Row) Rows {
	return func(ship func([]Row) error) error { return ship(rows) }
}

// States holds what the database has about the crawl.
type States struct {
	Own    int64    // the beat of the node that asks
	Shards []State  // shard number n is at n-1
	Nodes  []Member // that are not fenced and divide the shards among them, by name
}

// Member is a node that takes its part of the shards.
type Member struct {
	Name     string
	Beat     int64
	Draining bool // it is to own nothing
	Unfit    bool // its disk or network is at fault, and it is to own nothing for a while
	Door     Door // where it answers other nodes
}

// State holds what the database has about a shard of the crawl. A crawl that was never divided has one.
type State struct {
	Owner  string // node; "" = none
	Fenced bool   // the owner is fenced
	Beat   int64  // of the owner
	Epoch  int64  // grows with each change of owner
	Clean  bool   // the last owner stopped properly, and everything of it is here
	Whole  bool   // the copy is whole; false until the first owner has shipped its store
}

// Crawler returns the node that crawls the shard; "" if none does.
func (s State) Crawler() string {
	if s.Fenced {
		return ""
	}
	return s.Owner
}

// Store is a connection to the database, for one node.
type Store struct {
	pool  *pgxpool.Pool           // for shipments and letters
	beats *pgxpool.Pool           // for beats alone, so that nothing delays them
	looks *pgxpool.Pool           // for rows of other shards
	finds *pgxpool.Pool           // for payloads
	crawl string                  // name of the crawl in this database, made at random
	door  *atomic.Pointer[Door]   // that this node has opened, until a beat has noted it
	unfit *atomic.Pointer[string] // why this node can crawl nothing, until a beat has noted it

	node        string
	incarnation int64
	shard       int // that the node has taken
	shards      int // of the crawl at that time
}

// maxShipping is the maximum number of connections that ship and load the shards of a node. They are opened when they
// are needed.
const maxShipping = 6

// maxFinding is the maximum number of connections that look for payloads.
const maxFinding = 2

// Open connects to the database, makes the tables if they are missing, and registers a node. An earlier process of this
// node is fenced by that. The caller closes the store.
func Open(ctx context.Context, database, node string) (_ *Store, err error) {
	s := &Store{node: node, door: new(atomic.Pointer[Door]), unfit: new(atomic.Pointer[string])}
	for pool, connected := range map[**pgxpool.Pool]int32{
		&s.pool: maxShipping, &s.beats: 1, &s.looks: 1, &s.finds: maxFinding,
	} {
		if *pool, err = newPool(ctx, database, node, connected, pool == &s.finds); err != nil {
			s.Close()
			return nil, err
		}
	}
	if err = s.prepare(ctx); err == nil {
		err = s.register(ctx)
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("connect to the database of the cluster: %w", err)
	}
	return s, nil
}

// Another returns a store with the same connections, for one more shard of this node. Only the first one is closed.
func (s *Store) Another() *Store {
	other := *s
	other.shard = 0
	return &other
}

// Close closes the connections.
func (s *Store) Close() {
	for _, pool := range []*pgxpool.Pool{s.pool, s.beats, s.looks, s.finds} {
		if pool != nil {
			pool.Close()
		}
	}
}

// Shards returns the number of shards of the crawl when this node took one. It does not change while nodes own shards.
func (s *Store) Shards() int { return s.shards }

// Crawl returns the name of the crawl in this database. Two databases have different ones.
func (s *Store) Crawl() string { return s.crawl }

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
		_, err := tx.Exec(ctx, `INSERT INTO arcrawl.member (node, draining) VALUES ($1, false) ON CONFLICT DO NOTHING`, s.node)
		return err
	})
}

// Beat shows the other nodes that this one is alive, and returns the state of the crawl. It returns [ErrFenced] if the
// node may not continue.
func (s *Store) Beat(ctx context.Context) (st States, err error) {
	door, unfit := s.door.Load(), s.unfit.Load()
	err = inTransaction(ctx, s.beats, func(tx pgx.Tx) error {
		if err := s.permit(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE arcrawl.pulse SET beat = beat + 1 WHERE node = $1`, s.node); err != nil {
			return err
		}
		if err := errors.Join(s.noteDoor(ctx, tx, door), s.noteUnfit(ctx, tx, unfit)); err != nil {
			return err
		}
		if st.Shards, err = states(ctx, tx); err != nil {
			return err
		}
		if st.Nodes, err = members(ctx, tx); err != nil {
			return err
		}
		return tx.QueryRow(ctx, `SELECT beat FROM arcrawl.pulse WHERE node = $1`, s.node).Scan(&st.Own)
	})
	if err != nil {
		return States{}, fmt.Errorf("beat as node %s: %w", s.node, err)
	}
	s.door.CompareAndSwap(door, nil)
	s.unfit.CompareAndSwap(unfit, nil)
	return st, nil
}

// states reads the states of all shards.
func states(ctx context.Context, tx pgx.Tx) ([]State, error) {
	const text = `SELECT coalesce(c.owner, ''), coalesce(n.fenced, false), coalesce(p.beat, 0), c.epoch, c.clean, c.whole
		FROM arcrawl.crawl c LEFT JOIN arcrawl.node n ON n.name = c.owner LEFT JOIN arcrawl.pulse p ON p.node = c.owner ORDER BY c.id`
	return listOf[State](ctx, tx, text)
}

// members reads the nodes that divide the shards among them.
func members(ctx context.Context, tx pgx.Tx) ([]Member, error) {
	const text = `SELECT n.name, p.beat, m.draining, u.node IS NOT NULL, coalesce(d.address, ''), coalesce(d.print, '')
		FROM arcrawl.node n JOIN arcrawl.pulse p ON p.node = n.name JOIN arcrawl.member m ON m.node = n.name
		LEFT JOIN arcrawl.door d ON d.node = n.name AND d.incarnation = n.incarnation
		LEFT JOIN arcrawl.unfit u ON u.node = n.name AND u.incarnation = n.incarnation WHERE NOT n.fenced ORDER BY n.name`
	rows, _ := tx.Query(ctx, text)
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (m Member, err error) {
		err = row.Scan(&m.Name, &m.Beat, &m.Draining, &m.Unfit, &m.Door.Address, &m.Door.Print)
		return m, err
	})
}

// permit makes sure that this process may act for its node, until the transaction ends.
func (s *Store) permit(ctx context.Context, tx pgx.Tx) error {
	var one int
	err := tx.QueryRow(ctx, `SELECT 1 FROM arcrawl.node WHERE name = $1 AND incarnation = $2 AND NOT fenced FOR SHARE`,
		s.node, s.incarnation).Scan(&one)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrFenced
	}
	return err
}

// own makes sure that this process owns its shard since an epoch, until the transaction ends.
func (s *Store) own(ctx context.Context, tx pgx.Tx, epoch int64) error {
	if err := s.permit(ctx, tx); err != nil {
		return err
	}
	var one int
	err := tx.QueryRow(ctx, `SELECT 1 FROM arcrawl.crawl WHERE id = $3 AND owner = $1 AND epoch = $2 FOR SHARE`,
		s.node, epoch, s.shard).Scan(&one)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrOwner
	}
	return err
}

// Take makes this node the owner of a shard, if there is none, if it is fenced, or if it is this node. It returns the
// state before, and the new epoch. Otherwise it returns [ErrOwner]. groups stands for the politeness groups of all
// hosts, which decide about shards; "" = no host has one. [ErrGroups] says that owners of other shards have other
// groups, and [ErrRegroup] that [Store.Regroup] must come first. Take is not safe for concurrent use with the methods
// of the owner.
func (s *Store) Take(ctx context.Context, shard int, groups string) (before State, epoch int64, err error) {
	var shards int
	err = s.inTransaction(ctx, func(tx pgx.Tx) error {
		if err := s.permit(ctx, tx); err != nil {
			return err
		}
		var id int
		if err := tx.QueryRow(ctx, `SELECT id FROM arcrawl.crawl WHERE id = $1 FOR UPDATE`, shard).Scan(&id); err != nil {
			return err
		}
		all, err := states(ctx, tx)
		if err != nil {
			return err
		}
		before, shards = all[shard-1], len(all)
		if err := s.agree(ctx, tx, all, groups); err != nil {
			return err
		}
		if before.Owner != "" && before.Owner != s.node && !before.Fenced {
			return ErrOwner
		}
		return tx.QueryRow(ctx,
			`UPDATE arcrawl.crawl SET owner = $1, epoch = epoch + 1, clean = false WHERE id = $2 RETURNING epoch`,
			s.node, shard).Scan(&epoch)
	})
	if err != nil {
		return State{}, 0, fmt.Errorf("take the crawl as node %s: %w", s.node, err)
	}
	s.shard, s.shards = shard, shards
	return before, epoch, nil
}

// agree makes sure that the owners of other shards have the same politeness groups, and the parts of hosts too.
func (s *Store) agree(ctx context.Context, tx pgx.Tx, all []State, groups string) error {
	if len(all) < 2 {
		return nil // without groups all hosts are in one shard too
	}
	const first = `INSERT INTO arcrawl.agreed (id, groups) VALUES (1, '') ON CONFLICT DO NOTHING`
	if _, err := tx.Exec(ctx, first); err != nil {
		return err
	}
	var agreed string
	const text = `SELECT groups FROM arcrawl.agreed WHERE id = 1 FOR UPDATE`
	if err := tx.QueryRow(ctx, text).Scan(&agreed); err != nil || agreed == groups {
		return err
	}
	// A statement of its own sees the owners that were committed while this one waited for the lock.
	all, err := states(ctx, tx)
	if err != nil {
		return err
	}
	for _, other := range all {
		if other.Owner != "" && other.Owner != s.node && !other.Fenced {
			return ErrGroups
		}
	}
	return ErrRegroup
}

// Fence ends the rights of another node, if it has not beaten since the given beat. It waits for a shipment of the node
// that is in progress, and ends it after lockTime. done is false if the node has beaten meanwhile.
func (s *Store) Fence(ctx context.Context, node string, beat int64) (done bool, err error) {
	err = s.locking(ctx, node, func(tx pgx.Tx) error {
		done = false
		if err := s.permit(ctx, tx); err != nil {
			return err
		}
		var now int64
		const beats = `SELECT beat FROM arcrawl.pulse WHERE node = $1`
		if err := tx.QueryRow(ctx, beats, node).Scan(&now); err != nil || now != beat {
			return err
		}
		if err := tx.QueryRow(ctx, `SELECT incarnation FROM arcrawl.node WHERE name = $1 FOR UPDATE`, node).Scan(&now); err != nil {
			return err
		}
		// A statement of its own sees the beats that were committed while this one waited for the lock.
		if err := tx.QueryRow(ctx, beats, node).Scan(&now); err != nil || now != beat {
			return err
		}
		done = true
		_, err := tx.Exec(ctx, `UPDATE arcrawl.node SET fenced = true WHERE name = $1`, node)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("fence node %s: %w", node, err)
	}
	return done, nil
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
	if !isLocked(err) {
		return err
	}
	if err := s.endSessions(ctx, node); err != nil {
		return err
	}
	return attempt()
}

// Leave releases the crawl. clean says that nothing was in progress, and that everything is shipped.
func (s *Store) Leave(ctx context.Context, epoch int64, clean bool) error {
	const text = `UPDATE arcrawl.crawl SET owner = NULL, clean = $4 WHERE id = $1 AND owner = $2 AND epoch = $3`
	err := s.changeOwned(ctx, text, s.shard, s.node, epoch, clean)
	return about(err, "release the crawl as node %s", s.node)
}

// IsUnreachable reports whether an error means that the database does not answer now, and not that it refuses.
func IsUnreachable(err error) bool {
	var refused *pgconn.PgError
	if errors.As(err, &refused) { // 57: it is starting or stopping, or has no time; 53: no resources
		return strings.HasPrefix(refused.Code, "57") || strings.HasPrefix(refused.Code, "53") ||
			isLocked(err) || isUnordered(err)
	}
	for _, no := range []error{ErrFenced, ErrOwner, ErrVersion, ErrGroups, ErrRegroup} {
		if errors.Is(err, no) {
			return false
		}
	}
	var syntax *pgconn.ParseConfigError
	return !errors.As(err, &syntax)
}

// maxRepeats is how often a transaction is repeated that the database could not put in order.
const maxRepeats = 10

// The maximum pauses before it is repeated. Each is twice the one before.
const (
	firstPause = 10 * time.Millisecond
	maxPause   = 200 * time.Millisecond
)

// querier is a pool of connections, a connection or a transaction.
type querier interface {
	Query(ctx context.Context, text string, args ...any) (pgx.Rows, error)
}

// listOf returns the rows of a query, each as a struct whose fields are the columns.
func listOf[T any](ctx context.Context, q querier, text string, args ...any) ([]T, error) {
	rows, _ := q.Query(ctx, text, args...) // the rows have its error
	return pgx.CollectRows(rows, pgx.RowToStructByPos[T])
}

// about adds to an error what was attempted. It returns nil if there is no error.
func about(err error, what string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(what+": %w", append(args, err)...)
}

// asOwner calls do in a transaction, and commits, if this process owns its shard since an epoch.
func (s *Store) asOwner(ctx context.Context, epoch int64, do func(pgx.Tx) error) error {
	return s.inTransaction(ctx, func(tx pgx.Tx) error {
		if err := s.own(ctx, tx, epoch); err != nil {
			return err
		}
		return do(tx)
	})
}

// change executes a statement as the owner of the shard.
func (s *Store) change(ctx context.Context, epoch int64, text string, args ...any) error {
	return s.asOwner(ctx, epoch, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, text, args...)
		return err
	})
}

// changeOwned executes a statement that changes the row of the shard only if this process owns it.
func (s *Store) changeOwned(ctx context.Context, text string, args ...any) error {
	return s.inTransaction(ctx, func(tx pgx.Tx) error {
		if err := s.permit(ctx, tx); err != nil {
			return err
		}
		done, err := tx.Exec(ctx, text, args...)
		if err == nil && done.RowsAffected() == 0 {
			return ErrOwner
		}
		return err
	})
}

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
func isUnordered(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && (e.Code == "40001" || e.Code == "40P01")
}
