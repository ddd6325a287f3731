package cluster

import (
	"context"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
)

// wingName is the name of the wing, also in what it adds to answers.
const wingName = "cluster"

// Wing returns what makes a process with [cluster] in its configuration a node.
func Wing() daemon.Wing {
	return daemon.Wing{
		Name: wingName,
		Run: func(ctx context.Context, c *config.Config, o daemon.Options) (taken bool, err error) {
			if c.Cluster.Database == "" {
				return false, nil
			}
			return true, run(ctx, c, o)
		},
		Stopped: func(ctx context.Context, c *config.Config) error {
			if c.Cluster.Database == "" {
				return nil
			}
			return checkStopped(ctx, c)
		},
		Alone: func(c *config.Config) error { return forgetCopy(c.Storage.State) },
	}
}
