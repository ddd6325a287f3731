package shared

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/jackc/pgx/v5"

	"github.com/arcrawl/arcrawl/internal/human"
)

// Report says what the database has about a crawl and its nodes.
type Report struct {
	Shards []ShardReport `json:"shards"` // shard number n is at n-1
	Nodes  []NodeReport  `json:"nodes"`  // by name
	Used   bool          `json:"-"`      // the database has the tables of a crawl

	Revision int64 `json:"revision"` // of the configuration, in force; 0 = none was pushed

	Bytes    int64 `json:"bytes"`    // of the tables and indexes of all shards, and of the payloads
	Replicas int   `json:"replicas"` // connected
	Synced   int   `json:"synced"`   // of these, synchronous
	Hidden   int   `json:"hidden"`   // of these, not known to be synchronous: the user may not see that
}

// ShardReport says who crawls a shard.
type ShardReport struct {
	Owner   string `json:"owner"`   // node that crawls it; "" = none
	Epoch   int64  `json:"epoch"`   // number of changes of the owner
	Clean   bool   `json:"clean"`   // the last owner stopped properly, and nobody has crawled it since
	Whole   bool   `json:"whole"`   // another node can take it over
	Letters int64  `json:"letters"` // that wait for it
	Damaged int64  `json:"damaged"` // rows and letters that could not be read, and are kept in arcrawl.aside
}

// NodeReport says whether a node is alive.
type NodeReport struct {
	Name   string `json:"name"`
	Alive  bool   `json:"alive"`  // it has beaten while Look waited
	Fenced bool   `json:"fenced"` // another node has ended its rights
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
	c, err := connect(ctx, database)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, c.Close(ctx)) }()
	if err := r.read(ctx, c); err != nil {
		if !r.Used && isUndefined(err) {
			err = errUnused
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

// replicas counts the replicas of the database: all, the synchronous ones, and those that this user may not look at.
const replicas = `SELECT count(*), count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')),
	count(*) FILTER (WHERE sync_state IS NULL) FROM pg_stat_replication`

// Replicas returns how many replicas of the database are connected, how many of these are synchronous, and of how many
// the user may not see that.
func (s *Store) Replicas(ctx context.Context) (all, synced, hidden int, err error) {
	err = s.looks.QueryRow(ctx, replicas).Scan(&all, &synced, &hidden)
	return all, synced, hidden, about(err, "count the replicas of the database")
}

// read reads the state of this moment.
func (r *Report) read(ctx context.Context, c *pgx.Conn) error {
	var version int
	if err := c.QueryRow(ctx, `SELECT format FROM arcrawl.crawl WHERE id = 1`).Scan(&version); err != nil {
		r.Used = isUnreleased(err)
		return explainUnreleased(err)
	}
	r.Used, r.Bytes = true, 0
	if err := checkVersion(version); err != nil {
		return err
	}
	var err error
	if r.Shards, err = listOf[ShardReport](ctx, c, shardReports); err != nil {
		return err
	}
	const size = `SELECT pg_total_relation_size('` + rows + `') + sum(pg_total_relation_size(relid))::bigint
		FROM pg_partition_tree('` + payloads + `')`
	if err := c.QueryRow(ctx, size).Scan(&r.Bytes); err != nil {
		return err
	}
	if err := c.QueryRow(ctx, replicas).Scan(&r.Replicas, &r.Synced, &r.Hidden); err != nil {
		return err
	}
	rows, _ := c.Query(ctx, `SELECT n.name, n.fenced, coalesce(p.beat, 0), coalesce(m.draining, false) FROM arcrawl.node n
		LEFT JOIN arcrawl.pulse p ON p.node = n.name LEFT JOIN arcrawl.member m ON m.node = n.name ORDER BY n.name`)
	r.Nodes, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (n NodeReport, err error) {
		err = row.Scan(&n.Name, &n.Fenced, &n.beat, &n.Draining)
		return n, err
	})
	if err != nil {
		return err
	}
	return errors.Join(r.readUnfit(ctx, c), r.readRevisions(ctx, c))
}

// readRevisions reads which configuration is in force.
func (r *Report) readRevisions(ctx context.Context, c *pgx.Conn) error {
	const force = `SELECT coalesce(max(number), 0) FROM arcrawl.revision WHERE state = $1`
	if err := c.QueryRow(ctx, force, inForce).Scan(&r.Revision); err != nil {
		return err
	}
	all, err := followers(ctx, c)
	for i, n := range r.Nodes {
		r.Nodes[i].Revision, r.Nodes[i].Trouble = all[n.Name].Revision, all[n.Name].Trouble
	}
	return err
}

// shardReports is the query for [ShardReport].
const shardReports = `SELECT coalesce(c.owner, ''), c.epoch, c.clean, c.whole,
	(SELECT count(*) FROM arcrawl.letter l WHERE l.shard = c.id),
	(SELECT count(*) FROM arcrawl.aside a WHERE a.shard = c.id)
	FROM arcrawl.crawl c ORDER BY c.id`

// owns returns the numbers of the shards that a node crawls.
func (r Report) owns(node string) (list []string) {
	for i, s := range r.Shards {
		if s.Owner == node {
			list = append(list, fmt.Sprint(i+1))
		}
	}
	return list
}

// Write writes the report for people.
func (r Report) Write(out io.Writer) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "node\tstate")
	for _, n := range r.Nodes {
		state := r.stateOf(n)
		if n.Alive && n.Revision < r.Revision {
			state += fmt.Sprintf(", lags behind: has revision %d of the configuration", n.Revision)
		}
		fmt.Fprintf(t, "%s\t%s\n", n.Name, state)
	}
	r.writeShards(t)
	if err := t.Flush(); err != nil {
		return err
	}
	for _, n := range r.Nodes {
		if n.Trouble != "" {
			fmt.Fprintf(out, "\nnode %s cannot put revision %d of the configuration in force: %s\n", n.Name, r.Revision, n.Trouble)
		}
	}
	r.writeCopy(out)
	if r.Revision > 0 {
		fmt.Fprintf(out, "config    revision %d\n", r.Revision)
	}
	return r.writeReplicas(out)
}

