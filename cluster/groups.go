package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/uri"
)

// groupsOf returns a digest of the politeness groups of all hosts, which decide about the shards of a cluster.
func groupsOf(c *config.Config) string {
	now, sum := time.Now(), sha256.New()
	for _, h := range append([]uri.Host{""}, slices.Sorted(slices.Values(c.FileHosts()))...) {
		// A file holds for the hosts below too, unless its host is a public suffix, which another version may not know.
		for _, name := range []uri.Host{h, "a-subdomain." + h} {
			if group := c.ForHost(name, now).Politeness.Group; group != "" {
				fmt.Fprintf(sum, "%q %q\n", name, group)
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Accept returns an error if a new configuration must not be put in force while nodes crawl: hosts of other groups
// belong to other shards, and two nodes would visit them.
func (n *ownedShard) Accept(c *config.Config) error {
	if n.shards < 2 || n.o.Groups == nil || groupsOf(c) == n.groups {
		return nil
	}
	return config.Faults{{
		File: c.Path, Key: "politeness.group", Problem: "differs from the groups of the nodes that crawl, and decides which node visits a host",
		Remedy: "to change groups, stop all nodes, change the files of each, and start them again; undo the change of groups to have " +
			"the rest of the files read now",
	}}
}
