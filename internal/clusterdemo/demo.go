// Package clusterdemo shows a cluster on one machine: it starts a PostgreSQL server, some nodes and some sites in one
// folder. A node is killed while somebody watches, and comes back. Everything is stopped before the demo returns. If
// its process is killed, the kernel of Linux ends what it has started.
package clusterdemo

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
	"github.com/arcrawl/arcrawl/uri"
)

// Demo has what the demo of a cluster shares with the demo of one daemon.
type Demo struct {
	Folder func(named string) (string, error)     // makes the folder of a demo
	Token  func(c *config.Config) (string, error) // returns a token for the dashboard
	// Line returns the line of a visit in a demo with further columns, which take some characters.
	Line func(
		out io.Writer, others int, clock string, status int, path, result string, wait time.Duration, reason string,
	) string

	owners Owners
	partOf func(h uri.Host) int16
}

// Owners returns the node that crawls each part of the hosts; nothing before the first node has begun.
type Owners = func(ctx context.Context, database string) ([]string, error)

// Extend lets the command demo show a cluster. partOf returns the part that a host belongs to.
func (d Demo) Extend(root *cobra.Command, owners Owners, partOf func(h uri.Host) int16) {
	d.owners, d.partOf = owners, partOf
	for _, cmd := range root.Commands() {
		if cmd.Name() == "demo" {
			d.extend(cmd)
		}
	}
}

// extend lets the command show a cluster.
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
