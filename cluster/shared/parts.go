package shared

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Parts is the number of parts of a crawl, which have the numbers from 0. Each host belongs to one of them. It never
// changes.
const Parts = 1024

// OwnPart stands for the rows of a node that are about no host.
func OwnPart(number int) int16 { return int16(-number) }

// States holds what the database has about the crawl.
type States struct {
	Own   int64    // the beat of the node that asks
	Whole bool     // the database has a whole copy of the crawl; false until the first owner has shipped its store
	Moves int64    // grows whenever a part changes; no epoch is larger
	Parts []Part   // number n is at n; must not be changed
	Nodes []Member // all that are not removed, by name
}

// Part says who owns a part of the crawl.
type Part struct {
	Owner string // node; "" = none
	Epoch int64  // value of States.Moves when it was taken, or when its rows moved to other parts
	Clean bool   // the last owner has shipped everything of it, and nobody has taken it since
}

// Crawler returns the node that crawls a part; "" if none does.
func (st States) Crawler(part int16) string {
	owner := st.Parts[part].Owner
	at, found := slices.BinarySearchFunc(st.Nodes, owner, func(m Member, name string) int {
		return strings.Compare(m.Name, name)
	})
	if !found || st.Nodes[at].Fenced {
		return ""
	}
	return owner
}

// Orphans returns how many parts no node crawls.
func (st States) Orphans() (orphans int) {
	for part := range st.Parts {
		if st.Crawler(int16(part)) == "" {
			orphans++
		}
	}
	return orphans
}

// Beat shows the other nodes that this one is alive, and returns the state of the crawl. It returns [ErrFenced] if the
// node may not continue.
func (s *Store) Beat(ctx context.Context) (st States, err error) {
	door, unfit := s.door.Load(), s.unfit.Load()
	err = inTransaction(ctx, s.beats, func(tx pgx.Tx) error {
		if err := s.permit(ctx, tx); err != nil {
			return err
		}
		const pulse = `UPDATE arcrawl.pulse SET beat = beat + 1 WHERE node = $1 RETURNING beat`
		if err := tx.QueryRow(ctx, pulse, s.node).Scan(&st.Own); err != nil {
			return err
		}
		if err := s.permit(ctx, tx); err != nil { // it may have waited for a fence
			return err
		}
		if err := errors.Join(s.noteDoor(ctx, tx, door), s.noteUnfit(ctx, tx, unfit)); err != nil {
			return err
		}
		if err := s.readParts(ctx, tx, &st); err != nil {
			return err
		}
		st.Nodes, err = members(ctx, tx)
		return err
	})
	if err != nil {
		return States{}, about(err, "beat as node %s", s.node)
	}
	s.door.CompareAndSwap(door, nil)
	s.unfit.CompareAndSwap(unfit, nil)
	s.known.Store(&st)
	return st, nil
}

// readParts reads the state of the parts, unless the last beat has read it.
func (s *Store) readParts(ctx context.Context, tx pgx.Tx, st *States) error {
	const text = `SELECT whole, moves FROM arcrawl.crawl WHERE id = 1`
	if err := tx.QueryRow(ctx, text).Scan(&st.Whole, &st.Moves); err != nil {
		return err
	}
	if known := s.known.Load(); known != nil && known.Moves == st.Moves {
		st.Parts = known.Parts
		return nil
	}
	// One statement reads parts and moves as they are at one moment.
	rows, _ := tx.Query(ctx, `SELECT c.moves, coalesce(p.owner, ''), p.epoch, p.clean
		FROM arcrawl.part p CROSS JOIN arcrawl.crawl c ORDER BY p.id`)
	var p Part
	st.Parts = make([]Part, 0, Parts)
	_, err := pgx.ForEachRow(rows, []any{&st.Moves, &p.Owner, &p.Epoch, &p.Clean}, func() error {
		st.Parts = append(st.Parts, p)
		return nil
	})
	return err
}

// ownership holds the row of the crawl, which is about all parts.
type ownership struct {
	whole  bool
	moves  int64
	groups string // that the parts of hosts follow
}

// lockOwners reads the row of the crawl, and keeps all parts from changing until the transaction ends.
func lockOwners(ctx context.Context, tx pgx.Tx) (o ownership, err error) {
	err = tx.QueryRow(ctx, `SELECT whole, moves, groups FROM arcrawl.crawl WHERE id = 1 FOR UPDATE`).
		Scan(&o.whole, &o.moves, &o.groups)
	return o, err
}

// write stores what has changed of the row of the crawl.
func (o ownership) write(ctx context.Context, tx pgx.Tx) error {
	const text = `UPDATE arcrawl.crawl SET whole = $1, moves = $2, groups = $3 WHERE id = 1`
	_, err := tx.Exec(ctx, text, o.whole, o.moves, o.groups)
	return err
}

