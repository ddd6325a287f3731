package cluster

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
)

func newPush() *cobra.Command {
	var path string
	var dryRun, asJSON bool
	cmd := &cobra.Command{
		Use:   "push",
		Short: "Put a configuration in force on all nodes, or on none",
		Long: `push sends all nodes the configuration in the main file and its folder of host files. Each live node examines it with
its own folders and secrets. If one of them finds a fault, or does not answer within a minute, the configuration is in
force nowhere. A node that is away takes it before it crawls. [cluster], [storage] and the addresses in [admin] stay as
each node has them. Each node writes the files to its own places, and keeps what it replaces in the folder "replaced" of
storage.state.`,
		Example: "  arcrawl cluster push --config /etc/arcrawl/arcrawl.toml --dry-run",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := clusterConfig(cmd, path)
			if err == nil && len(c.Broken) > 0 {
				err = config.Faults(c.Broken)
			}
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			r, err := push(ctx, c, dryRun, func(d time.Duration) error { return cli.Wait(ctx, d) })
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(r)
			}
			return showPush(cmd.OutOrStdout(), r, dryRun)
		},
	}
	cli.ConfigFlag(cmd, &path)
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "let the nodes examine the configuration, and put it in force nowhere")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// showPush prints how a push ended.
func showPush(out io.Writer, r pushResult, dryRun bool) error {
	nodes := strings.Join(r.Nodes, ", ")
	text := fmt.Sprintf("revision %d is in force on %s\n", r.Revision, nodes)
	if dryRun {
		text = fmt.Sprintf("accepted by %s; nothing has changed\n", nodes)
	}
	if len(r.Away) > 0 {
		text += fmt.Sprintf("do not answer, and take it before they crawl: %s\n", strings.Join(r.Away, ", "))
	}
	_, err := io.WriteString(out, text)
	return err
}
