package shared

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/jackc/pgx/v5"

	"github.com/arcrawl/arcrawl/internal/human"
)

// Report says what the database has about a crawl and its nodes.
type Report struct {
	Nodes []NodeReport `json:"nodes"` // by name
	Used  bool         `json:"-"`     // the database has the tables of a crawl

	Whole   bool  `json:"whole"`   // any node can take hosts over
	Orphans int   `json:"orphans"` // parts, of [Parts], without an owner that is alive
	Letters int64 `json:"letters"` // that wait
	Damaged int64 `json:"damaged"` // rows and letters that could not be read, and are kept in arcrawl.aside

	Revision int64 `json:"revision"` // of the configuration, in force; 0 = none was pushed

	// Engines other than PostgreSQL may tell neither sizes nor replicas.
	Bytes    int64 `json:"bytes"`    // of the tables and indexes of all rows, and of the payloads; -1 = not known
	Replicas int   `json:"replicas"` // connected; -1 = not known
	Synced   int   `json:"synced"`   // of these, synchronous
	Hidden   int   `json:"hidden"`   // of these, not known to be synchronous: the user may not see that
}

// NodeReport says whether a node is alive.
type NodeReport struct {
	Name   string `json:"name"`
	Alive  bool   `json:"alive"`  // it has beaten while Look waited
	Fenced bool   `json:"fenced"` // another node has ended its rights
	Parts  int    `json:"parts"`  // that it owns, of [Parts]
	// Revision is the configuration that the node has in force; 0 = none was pushed to it. Trouble says why it lags.
	Revision int64  `json:"revision"`
	Trouble  string `json:"trouble"`

	Draining bool   `json:"draining"` // it is to own nothing
	Unfit    string `json:"unfit"`    // why it can crawl nothing, because of its disk or network; "" = it can
	beat     int64
}

// Look reads the state of a crawl without being a node of it. Between two readings of the beats it calls wait, which
// should take some seconds. It returns [ErrVersion] if the database has no tables of this version.
func Look(ctx context.Context, database string, wait func() error) (r Report, err error) {
	err = visit(ctx, database, func(c *pgx.Conn) error {
		able, err := ask(ctx, c)
		if err != nil {
			return err
		}
		if err := r.read(ctx, c, able); err != nil {
			return err
		}
		before := map[string]int64{}
		for _, n := range r.Nodes {
			before[n.Name] = n.beat
		}
		if err := wait(); err != nil {
			return err
		}
		if err := r.read(ctx, c, able); err != nil {
			return err
		}
		r.Orphans = Parts
		for i, n := range r.Nodes {
			beat, known := before[n.Name]
			if r.Nodes[i].Alive = !known || n.beat != beat; r.Nodes[i].Alive && !n.Fenced {
				r.Orphans -= n.Parts
			}
		}
		return nil
	})
	r.Used = r.Used || errors.Is(err, ErrVersion) && !errors.Is(err, ErrUnused)
	return r, about(err, "read the state of the cluster")
}

// Owners returns who owns the parts of a crawl, without being a node of it. Only Whole and Parts are set. It returns
// [ErrUnused] if no node has made the tables.
func Owners(ctx context.Context, database string) (st States, err error) {
	err = visit(ctx, database, func(c *pgx.Conn) error {
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error { return new(Store).readParts(ctx, tx, &st) })
	})
	return st, about(err, "read the owners of the crawl")
}

// replicas counts the replicas of the database: all, the synchronous ones, and those that this user may not look at.
const replicas = `SELECT count(*), count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')),
	count(*) FILTER (WHERE sync_state IS NULL) FROM pg_stat_replication`

// Replicas returns how many replicas of the database are connected, how many of these are synchronous, and of how many
// the user may not see that. The engine may not tell: then all is -1.
func (s *Store) Replicas(ctx context.Context) (all, synced, hidden int, err error) {
	if !s.able.replicas {
		return -1, 0, 0, nil
	}
	err = s.looks.QueryRow(ctx, replicas).Scan(&all, &synced, &hidden)
	return all, synced, hidden, about(err, "count the replicas of the database")
}

// size adds up the tables and indexes of rows and payloads.
const size = rowsSize + ` + pg_total_relation_size('` + payloads + `')`

const rowsSize = `SELECT pg_total_relation_size('` + rows + `')`

