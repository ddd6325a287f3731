package cluster

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
)

// Fleet returns the states of all nodes of the crawl whose main file is at path, as they reported them to the database.
func Fleet(cmd *cobra.Command, path string) (api.Fleet, error) {
	c, err := clusterConfig(cmd, path)
	if err != nil {
		return api.Fleet{}, err
	}
	ctx := cmd.Context()
	state, err := shared.Look(ctx, c.Cluster.Database, func() error { return cli.Wait(ctx, lookTime) })
	if err != nil {
		return api.Fleet{}, err
	}
	reports, err := shared.Reports(ctx, c.Cluster.Database)
	return fleetOfReports(state, reports), err
}

// maxReported is the maximum number of alarms and warnings in a report.
const maxReported = 50

// staleAfter is the number of beats of a node without a report after which the last one does not count. A node reports
// every seven beats.
const staleAfter = 30

// reportState returns the state of a node as it reports it to the cluster, without long lists.
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

// fleetOfReports returns the states of all nodes of a crawl, as they reported them. One that does not answer says so,
// unless it was drained before.
func fleetOfReports(state shared.Report, reports map[string]shared.Told) (f api.Fleet) {
	for _, n := range state.Nodes {
		one := api.Instance{Name: n.Name, Where: "the database of the cluster"}
		told, found := reports[n.Name]
		switch {
		case !n.Alive && n.Draining && n.Parts == 0:
			continue
		case !n.Alive || n.Fenced:
			one.Error = "it does not answer: another one takes over what it crawled"
		case !found || told.Beats > staleAfter:
			one.Error = "it has not reported its state for a minute, or has just begun"
		default:
			var status api.Status
			if err := json.Unmarshal(told.Text, &status); err != nil {
				one.Error = "its report cannot be read; do all nodes have one version? " + err.Error()
				break
			}
			one.Status = &status
		}
		f.Instances = append(f.Instances, one)
	}
	f.Database = state
	return f
}
