package shared

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Drain records whether a node is to own nothing. It takes effect with the next beats of the nodes.
func Drain(ctx context.Context, database, node string, drain bool) error {
	err := change(ctx, database, func(tx pgx.Tx) error {
		done, err := tx.Exec(ctx, `UPDATE arcrawl.member SET draining = $2 WHERE node = $1`, node, drain)
		if err == nil && done.RowsAffected() == 0 {
			return errUnknownNode
		}
		return err
	})
	return about(err, "drain node %s", node)
}

var errUnknownNode = errors.New("no node with this name has joined the cluster; arcrawl status --cluster lists all")

// Remove removes a node that owns nothing and does not run. wait takes longer than the time between two beats. The node
// joins again when it is started again.
func Remove(ctx context.Context, database, node string, wait func() error) error {
	r, err := Look(ctx, database, wait)
	if err != nil {
		return err
	}
	for _, n := range r.Nodes {
		if n.Name == node && n.Alive {
			return fmt.Errorf("remove node %s: it runs: stop it first", node)
		}
	}
	err = change(ctx, database, func(tx pgx.Tx) error {
		var owned int
		// The lock keeps the node from taking a shard until the transaction ends.
		var name string
		err := tx.QueryRow(ctx, `SELECT name FROM arcrawl.node WHERE name = $1 FOR UPDATE`, node).Scan(&name)
		if errors.Is(err, pgx.ErrNoRows) {
			return errUnknownNode
		}
		if err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, `SELECT count(*) FROM arcrawl.crawl WHERE owner = $1`, node).Scan(&owned); err != nil {
			return err
		}
		if owned > 0 {
			return fmt.Errorf("it owns %d shards: drain it first, or wait until other nodes have taken them over", owned)
		}
		for _, text := range []string{
			`DELETE FROM arcrawl.member WHERE node = $1`,
			`DELETE FROM arcrawl.door WHERE node = $1`,
			`DELETE FROM arcrawl.unfit WHERE node = $1`,
			`DELETE FROM arcrawl.pulse WHERE node = $1`,
			`DELETE FROM arcrawl.node WHERE name = $1`,
		} {
			if _, err := tx.Exec(ctx, text, node); err != nil {
				return err
			}
		}
		return nil
	})
	return about(err, "remove node %s", node)
}

// change changes the database in a transaction, without being a node.
func change(ctx context.Context, database string, do func(pgx.Tx) error) (err error) {
	c, err := connect(ctx, database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close(ctx)) }()
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		err := do(tx)
		if isUndefined(err) {
			return errUnused
		}
		return err
	})
}

// Names returns the names of all nodes that are not removed, sorted.
func (s *Store) Names(ctx context.Context) ([]string, error) {
	rows, _ := s.looks.Query(ctx, `SELECT node FROM arcrawl.member ORDER BY node`)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return names, about(err, "read the names of the nodes")
}
