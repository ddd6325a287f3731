package cluster

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
)

func newDrain() *cobra.Command {
	var path string
	var undo, remove bool
	cmd := &cobra.Command{
		Use:   "drain NODE",
		Short: "Let other nodes crawl the hosts of a node, or remove it from the cluster",
		Long: `drain lets a node finish its visits and hand its hosts over to the other nodes, within some seconds if one has room.
The node runs on and crawls nothing, also when it is started again, until you drain it with --undo.

With --remove it removes a node from the cluster that was stopped and crawls no hosts. Its archive stays where it is, and
must stay in storage.elsewhere of the other nodes. A node that is started again joins again.`,
		Example: "  arcrawl cluster drain b --config /etc/arcrawl/arcrawl.toml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := clusterConfig(cmd, path)
			if err != nil {
				return err
			}
			ctx, text := cmd.Context(), "node %s hands its hosts over: arcrawl status --cluster shows when it has none\n"
			switch {
			case remove:
				text = "removed node %s\n"
				err = shared.Remove(ctx, c.Cluster.Database, args[0], func() error { return cli.Wait(ctx, lookTime) })
			case undo:
				text = "node %s takes its part of the hosts again\n"
				err = shared.Drain(ctx, c.Cluster.Database, args[0], false)
			default:
				err = shared.Drain(ctx, c.Cluster.Database, args[0], true)
			}
			if err == nil {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), text, args[0])
			}
			return err
		},
	}
	cli.ConfigFlag(cmd, &path)
	cmd.Flags().BoolVar(&undo, "undo", false, "let the node take its part of the hosts again")
	cmd.Flags().BoolVar(&remove, "remove", false, "remove a stopped node that crawls no hosts")
	cmd.MarkFlagsMutuallyExclusive("undo", "remove")
	return cmd
}
