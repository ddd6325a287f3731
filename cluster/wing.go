package cluster

import (
	"context"
	"fmt"
	"strings"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
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
		Stopped: stopped,
		Alone:   func(c *config.Config) error { return forgetCopy(c.Storage.State) },
		NoStore: noStore,
	}
}

// stopped returns an error unless the store of a stopped node is the newest copy of the crawl.
func stopped(
	ctx context.Context, c *config.Config,
) (others func(group func(uri.Host) string) frontier.Elsewhere, err error) {
	if c.Cluster.Database == "" {
		return nil, nil
	}
	n, err := checkStopped(ctx, nodeOptions{
		Database: c.Cluster.Database, Node: c.Cluster.Node, State: c.Storage.State,
	})
	if err != nil {
		return nil, err
	}
	return n.Elsewhere, nil
}

// noStore returns where the stores of a divided crawl are; nil if it was not divided.
func noStore(c *config.Config) error {
	all, err := shardFolders(c.Storage.State)
	if err != nil || len(all) == 0 {
		return nil // the daemon says what is wrong with the folder
	}
	return fmt.Errorf("the crawl is divided, and this node has shards in %s: run the command while the daemon runs, or name "+
		"one of these folders in storage.state of a copy of the main file; the stores move between nodes, so back up the database of the "+
		"cluster instead, with the means of PostgreSQL", strings.Join(all, ", "))
}
