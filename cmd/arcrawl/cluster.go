package main

import (
	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cluster/nodes"
)

func newCluster() *cobra.Command {
	return group("cluster", "Look at the nodes that share a crawl, configure them, and divide it among more of them",
		program().Commands()...)
}

// program returns what the commands about nodes share with the others.
func program() nodes.Program {
	return nodes.Program{
		PathFlag: configFlag, Config: readConfig, Wait: waitFor, Usage: func(err error) error { return usageError{err} },
	}
}
