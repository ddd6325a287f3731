package cluster

import (
	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
)

// fleetOf returns the states of all nodes of the crawl whose main file is at path.
func fleetOf(cmd *cobra.Command, path string) (fleetStatus, error) {
	c, err := clusterConfig(cmd, path)
	if err != nil {
		return fleetStatus{}, err
	}
	ctx := cmd.Context()
	state, err := shared.Look(ctx, c.Cluster.Database, func() error { return cli.Wait(ctx, lookTime) })
	if err != nil {
		return fleetStatus{}, err
	}
	reports, err := shared.Reports(ctx, c.Cluster.Database)
	if err != nil {
		return fleetStatus{}, err
	}
	return fleetOfReports(state, reports), nil
}
