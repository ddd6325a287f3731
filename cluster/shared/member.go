package shared

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Member is a node that takes its part of the crawl.
type Member struct {
	Name     string
	Number   int // of the node, for [OwnPart]
	Beat     int64
	Fenced   bool // another node has ended its rights
	Draining bool // it is to own nothing
	Unfit    bool // its disk or network is at fault, and it is to own nothing for a while
	Door     Door // where it answers other nodes
}

// members reads all nodes that are not removed.
func members(ctx context.Context, tx pgx.Tx) ([]Member, error) {
	rows, _ := tx.Query(ctx, `SELECT n.name, m.number, p.beat, n.fenced, m.draining, u.node IS NOT NULL,
			coalesce(d.address, ''), coalesce(d.print, '')
		FROM arcrawl.node n JOIN arcrawl.pulse p ON p.node = n.name JOIN arcrawl.member m ON m.node = n.name
		LEFT JOIN arcrawl.door d ON d.node = n.name AND d.incarnation = n.incarnation AND NOT n.fenced
		LEFT JOIN arcrawl.unfit u ON u.node = n.name AND u.incarnation = n.incarnation`)
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m Member, err error) {
		err = row.Scan(&m.Name, &m.Number, &m.Beat, &m.Fenced, &m.Draining, &m.Unfit, &m.Door.Address, &m.Door.Print)
		return m, err
	})
	// The order of the database may be another one, see [States.Crawler].
	slices.SortFunc(list, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	return list, err
}

// join makes this node a member, and reads its number.
func (s *Store) join(ctx context.Context, tx pgx.Tx) (err error) {
	for range maxRepeats {
		// Two nodes that join at once ask for the same number, and one changes nothing. A number is not used again while
		// there are rows of its node.
		const join = `INSERT INTO arcrawl.member (node, number, draining) SELECT $1, 1 + greatest(
				(SELECT coalesce(max(number), 0) FROM arcrawl.member), (SELECT coalesce(-min(part), 0) FROM ` + rows + `)), false
			ON CONFLICT DO NOTHING`
		if _, err := tx.Exec(ctx, join, s.node); err != nil {
			return err
		}
		err = tx.QueryRow(ctx, `SELECT number FROM arcrawl.member WHERE node = $1`, s.node).Scan(&s.number)
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
	}
	return about(err, "find a number for the node")
}

// Drain records whether a node is to own nothing. It takes effect with the next beats of the nodes.
func Drain(ctx context.Context, database, node string, drain bool) error {
	err := visit(ctx, database, func(c *pgx.Conn) error {
		done, err := c.Exec(ctx, `UPDATE arcrawl.member SET draining = $2 WHERE node = $1`, node, drain)
		if err == nil && done.RowsAffected() == 0 {
			return errUnknownNode
		}
		return err
	})
	return about(err, "drain node %s", node)
}

var errUnknownNode = errors.New("no node with this name has joined the cluster; arcrawl status --cluster lists all")

// Remove removes a node that owns nothing and does not run. wait takes longer than the time between two beats. The node
// joins again when it is started again. Its rows that are about no host stay.
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
	err = visit(ctx, database, func(c *pgx.Conn) error {
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error { return remove(ctx, tx, node) })
	})
	return about(err, "remove node %s", node)
}

func remove(ctx context.Context, tx pgx.Tx, node string) error {
	// The lock keeps the node from taking a part until the transaction ends.
	var name string
	err := tx.QueryRow(ctx, `SELECT name FROM arcrawl.node WHERE name = $1 FOR UPDATE`, node).Scan(&name)
	if errors.Is(err, pgx.ErrNoRows) {
		return errUnknownNode
	}
	if err != nil {
		return err
	}
	var owned int
	if err := tx.QueryRow(ctx, `SELECT count(*) FROM arcrawl.part WHERE owner = $1`, node).Scan(&owned); err != nil {
		return err
	}
	if owned > 0 {
		return fmt.Errorf("it crawls %s: drain it first, or wait until other nodes have taken them over", share(owned))
	}
	for _, text := range []string{
		`DELETE FROM arcrawl.member WHERE node = $1`,
		`DELETE FROM arcrawl.door WHERE node = $1`,
		`DELETE FROM arcrawl.unfit WHERE node = $1`,
		`DELETE FROM arcrawl.told WHERE node = $1`,
		`DELETE FROM arcrawl.pulse WHERE node = $1`,
		`DELETE FROM arcrawl.node WHERE name = $1`,
	} {
		if _, err := tx.Exec(ctx, text, node); err != nil {
			return err
		}
	}
	return nil
}

// Names returns the names of all nodes that are not removed, sorted.
func (s *Store) Names(ctx context.Context) ([]string, error) {
	names, err := columnOf[string](ctx, s.looks, `SELECT node FROM arcrawl.member`)
	slices.Sort(names)
	return names, about(err, "read the names of the nodes")
}
