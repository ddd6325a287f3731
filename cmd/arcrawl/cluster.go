package main

import (
	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cluster/nodes"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
)

func newCluster() *cobra.Command {
	return cli.Group("cluster", "Look at the nodes that share a crawl, configure them, and divide it among more of them",
		program().Commands()...)
}

// program returns what the commands about nodes share with the others.
func program() nodes.Program {
	return nodes.Program{
		PathFlag: cli.ConfigFlag, Config: cli.ReadConfig, Wait: cli.Wait, Usage: cli.Usage,
	}
}
