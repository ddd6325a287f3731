package cluster

import (
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
	if err != nil {
		return api.Fleet{}, err
	}
	return fleetOfReports(state, reports), nil
}
