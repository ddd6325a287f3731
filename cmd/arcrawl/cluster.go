package main

import (
	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/nodes"
)

func newCluster() *cobra.Command {
	p := nodes.Program{
		PathFlag: configFlag, Config: readConfig, Wait: waitFor, Usage: func(err error) error { return usageError{err} },
	}
	return group("cluster", "Look at the nodes that share a crawl, configure them, and divide it among more of them",
		p.Commands()...)
}
