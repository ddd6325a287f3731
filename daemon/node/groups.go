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
		if group := c.ForHost(h, now).Politeness.Group; group != "" {
			fmt.Fprintf(sum, "%q %q\n", h, group)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}
