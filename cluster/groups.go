package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// groupsOf returns a digest of the politeness groups of all hosts, which decide which node visits a host; "" if
// there are none.
func groupsOf(c *config.Config) string {
	now, sum, some := time.Now(), sha256.New(), false
	for _, h := range append([]uri.Host{""}, slices.Sorted(slices.Values(c.FileHosts()))...) {
		// A file holds for the hosts below too, unless its host is a public suffix, which another version may not know.
		for _, name := range []uri.Host{h, "a-subdomain." + h} {
			if group := c.ForHost(name, now).Politeness.Group; group != "" {
				fmt.Fprintf(sum, "%q %q\n", name, group)
				some = true
			}
		}
	}
	if !some {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// regroup moves the hosts of the crawl to the parts of their groups, which have changed while all nodes were stopped.
func (n *thisNode) regroup(ctx context.Context) error {
	n.o.Log.Info().Msg("politeness.group has changed: moving the rows of hosts in the database of the cluster")
	moved, err := n.shared.Regroup(ctx, n.o.Groups, func(k, v []byte) (int16, bool) {
		h, ok := frontier.HostOf(k, v)
		return n.partOf(h), ok
	})
	if err == nil {
		n.o.Log.Info().Int("rows", moved).Msg("moved the rows of hosts whose politeness.group has changed")
	}
	return err
}

// acceptGroups returns an error if a new configuration must not be put in force while nodes crawl: hosts of other
// groups belong to other parts, and two nodes would visit them.
func (n *thisNode) acceptGroups(c *config.Config) error {
	if groupsOf(c) == n.o.Groups {
		return nil
	}
	return config.Faults{{
		File: c.Path, Key: "politeness.group", Problem: "differs from the groups of the nodes that crawl, and decides which node visits a host",
		Remedy: "to change groups, stop all nodes, change the files of each, and start them again; undo the change of groups to have " +
			"the rest of the files read now",
	}}
}
