package cluster

import (
	"context"
	"time"
)

// replicaEvery is the time between two looks at the replicas of the database.
const replicaEvery = time.Minute

// lookForReplica finds out whether the database has a synchronous replica. What it found before stays if the database
// does not answer.
func (n *thisNode) lookForReplica(ctx context.Context) {
	if n.o.Single {
		return
	}
	ask, cancel := context.WithTimeout(ctx, foreignLookTime)
	defer cancel()
	all, synced, hidden, err := n.shared.Replicas(ask)
	if err != nil {
		return // shipments fail too, and say so
	}
	text := replicaTrouble(all, synced, hidden)
	n.mu.Lock()
	was := n.standBy
	n.standBy = text
	n.mu.Unlock()
	switch {
	case text != "" && was == "":
		n.o.Log.Warn().Int("replicas", all).Int("hidden", hidden).
			Msg("the database of the cluster has no synchronous replica: if its machine is lost, so are the visits since its last backup")
	case text == "" && was != "":
		n.o.Log.Info().Msg("the database of the cluster has a synchronous replica now")
	}
}

// replicaTrouble returns why a loss of the database would lose visits; "" if it would not, or if the database does not
// tell its replicas (-1). hidden is the number of replicas of which nobody may say whether they are synchronous.
func replicaTrouble(all, synced, hidden int) string {
	const what = "the database of the cluster has no synchronous replica"
	const remedy = "set synchronous_standby_names, or cluster.single_database = true if that is on purpose; see docs/cluster.md"
	switch {
	case synced > 0, all < 0:
		return ""
	case hidden > 0:
		return "nobody may say whether the replicas of the cluster's database are synchronous: grant pg_read_all_stats to its user"
	case all > 0:
		return what + ", only others, which may lack the last visits: " + remedy
	}
	return what + ": " + remedy
}

// StandBy returns why a loss of the database's machine would lose visits; "" if it would not.
func (n *thisNode) StandBy() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.standBy
}