// stateOf returns in words what a node does.
func (r Report) stateOf(n NodeReport) string {
	state, shards := "does not answer", r.owns(n.Name)
	switch {
	case n.Fenced:
		return "fenced"
	case n.Alive && len(shards) > 0:
		state = "crawls"
		if len(r.Shards) > 1 {
			state += " shard " + strings.Join(shards, ", ")
		}
	case n.Alive && n.Draining:
		return "drained"
	case n.Alive:
		state = "waits to take over"
	}
	if n.Draining {
		state += ", draining"
	}
	if n.Alive && n.Unfit != "" {
		state += ", takes no shards: " + n.Unfit
	}
	return state
}

// writeCopy writes what the database has of the crawl.
func (r Report) writeCopy(out io.Writer) {
	if len(r.Shards) != 1 {
		fmt.Fprintf(out, "\ncopy      %s of %d shards\n", human.Bytes(r.Bytes), len(r.Shards))
		return
	}
	s := r.Shards[0]
	fmt.Fprintf(out, "\ncopy      %s in epoch %d\n", human.Bytes(r.Bytes), s.Epoch)
	switch {
	case s.Owner == "":
		fmt.Fprintln(out, "owner     none")
	case !s.Whole:
		fmt.Fprintf(out, "owner     %s, which has not shipped its whole store: nobody can take over yet\n", s.Owner)
	}
}

// writeShards writes the shards of a crawl that was divided.
func (r Report) writeShards(t io.Writer) {
	if len(r.Shards) == 1 {
		return
	}
	fmt.Fprintln(t, "\nshard\tnode\tepoch\tletters\tremark")
	for i, s := range r.Shards {
		owner, remark := s.Owner, ""
		alive := slices.ContainsFunc(r.Nodes, func(n NodeReport) bool { return n.Name == owner && n.Alive && !n.Fenced })
		switch {
		case owner == "":
			owner, remark = "none", "nobody crawls it: start another node"
		case !alive:
			remark = "its node does not answer: start another node, unless one waits"
		case s.Damaged > 0:
			remark = human.Count(int(s.Damaged), "damaged row or letter") + " in the table arcrawl.aside"
		}
		fmt.Fprintf(t, "%d\t%s\t%d\t%d\t%s\n", i+1, owner, s.Epoch, s.Letters, remark)
	}
}

func (r Report) writeReplicas(out io.Writer) error {
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
