package node

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/uri"
)

// GroupsOf returns a digest of the politeness groups of all hosts, which decide about the shards of a cluster.
func GroupsOf(c *config.Config) string {
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
