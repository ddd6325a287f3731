package fleet

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
)

// States returns the states of all nodes of the cluster whose main file is at path, without being one of them.
type States = func(cmd *cobra.Command, path string) (api.Fleet, error)

// Extend adds flags about several daemons to commands of the program. ofCluster is nil if the program has no clusters.
func Extend(root *cobra.Command, ofCluster States) {
	const node = "node"
	root.PersistentFlags().String(node, "",
		"ask node `NAME` of a cluster (default: the one that it is about, or all)")
	cli.SendFlag(root, node, nodeHeader)
	for _, cmd := range root.Commands() {
		if cmd.Name() == "status" {
			extendStatus(cmd, ofCluster)
		}
	}
}

// extendStatus lets a command show several daemons.
func extendStatus(cmd *cobra.Command, ofCluster States) {
	var file string
	var nodes bool
	cmd.Flags().StringVar(&file, "fleet", "", "show the separate daemons that `FILE` lists")
	cmd.Long += `

On a node of a cluster it asks all nodes, and shows their sums and each node; --node NAME shows one.`
	if ofCluster != nil {
		cmd.Flags().BoolVar(&nodes, "cluster", false, "show all nodes of a cluster, from its database")
		cmd.Long += ` With --cluster it
shows a node in each row, as the nodes report to the database, and below what each node crawls, whether the others can
take over, which nodes are alive, and whether a replica of the database has everything. Any machine with the
configuration may ask, as the user of the daemon, whose password for the database it needs. That takes five seconds.`
		cmd.Example += "\n  arcrawl status --cluster"
	}
	cmd.Long += `

With --fleet it shows several separate daemons, one in each row, and below them the reasons and alarms. Each line of FILE
has a name and a place: a socket, a configuration file (*.toml), or an address and the file with a token for it:

  press  /run/arcrawl/press.sock
  web    /etc/arcrawl/web.toml
  law    https://crawler.library.example:8471  /etc/arcrawl/law.token

The exit code is 69 if one of the fleet or cluster does not answer.`
	cmd.Example += "\n  arcrawl status --fleet /etc/arcrawl/fleet --watch"
	alone := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if file == "" && !nodes {
			return alone(cmd, args)
		}
		if file != "" && nodes {
			return cli.Usage(errors.New("--fleet and --cluster cannot be used together"))
		}
		for _, other := range []string{"health", "socket", "label", "collection", "owner"} {
			if cmd.Flags().Changed(other) {
				return cli.Usage(fmt.Errorf("--fleet and --cluster cannot be used together with --%s", other))
			}
		}
		return showFleet(cmd, file, ofCluster)
	}
}

// showFleet shows the daemons that a file lists, or all nodes of the cluster if none is named. A daemon that does not
// answer ends the command, but not the watching.
func showFleet(cmd *cobra.Command, file string, ofCluster States) error {
	ctx, out, flags := cmd.Context(), cmd.OutOrStdout(), cmd.Flags()
	all := func() (api.Fleet, error) { return ofCluster(cmd, flags.Lookup("config").Value.String()) }
	if file != "" {
		members, err := readFleet(file)
		if err != nil {
			return cli.Usage(err)
		}
		all = func() (api.Fleet, error) { return askFleet(ctx, members, fleetPatience), nil }
	}
	watch, _ := flags.GetBool("watch") // flags of this command
	every, _ := flags.GetDuration("every")
	asJSON, _ := flags.GetBool("json")
	if watch {
		return cli.Watch(ctx, out, every, func(page io.Writer) error {
			f, err := all()
			return errors.Join(err, writeFleet(page, f))
		})
	}
	f, err := all()
	if err != nil {
		return err
	}
	if asJSON {
		return errors.Join(cli.WriteJSON(out, f), missing(f))
	}
	return errors.Join(writeFleet(out, f), missing(f))
}
