package cluster

import (
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/internal/postgres"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestReplicasThatAreNotSynchronousAreReported compares what is said of the replicas of a database.
func TestReplicasThatAreNotSynchronousAreReported(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		all, synced, hidden int
		want                string
	}{
		{0, 0, 0, "no synchronous replica: set"}, {2, 0, 0, "only others"}, {2, 1, 0, ""}, {2, 1, 1, ""}, {1, 0, 1, "grant pg_read_all_stats"}, {-1, 0, 0, ""},
	} {
		got := replicaTrouble(row.all, row.synced, row.hidden)
		if !strings.Contains(got, row.want) || (got == "") != (row.want == "") {
			t.Errorf("of %d replicas, %d are synchronous and %d hidden: %q, want %q", row.all, row.synced, row.hidden, got, row.want)
		}
	}
}

// TestADatabaseWithoutReplicaIsReported lets a node look at a database that has no replica. It is silent if that is on
// purpose, and on its own.
func TestADatabaseWithoutReplicaIsReported(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	a := newFixture(t, postgres.New(t), "a")
	c := a.open()
	c.n.o.Single = true
	c.n.lookForReplica(t.Context())
	if got := c.n.StandBy(); got != "" {
		t.Errorf("reported %q", got)
	}
	c.n.o.Single = false
	for range 2 {
		c.n.lookForReplica(t.Context())
	}
	const told = "if its machine is lost"
	if !strings.Contains(c.n.StandBy(), "synchronous_standby_names") || strings.Count(a.log.String(), told) != 1 {
		t.Errorf("reported %q and logged\n%s", c.n.StandBy(), &a.log)
	}
	c.leave()
}
