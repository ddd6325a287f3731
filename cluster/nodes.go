package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/human"
)

// Commands returns the commands about nodes.
func Commands() []*cobra.Command {
	return cli.In(cli.Cluster,
		cli.Group("cluster", "Let several nodes share a crawl", newInit(), newDrain(), newLeave()))
}

// lookTime is longer than the time between two beats of a node, also of one that is busy.
const lookTime = 5 * time.Second

func newInit() *cobra.Command {
	var path, from string
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Ship the store of a stopped crawl to an empty database",
		Long: `init ships the store in storage.state, or in another folder, to the database of the cluster, which must have no crawl
yet. Stop the daemon that uses the store before. Afterwards the nodes share its hosts among them. The daemon does the same when it
is started with [cluster]; init does it without crawling.`,
		Example: "  arcrawl cluster init --from /var/lib/arcrawl/state --config /etc/arcrawl/arcrawl.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := clusterConfig(cmd, path)
			if err != nil {
				return err
			}
			from = cmp.Or(from, c.Storage.State)
			o := nodeOptions{
				Database: c.Cluster.Database, Node: c.Cluster.Node, State: from, Notify: func(string) {},
				Log: zerolog.New(cmd.ErrOrStderr()).Level(zerolog.WarnLevel),
			}
			open := func() (*frontier.Frontier, error) { return daemon.OpenAlone(c, from, time.Now()) }
			if err := initCluster(cmd.Context(), o, open); err != nil {
				return fmt.Errorf("ship the store in %s: %w", from, err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "shipped the store: start the nodes")
			return err
		},
	}
	cli.ConfigFlag(cmd, &path)
	cmd.Flags().StringVar(&from, "from", "", "folder of the store (default: storage.state)")
	return cmd
}

// inBackground runs something until stop is called.
func inBackground(run func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { run(ctx) })
	return func() { cancel(); running.Wait() }
}

func newLeave() *cobra.Command {
	var path, to string
	cmd := &cobra.Command{
		Use:   "leave",
		Short: "Write the crawl of a cluster into a folder, for one daemon without a cluster",
		Long: `leave writes a crawl from the database into a new folder, as one store. Stop all nodes properly before, and use the
configuration of a node. Then name the folder in storage.state of a configuration without
[cluster], with the archives of all nodes in storage.warc or storage.elsewhere. Remove the crawl's schema, "arcrawl", so
that no node continues the same crawl.`,
		Example: "  arcrawl cluster leave --to /var/lib/arcrawl/state --config /etc/arcrawl/arcrawl.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := clusterConfig(cmd, path)
			if err == nil && to == "" {
				err = cli.Usage(errors.New("name the new folder with --to"))
			}
			if err != nil {
				return err
			}
			now := time.Now()
			left, err := leaveCluster(cmd.Context(), leaveOptions{
				Database: c.Cluster.Database, To: to, Now: now,
				Open: func(folder string) (*frontier.Frontier, error) { return daemon.OpenAlone(c, folder, now) },
			})
			if err != nil {
				return err
			}
			return writeLeft(cmd.OutOrStdout(), to, left)
		},
	}
	cli.ConfigFlag(cmd, &path)
	cmd.Flags().StringVar(&to, "to", "", "new folder of the store")
	return cmd
}

// writeLeft writes what leave has written.
func writeLeft(out io.Writer, to string, l leftStore) error {
	more := ""
	if l.Letters > 0 {
		more = fmt.Sprintf("added %s that were on their way between nodes\n", human.Count(l.Letters, "URI"))
	}
	if l.Damaged > 0 {
		more += fmt.Sprintf("left out %s that cannot be read: their payloads are archived again\n",
			human.Count(l.Damaged, "dedup entry"))
	}
	_, err := fmt.Fprintf(out, "wrote %s to %s: name it in storage.state, and remove [cluster]\n%s",
		human.Count(l.Rows, "row"), to, more)
	return err
}

// clusterConfig reads the configuration of a node.
func clusterConfig(cmd *cobra.Command, path string) (*config.Config, error) {
	c, err := cli.ReadConfig(cmd.ErrOrStderr(), path)
	if err == nil && c.Cluster.Database == "" {
		err = errors.New("the configuration has no cluster.database: this crawl has one node; see docs/cluster.md")
	}
	return c, err
}