// read reads the state of this moment.
func (r *Report) read(ctx context.Context, c *pgx.Conn, able abilities) error {
	r.Used, r.Bytes, r.Replicas = true, -1, -1
	const state = `SELECT whole, (SELECT count(*) FROM arcrawl.letter), (SELECT count(*) FROM arcrawl.aside),
		(SELECT coalesce(max(number), 0) FROM arcrawl.revision WHERE state = $1) FROM arcrawl.crawl WHERE id = 1`
	if err := c.QueryRow(ctx, state, inForce).Scan(&r.Whole, &r.Letters, &r.Damaged, &r.Revision); err != nil {
		return err
	}
	if able.sizes {
		if err := c.QueryRow(ctx, size).Scan(&r.Bytes); err != nil {
			return err
		}
	}
	if able.replicas {
		if err := c.QueryRow(ctx, replicas).Scan(&r.Replicas, &r.Synced, &r.Hidden); err != nil {
			return err
		}
	}
	rows, _ := c.Query(ctx, `SELECT n.name, n.fenced, coalesce(p.beat, 0), coalesce(m.draining, false), coalesce(u.why, ''),
			(SELECT count(*) FROM arcrawl.part WHERE owner = n.name), coalesce(f.revision, 0), coalesce(f.trouble, '')
		FROM arcrawl.node n LEFT JOIN arcrawl.pulse p ON p.node = n.name LEFT JOIN arcrawl.member m ON m.node = n.name
		LEFT JOIN arcrawl.unfit u ON u.node = n.name AND u.incarnation = n.incarnation
		LEFT JOIN arcrawl.follower f ON f.node = n.name ORDER BY n.name`)
	var err error
	r.Nodes, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (n NodeReport, err error) {
		err = row.Scan(&n.Name, &n.Fenced, &n.beat, &n.Draining, &n.Unfit, &n.Parts, &n.Revision, &n.Trouble)
		return n, err
	})
	return err
}

// Write writes the report for people.
func (r Report) Write(out io.Writer) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "node\tstate")
	for _, n := range r.Nodes {
		state := n.state()
		if n.Alive && n.Revision < r.Revision {
			state += fmt.Sprintf(", lags behind: has revision %d of the configuration", n.Revision)
		}
		fmt.Fprintf(t, "%s\t%s\n", n.Name, state)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, n := range r.Nodes {
		if n.Trouble != "" {
			fmt.Fprintf(out, "\nnode %s cannot put revision %d of the configuration in force: %s\n", n.Name, r.Revision, n.Trouble)
		}
	}
	r.writeCrawl(out)
	if r.Revision > 0 {
		fmt.Fprintf(out, "config    revision %d\n", r.Revision)
	}
	return r.writeReplicas(out)
}

// state returns in words what a node does.
func (n NodeReport) state() string {
	state := "does not answer"
	switch {
	case n.Fenced:
		return "fenced"
	case n.Alive && n.Parts > 0:
		state = "crawls " + share(n.Parts)
	case n.Alive && n.Draining:
		return "drained"
	case n.Alive:
		state = "waits for hosts"
	}
	if n.Draining {
		state += ", draining"
	}
	if n.Alive && n.Unfit != "" {
		state += ", takes no hosts: " + n.Unfit
	}
	return state
}

// share says in words how many of the hosts are in a number of parts.
func share(parts int) string {
	if parts == Parts {
		return "all hosts"
	}
	return fmt.Sprintf("%d %% of the hosts", min(max((100*parts+Parts/2)/Parts, 1), 99))
}

// Uncrawled says what no node crawls; "" = nothing.
func (r Report) Uncrawled() string { return Uncrawled(r.Orphans) }

// Uncrawled says that no node crawls a number of parts; "" if there are 0.
func Uncrawled(parts int) string {
	switch parts {
	case 0:
		return ""
	case Parts:
		return "no node crawls any hosts now"
	}
	return fmt.Sprintf("%d of 1,024 parts of the hosts are crawled by no node now", parts)
}

// writeCrawl writes what the database has of the crawl, and what is wrong with it.
func (r Report) writeCrawl(out io.Writer) {
	copied := human.Bytes(r.Bytes)
	if r.Bytes < 0 {
		copied = "of unknown size: this engine of the database does not tell it"
	}
	fmt.Fprintf(out, "\ncopy      %s\n", copied)
	if !r.Whole {
		fmt.Fprintln(out, "          not whole: no node can take hosts over until the first one has shipped its store")
	}
	if r.Orphans > 0 {
		fmt.Fprintf(out, "orphans   nobody crawls %s: start another node, unless one takes them over\n", share(r.Orphans))
	}
	if r.Letters > 0 {
		fmt.Fprintf(out, "letters   %d wait for nodes\n", r.Letters)
	}
	if r.Damaged > 0 {
		fmt.Fprintf(out, "damaged   %s in the table arcrawl.aside\n", human.Count(r.Damaged, "row or letter"))
	}
}

func (r Report) writeReplicas(out io.Writer) error {
	if r.Replicas < 0 {
		_, err := fmt.Fprintln(out, "replicas  unknown: this engine of the database does not tell them")
		return err
	}
	if r.Hidden > 0 {
		_, err := fmt.Fprintf(out, "replicas  %d of the database; this user may not see whether they are synchronous: "+
			"grant it pg_read_all_stats\n", r.Replicas)
		return err
	}
	fmt.Fprintf(out, "replicas  %d of the database, %d of them synchronous\n", r.Replicas, r.Synced)
	if r.Synced == 0 {
		fmt.Fprintln(out, "          without a synchronous one, a loss of the database's machine stops the crawl: see docs/cluster.md")
	}
	return nil
}
