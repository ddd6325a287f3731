package main

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/frontier/shared"
)

func newCluster() *cobra.Command {
	return group("cluster", "Look at the nodes that share a crawl", newClusterStatus())
}

// lookTime is longer than the time between two beats of a node, also of one that is busy.
const lookTime = 5 * time.Second

func newClusterStatus() *cobra.Command {
	var path string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show which node crawls, and which are alive",
		Long: `status reads the database of the cluster. It shows which node crawls, whether another one can take over, which nodes are alive, and
whether a replica of the database has everything. It watches the nodes for five seconds. Run it as the user of the daemon, whose password
for the database it needs.`,
		Example: "  arcrawl cluster status --config /etc/arcrawl/arcrawl.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := readConfig(cmd.ErrOrStderr(), path)
			if err != nil {
				return err
			}
			if c.Cluster.Database == "" {
				return errors.New("the configuration has no cluster.database: this crawl has one node; see docs/cluster.md")
			}
			ctx := cmd.Context()
			r, err := shared.Look(ctx, c.Cluster.Database, func() error { return waitFor(ctx, lookTime) })
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(r)
			}
			return r.Write(cmd.OutOrStdout())
		},
	}
	configFlag(cmd, &path)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
