package cluster

import (
	"bytes"
	"context"

	"github.com/arcrawl/arcrawl/cluster/shared"
)

// Announce lets the other nodes know where this process answers them. They know it after their next beat.
func (n *thisNode) Announce(d shared.Door) { n.shared.Announce(d) }

// Crawler returns the name of the node that crawls a shard, and where it answers other nodes, as the last beat found
// it. The name is empty if no node crawls the shard.
func (n *thisNode) Crawler(shard int) (name string, d shared.Door) {
	st := n.found.Load()
	if st == nil || shard < 1 || shard > len(st.Shards) {
		return "", shared.Door{}
	}
	name = st.Shards[shard-1].Crawler()
	for _, m := range st.Nodes {
		if m.Name == name {
			return name, m.Door
		}
	}
	return name, shared.Door{}
}

// Bearer returns the name of the node whose process has a certificate with a fingerprint; "" if no node has it that may
// act for the crawl.
func (n *thisNode) Bearer(print []byte) string {
	st := n.found.Load()
	if st == nil || len(print) == 0 {
		return ""
	}
	for _, m := range st.Nodes {
		if bytes.Equal(m.Door.Print, print) {
			return m.Name
		}
	}
	return ""
}

// Names returns the names of all nodes, also of those that do not answer.
func (n *thisNode) Names(ctx context.Context) ([]string, error) {
	ask, cancel := context.WithTimeout(ctx, foreignLookTime)
	defer cancel()
	return n.shared.Names(ask)
}