// Taken is a part that this node has taken.
type Taken struct {
	Part   int16
	Epoch  int64 // the new one
	Before Part
}

// Take makes this node the owner of each given part that nobody owns, or a fenced node, or this node. It leaves the
// others out. While the database has no whole copy, one node owns everything: Take takes all parts or none, and none
// from another node.
//
// groups stands for the politeness groups of all hosts, which decide about parts; "" = no host has one. [ErrGroups]
// says that other owners have other groups, and [ErrRegroup] that [Store.Regroup] must come first.
func (s *Store) Take(ctx context.Context, parts []int16, groups string) (taken []Taken, err error) {
	err = s.alone(ctx, func(tx pgx.Tx) (err error) {
		taken, err = s.take(ctx, tx, parts, groups)
		return err
	})
	if err != nil {
		return nil, about(err, "take parts of the crawl as node %s", s.node)
	}
	return taken, nil
}

// take does what Take says.
func (s *Store) take(ctx context.Context, tx pgx.Tx, parts []int16, groups string) ([]Taken, error) {
	all, err := lockOwners(ctx, tx)
	if err != nil {
		return nil, err
	}
	if all.whole && all.groups != groups {
		return nil, s.whyOtherGroups(ctx, tx)
	}
	rows, _ := tx.Query(ctx, `SELECT p.id, coalesce(p.owner, ''), p.epoch, p.clean
		FROM arcrawl.part p LEFT JOIN arcrawl.node n ON n.name = p.owner
		WHERE p.id = ANY($1::smallint[]) AND (p.owner IS NULL OR p.owner = $2 OR n.fenced AND $3)
		ORDER BY p.id`, parts, s.node, all.whole)
	all.moves, all.groups = all.moves+1, groups
	taken, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Taken, error) {
		t := Taken{Epoch: all.moves}
		err := row.Scan(&t.Part, &t.Before.Owner, &t.Before.Epoch, &t.Before.Clean)
		return t, err
	})
	if err != nil || len(taken) == 0 || !all.whole && len(taken) < Parts {
		return nil, err
	}
	ids := make([]int16, len(taken))
	for i, t := range taken {
		ids[i] = t.Part
	}
	const text = `UPDATE arcrawl.part SET owner = $2, epoch = $3, clean = false WHERE id = ANY($1::smallint[])`
	if _, err := tx.Exec(ctx, text, ids, s.node, all.moves); err != nil {
		return nil, err
	}
	return taken, all.write(ctx, tx)
}

// whyOtherGroups returns the error of a node whose politeness groups are not those that the parts of hosts follow.
func (s *Store) whyOtherGroups(ctx context.Context, tx pgx.Tx) error {
	var others int
	err := tx.QueryRow(ctx, `SELECT count(*) FROM arcrawl.part p JOIN arcrawl.node n ON n.name = p.owner
		WHERE NOT n.fenced AND n.name <> $1`, s.node).Scan(&others)
	switch {
	case err != nil:
		return err
	case others > 0:
		return ErrGroups
	}
	return ErrRegroup
}

// Leave releases each given part that this node owns. clean says that everything of them is shipped. Leave waits for a
// shipment in progress, and nothing of these parts may be shipped after it, whatever it returned.
func (s *Store) Leave(ctx context.Context, parts []int16, clean bool) error {
	err := s.alone(ctx, func(tx pgx.Tx) error {
		all, err := lockOwners(ctx, tx)
		if err != nil {
			return err
		}
		const text = `UPDATE arcrawl.part SET owner = NULL, clean = $3 WHERE id = ANY($1::smallint[]) AND owner = $2`
		done, err := tx.Exec(ctx, text, parts, s.node, clean)
		if err != nil || done.RowsAffected() == 0 {
			return err
		}
		all.moves++
		return all.write(ctx, tx)
	})
	return about(err, "release parts of the crawl as node %s", s.node)
}

// ownAll makes sure that this node owns all parts, until the transaction ends.
func (s *Store) ownAll(ctx context.Context, tx pgx.Tx) (ownership, error) {
	all, err := lockOwners(ctx, tx)
	if err != nil {
		return all, err
	}
	var owned int
	const text = `SELECT count(*) FROM arcrawl.part WHERE owner = $1`
	if err = tx.QueryRow(ctx, text, s.node).Scan(&owned); err == nil && owned < Parts {
		err = ErrOwner
	}
	return all, err
}

// Complete records that all rows of this node's store are here. Other nodes may take parts from now on. It returns
// [ErrOwner] unless this node owns all parts.
func (s *Store) Complete(ctx context.Context) error {
	err := s.alone(ctx, func(tx pgx.Tx) error {
		all, err := s.ownAll(ctx, tx)
		if err != nil {
			return err
		}
		all.whole = true
		return all.write(ctx, tx)
	})
	return about(err, "complete the copy of node %s", s.node)
}
