package shared

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/arcrawl/arcrawl/internal/human"
)

// Report says what the database has about a crawl and its nodes.
type Report struct {
	Owner string       `json:"owner"` // node that crawls; "" = none
	Epoch int64        `json:"epoch"` // number of changes of the owner
	Clean bool         `json:"clean"` // the last owner stopped properly, and nobody has crawled since
	Whole bool         `json:"whole"` // another node can take the crawl over
	Used  bool         `json:"-"`     // the database has the tables of a crawl
	Nodes []NodeReport `json:"nodes"` // by name

	Bytes    int64 `json:"bytes"`    // of the tables and indexes
	Replicas int   `json:"replicas"` // connected
	Synced   int   `json:"synced"`   // of these, synchronous
	Hidden   int   `json:"hidden"`   // of these, not known to be synchronous: the user may not see that
}

// NodeReport says whether a node is alive.
type NodeReport struct {
	Name   string `json:"name"`
	Alive  bool   `json:"alive"`  // it has beaten while Look waited
	Fenced bool   `json:"fenced"` // another node has ended its rights
	beat   int64
}

// Look reads the state of a crawl without being a node of it. Between two readings of the beats it calls wait, which
// should take some seconds. It returns [ErrVersion] if the database has no tables of this version.
func Look(ctx context.Context, database string, wait func() error) (r Report, err error) {
	o, err := pgx.ParseConfig(database)
	if err != nil {
		return r, fmt.Errorf("read cluster.database: %w", err)
	}
	o.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite // a replica does not know of the others
	c, err := pgx.ConnectConfig(ctx, o)
	if err != nil {
		return r, fmt.Errorf("connect to the database of the cluster: %w", err)
	}
	defer func() { err = errors.Join(err, c.Close(ctx)) }()
	if err := r.read(ctx, c); err != nil {
		var missing *pgconn.PgError
		if errors.As(err, &missing) && (missing.Code == "42P01" || missing.Code == "3F000") {
			err = fmt.Errorf("no node has used this database yet: %w", ErrVersion)
		}
		return r, fmt.Errorf("read the state of the cluster: %w", err)
	}
	before := map[string]int64{}
	for _, n := range r.Nodes {
		before[n.Name] = n.beat
	}
	if err := wait(); err != nil {
		return r, err
	}
	if err := r.read(ctx, c); err != nil {
		return r, fmt.Errorf("read the state of the cluster: %w", err)
	}
	for i, n := range r.Nodes {
		beat, known := before[n.Name]
		r.Nodes[i].Alive = !known || n.beat != beat
	}
	return r, nil
}

// read reads the state of this moment.
func (r *Report) read(ctx context.Context, c *pgx.Conn) error {
	var version int
	const crawl = `SELECT coalesce(owner, ''), epoch, clean, whole, version,
		pg_total_relation_size('arcrawl.row') FROM arcrawl.crawl WHERE id = 1`
	if err := c.QueryRow(ctx, crawl).Scan(&r.Owner, &r.Epoch, &r.Clean, &r.Whole, &version, &r.Bytes); err != nil {
		return err
	}
	r.Used = true
	if version != schemaVersion {
		return fmt.Errorf("the tables have version %d, this arcrawl uses version %d: %w", version, schemaVersion, ErrVersion)
	}
	const replicas = `SELECT count(*), count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')),
		count(*) FILTER (WHERE sync_state IS NULL) FROM pg_stat_replication`
	if err := c.QueryRow(ctx, replicas).Scan(&r.Replicas, &r.Synced, &r.Hidden); err != nil {
		return err
	}
	const nodes = `SELECT n.name, n.fenced, coalesce(p.beat, 0) FROM arcrawl.node n
		LEFT JOIN arcrawl.pulse p ON p.node = n.name ORDER BY n.name`
	rows, err := c.Query(ctx, nodes)
	if err != nil {
		return err
	}
	r.Nodes, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (n NodeReport, err error) {
		err = row.Scan(&n.Name, &n.Fenced, &n.beat)
		return n, err
	})
	return err
}

// Write writes the report for people.
func (r Report) Write(out io.Writer) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "node\tstate")
	for _, n := range r.Nodes {
		state := "does not answer"
		switch {
		case n.Fenced:
			state = "fenced"
		case n.Alive && n.Name == r.Owner:
			state = "crawls"
		case n.Alive:
			state = "waits to take over"
		}
		fmt.Fprintf(t, "%s\t%s\n", n.Name, state)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\ncopy      %s in epoch %d\n", human.Bytes(r.Bytes), r.Epoch)
	switch {
	case r.Owner == "":
		fmt.Fprintln(out, "owner     none")
	case !r.Whole:
		fmt.Fprintf(out, "owner     %s, which has not shipped its whole store: nobody can take over yet\n", r.Owner)
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
