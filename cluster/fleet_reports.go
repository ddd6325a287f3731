package cluster

import (
	"encoding/json"
	"fmt"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cluster/shared"
)

// maxReported is the maximum number of alarms and warnings in a report.
const maxReported = 50

// staleAfter is the number of beats of a node without a report after which the last one does not count. A node reports
// every seven beats.
const staleAfter = 30

// reportState returns the state of a shard as its node reports it to the cluster, without long lists.
func reportState(s api.Status) ([]byte, error) {
	s.Alarms = s.Alarms[:min(len(s.Alarms), maxReported)]
	s.Config.Warnings = s.Config.Warnings[:min(len(s.Config.Warnings), maxReported)]
	s.Config.Faults = s.Config.Faults[:min(len(s.Config.Faults), maxReported)]
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("report the state of the crawl: %w", err)
	}
	return text, nil
}

// fleetOfReports returns the states of all shards of a crawl, as their nodes reported them. A shard without a node that
// is alive says so.
func fleetOfReports(state shared.Report, reports map[int]shared.Told) fleetStatus {
	alive := map[string]bool{}
	for _, n := range state.Nodes {
		alive[n.Name] = n.Alive && !n.Fenced
	}
	all := make([]instance, len(state.Shards))
	for i, s := range state.Shards {
		one := instance{Name: s.Owner, Where: "the database of the cluster"}
		if len(state.Shards) > 1 {
			one.Name = fmt.Sprintf("%s/%d", s.Owner, i+1)
		}
		told, found := reports[i+1]
		switch {
		case s.Owner == "":
			one.Name = fmt.Sprintf("shard %d", i+1)
			one.Error = "no node crawls it: start another one"
		case !alive[s.Owner]:
			one.Error = "its node does not answer: another one takes over, if one waits"
		case !found || told.Node != s.Owner || told.Epoch != s.Epoch || told.Beats > staleAfter:
			one.Error = "its node has not reported its state for a minute, or has just begun"
		default:
			var status api.Status
			if err := json.Unmarshal(told.Text, &status); err != nil {
				one.Error = "the report of its node cannot be read; do all nodes have one version? " + err.Error()
				break
			}
			one.Status = &status
		}
		all[i] = one
	}
	return fleetStatus{Instances: all}
}
