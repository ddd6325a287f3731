package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
)

// Demo has what a demo of several nodes shares with the demo of one daemon.
type Demo struct {
	Folder func(named string) (string, error)     // makes the folder of a demo
	Token  func(c *config.Config) (string, error) // returns a token for the dashboard
	// Line returns the line of a visit in a demo with further columns, which take some characters.
	Line func(
		out io.Writer, others int, clock string, status int, path, result string, wait time.Duration, reason string,
	) string
}

// Extend adds flags about nodes to commands of the program.
func Extend(root *cobra.Command, d Demo) {
	const node = "node"
	root.PersistentFlags().String(node, "",
		"ask node `NAME` of a cluster (default: the one that it is about, or all)")
	cli.SendFlag(root, node, nodeHeader)
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "status":
			extendStatus(cmd)
		case "reload":
			extendReload(cmd)
		case "demo":
			d.extend(cmd)
		}
	}
}

// extendStatus lets a command show several daemons.
func extendStatus(cmd *cobra.Command) {
	var file string
	var nodes bool
	cmd.Flags().StringVar(&file, "fleet", "", "show the separate daemons that `FILE` lists")
	cmd.Flags().BoolVar(&nodes, "cluster", false, "show all nodes of a cluster, from its database")
	cmd.Long += `

On a node of a cluster it asks all nodes, and shows their sums and each node; --node NAME shows one. With --cluster it
shows a node in each row, as the nodes report to the database, and below what each node crawls, whether the others can
take over, which nodes are alive, and whether a replica of the database has everything. Any machine with the
configuration may ask, as the user of the daemon, whose password for the database it needs. That takes five seconds.

With --fleet it shows several separate daemons, one in each row, and below them the reasons and alarms. Each line of FILE
has a name and a place: a socket, a configuration file (*.toml), or an address and the file with a token for it:

  press  /run/arcrawl/press.sock
  web    /etc/arcrawl/web.toml
  law    https://crawler.library.example:8471  /etc/arcrawl/law.token

The exit code is 69 if one of the fleet or cluster does not answer.`
	cmd.Example += `
  arcrawl status --fleet /etc/arcrawl/fleet --watch
  arcrawl status --cluster`
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
		return showFleet(cmd, file)
	}
}

// showFleet shows the daemons that a file lists, or all nodes of the cluster if none is named. A daemon that does not
// answer ends the command, but not the watching.
func showFleet(cmd *cobra.Command, file string) error {
	ctx, out, flags := cmd.Context(), cmd.OutOrStdout(), cmd.Flags()
	all := func() (fleetStatus, error) { return fleetOf(cmd, flags.Lookup("config").Value.String()) }
	if file != "" {
		members, err := readFleet(file)
		if err != nil {
			return cli.Usage(err)
		}
		all = func() (fleetStatus, error) { return askFleet(ctx, members, fleetPatience), nil }
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
		return errors.Join(cli.WriteJSON(out, f), f.Missing())
	}
	return errors.Join(writeFleet(out, f), f.Missing())
}

// extend lets the demo show a cluster.
func (d Demo) extend(cmd *cobra.Command) {
	var nodes int
	cmd.Flags().IntVar(&nodes, "nodes", 0, "show a cluster of N nodes, of which one is killed")
	cmd.Long += `

With --nodes it shows a cluster on this machine: it starts PostgreSQL, which must be installed (Debian: apt install
postgresql), and nodes that crawl some sites together. It kills a node, shows how the others take its sites over, and
starts it again; then the next node. The first turn takes about two minutes.`
	cmd.Example += "\n  arcrawl demo --nodes 3"
	alone := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed("nodes") {
			return alone(cmd, args)
		}
		if nodes < minNodes || nodes > maxNodes {
			return cli.Usage(fmt.Errorf("--nodes %d: a cluster of the demo has %d to %d nodes", nodes, minNodes,
				maxNodes))
		}
		if cmd.Flags().Changed("replay-assets") {
			return cli.Usage(errors.New("--replay-assets does nothing with --nodes: leave one of them out"))
		}
		bound, _ := cmd.Flags().GetDuration("for") // flags of this command
		dir, _ := cmd.Flags().GetString("dir")
		if bound < 0 {
			return cli.Usage(fmt.Errorf("--for %s is negative; write a duration such as 60s", bound))
		}
		return d.show(cmd.Context(), cmd.OutOrStdout(), dir, nodes, bound)
	}
}

// show shows a cluster until ctx ends or the time is over.
func (d Demo) show(ctx context.Context, out io.Writer, dir string, nodes int, bound time.Duration) error {
	bin, version, err := findServer()
	if err != nil {
		return err
	}
	if bound > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, bound)
		defer cancel()
	}
	if dir, err = d.Folder(dir); err != nil {
		return err
	}
	binary, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the file of this program, which the nodes run: %w", err)
	}
	p := &play{Demo: d, out: out, dir: dir, binary: binary, names: strings.Split("abcdefghi", "")[:nodes]}
	return p.run(ctx, bin, version)
}
