package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
)

// extendReload lets a command put a configuration in force on all nodes.
func extendReload(cmd *cobra.Command) {
	var nodes bool
	cmd.Flags().BoolVar(&nodes, "cluster", false, "put the configuration in force on all nodes of a cluster, or on none")
	cmd.Long += `

With --cluster it sends all nodes the configuration in the main file and its folder of host files. Each live node
examines it with its own folders and secrets. If one of them finds a fault, or does not answer within a minute, the
configuration is in force nowhere. A node that is away takes it before it crawls. [cluster], [storage] and the addresses
in [admin] stay as each node has them. Each node writes the files to its own places, and keeps what it replaces in the
folder "replaced" of storage.state.`
	cmd.Example += "\n  arcrawl reload --cluster --config /etc/arcrawl/arcrawl.toml --dry-run"
	alone := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !nodes {
			return alone(cmd, args)
		}
		for _, other := range []string{"staged", "socket", "node"} {
			if cmd.Flags().Changed(other) || len(args) > 0 {
				return cli.Usage(errors.New("--cluster takes the whole configuration, named by --config, for all nodes: leave out " +
					"host files, --staged, --socket and --node"))
			}
		}
		return pushAll(cmd)
	}
}

// pushAll puts the configuration that a command names in force on all nodes.
func pushAll(cmd *cobra.Command) error {
	c, err := clusterConfig(cmd, cmd.Flags().Lookup("config").Value.String())
	if err == nil && len(c.Broken) > 0 {
		err = config.Faults(c.Broken)
	}
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	dryRun, _ := cmd.Flags().GetBool("dry-run") // flags of this command
	asJSON, _ := cmd.Flags().GetBool("json")
	r, err := push(ctx, c, dryRun, func(d time.Duration) error { return cli.Wait(ctx, d) })
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(r)
	}
	return showPush(cmd.OutOrStdout(), r, dryRun)
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
