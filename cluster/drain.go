package cluster

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
)

func newDrain() *cobra.Command {
	var path string
	var undo bool
	cmd := &cobra.Command{
		Use:   "drain NODE",
		Short: "Let other nodes crawl the shards of a node",
		Long: `drain lets a node finish its visits and hand its shards over to the other nodes, within some seconds if one has room.
The node runs on and crawls nothing, also when it is started again, until you drain it with --undo.`,
		Example: "  arcrawl cluster drain b --config /etc/arcrawl/arcrawl.toml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := clusterConfig(cmd, path)
			if err == nil {
				err = shared.Drain(cmd.Context(), c.Cluster.Database, args[0], !undo)
			}
			if err != nil {
				return err
			}
			text := "node %s hands its shards over: arcrawl cluster status shows when it has none\n"
			if undo {
				text = "node %s takes its part of the shards again\n"
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), text, args[0])
			return err
		},
	}
	cli.ConfigFlag(cmd, &path)
	cmd.Flags().BoolVar(&undo, "undo", false, "let the node take its part of the shards again")
	return cmd
}

func newRemove() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "remove NODE",
		Short: "Remove a stopped node that owns no shard",
		Long: `remove removes a node from the cluster that was stopped and owns no shard. Its archive stays where it is, and must stay
in storage.elsewhere of the other nodes. A node that is started again joins again.`,
		Example: "  arcrawl cluster remove b --config /etc/arcrawl/arcrawl.toml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := clusterConfig(cmd, path)
			if err == nil {
				ctx := cmd.Context()
				err = shared.Remove(ctx, c.Cluster.Database, args[0], func() error { return cli.Wait(ctx, lookTime) })
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "removed node %s\n", args[0])
			return err
		},
	}
	cli.ConfigFlag(cmd, &path)
	return cmd
}
