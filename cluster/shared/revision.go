package shared

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The states of a revision.
const (
	proposed = "proposed"
	inForce  = "in force"
	refused  = "refused"
)

// keptRevisions is the number of revisions whose files are kept.
const keptRevisions = 10

// filesAtOnce is the number of files that one statement writes.
const filesAtOnce = 500

// Revisions reads and writes the configuration that all nodes share. It is safe for concurrent use.
type Revisions struct {
	pool *pgxpool.Pool
	node string
}

// OpenRevisions returns the revisions in a database, for a node; "" = for a command. It does not wait for the database.
// The caller closes them.
func OpenRevisions(ctx context.Context, database, node string) (*Revisions, error) {
	pool, err := newPool(ctx, database, node, 1, false)
	if err != nil {
		return nil, err
	}
	return &Revisions{pool, node}, nil
}

// Close closes the connection.
func (r *Revisions) Close() { r.pool.Close() }

// Latest returns the number of the revision in force, and of the one that is proposed; 0 = there is none.
func (r *Revisions) Latest(ctx context.Context) (force, offered int64, err error) {
	const text = `SELECT coalesce(max(number) FILTER (WHERE state = $1), 0),
		coalesce(max(number) FILTER (WHERE state = $2), 0) FROM arcrawl.revision`
	err = r.pool.QueryRow(ctx, text, inForce, proposed).Scan(&force, &offered)
	if isUndefined(err) {
		return 0, 0, nil // no node has used this database yet
	}
	return force, offered, about(err, "look for a new configuration of the cluster")
}

// Files returns the files of a revision by name; the main file is "".
func (r *Revisions) Files(ctx context.Context, number int64) (map[string][]byte, error) {
	list, err := listOf[struct {
		Name string
		Data []byte
	}](ctx, r.pool, `SELECT name, data FROM arcrawl.revised WHERE revision = $1`, number)
	files := map[string][]byte{}
	for _, f := range list {
		files[f.Name] = f.Data
	}
	if err == nil && files[""] == nil {
		err = errors.New("it has no main file")
	}
	if err != nil {
		return nil, about(err, "read revision %d of the configuration", number)
	}
	return files, nil
}

// Propose stores files as a new revision, for all nodes to examine. It replaces a revision that was proposed before.
func (r *Revisions) Propose(ctx context.Context, files map[string][]byte) (number int64, err error) {
	err = inTransaction(ctx, r.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE arcrawl.revision SET state = $1 WHERE state = $2`, refused, proposed); err != nil {
			return err
		}
		const text = `INSERT INTO arcrawl.revision (number, state) SELECT coalesce(max(number), 0) + 1, $1
			FROM arcrawl.revision RETURNING number`
		if err := tx.QueryRow(ctx, text, proposed).Scan(&number); err != nil {
			return err
		}
		for some := range slices.Chunk(slices.Sorted(maps.Keys(files)), filesAtOnce) {
			texts := make([][]byte, len(some))
			for i, name := range some {
				texts[i] = append([]byte{}, files[name]...)
			}
			const text = `INSERT INTO arcrawl.revised (revision, name, data)
				SELECT $1, u.name, u.data FROM unnest($2::text[], $3::bytea[]) AS u (name, data)`
			if _, err := tx.Exec(ctx, text, number, some, texts); err != nil {
				return err
			}
		}
		return nil
	})
	switch {
	case hasCode(err, "23505"): // the number is taken
		err = ErrOvertaken
	case isUndefined(err):
		err = ErrUnused
	}
	if err != nil {
		return 0, fmt.Errorf("propose a configuration to the cluster: %w", err)
	}
	return number, nil
}

// Answer says whether a node accepts a revision that is proposed.
type Answer struct {
	Node   string
	Faults string // why the node refuses it; "" = it accepts
}

// Answer stores what this node says of a proposed revision.
func (r *Revisions) Answer(ctx context.Context, number int64, faults string) error {
	const text = `INSERT INTO arcrawl.answer (revision, node, faults) VALUES ($1, $2, $3)
		ON CONFLICT (revision, node) DO UPDATE SET faults = excluded.faults`
	_, err := r.pool.Exec(ctx, text, number, r.node, faults)
	return about(err, "answer whether revision %d of the configuration is accepted", number)
}

// Answers returns what the nodes say of a proposed revision.
func (r *Revisions) Answers(ctx context.Context, number int64) ([]Answer, error) {
	const text = `SELECT node, faults FROM arcrawl.answer WHERE revision = $1 ORDER BY node`
	list, err := listOf[Answer](ctx, r.pool, text, number)
	return list, about(err, "read what the nodes say of revision %d", number)
}

// ErrOvertaken says that somebody else has proposed or pushed a configuration meanwhile.
var ErrOvertaken = errors.New("somebody else pushes a configuration: look at it, and push again")

// Decide puts a proposed revision in force on all nodes, or refuses it. It returns [ErrOvertaken] if another revision
// was proposed meanwhile. It may be repeated.
func (r *Revisions) Decide(ctx context.Context, number int64, accept bool) error {
	state := refused
	if accept {
		state = inForce
	}
	err := inTransaction(ctx, r.pool, func(tx pgx.Tx) error {
		const text = `UPDATE arcrawl.revision SET state = $2 WHERE number = $1 AND state IN ($2, $3)`
		done, err := tx.Exec(ctx, text, number, state, proposed)
		if err == nil && done.RowsAffected() == 0 {
			err = ErrOvertaken
		}
		if err != nil {
			return err
		}
		// What nobody can take any more is removed: refused files, and old revisions.
		for _, text := range []string{
			`DELETE FROM arcrawl.answer WHERE revision <= $1`,
			`DELETE FROM arcrawl.revised WHERE revision IN (SELECT number FROM arcrawl.revision WHERE state = '` + refused + `')
				OR revision <= $1 - ` + fmt.Sprint(keptRevisions) + ` AND revision < (SELECT max(number) FROM arcrawl.revision
					WHERE state = '` + inForce + `')`,
		} {
			if _, err := tx.Exec(ctx, text, number); err != nil {
				return err
			}
		}
		return nil
	})
	return about(err, "decide about revision %d of the configuration", number)
}

// Note stores which revision this node has in force, and what keeps it from a newer one; "" = nothing.
func (r *Revisions) Note(ctx context.Context, number int64, trouble string) error {
	const text = `INSERT INTO arcrawl.follower (node, revision, trouble) VALUES ($1, $2, $3)
		ON CONFLICT (node) DO UPDATE SET revision = excluded.revision, trouble = excluded.trouble`
	_, err := r.pool.Exec(ctx, text, r.node, number, trouble)
	return about(err, "note the configuration of node %s", r.node)
}

// Following says which revision a node has in force.
type Following struct {
	Revision int64
	Trouble  string // what keeps it from a newer one
}

// Followers returns which revisions the nodes have in force, by node.
func (r *Revisions) Followers(ctx context.Context) (map[string]Following, error) {
	list, err := listOf[struct {
		Node string
		Following
	}](ctx, r.pool, `SELECT node, revision, trouble FROM arcrawl.follower`)
	all := map[string]Following{}
	for _, f := range list {
		all[f.Node] = f.Following
	}
	return all, about(err, "read which configuration the nodes have")
}
