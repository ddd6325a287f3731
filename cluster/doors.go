package cluster

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/uri"
)

// Announce lets the other nodes know where this process answers them, and the fingerprint of its certificate. They know
// it after their next beat.
func (n *thisNode) Announce(address string, print []byte) {
	n.shared.Announce(shared.Door{Address: address, Print: print})
}

// Name returns the name of this node.
func (n *thisNode) Name() string { return n.o.Node }

// Names returns the nodes to ask about the whole crawl, sorted: those that own parts of it, those that have joined and
// not fallen silent, and this one.
func (n *thisNode) Names() []string {
	st := n.found.Load()
	names := map[string]bool{n.o.Node: true}
	for part := range st.Parts {
		names[st.Crawler(int16(part))] = true
	}
	n.mu.Lock()
	silent := n.silent
	n.mu.Unlock()
	for _, m := range st.Nodes {
		if !m.Fenced && m.Door.Address != "" && !silent[m.Name] {
			names[m.Name] = true
		}
	}
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}

// Crawler returns the name of the node that crawls a host, as the last beat found it; "" if none does.
func (n *thisNode) Crawler(h uri.Host) string { return n.found.Load().Crawler(n.partOf(h)) }

// Uncrawled says what no node crawls, as the last beat found it; "" = nothing.
func (n *thisNode) Uncrawled() string { return shared.Uncrawled(n.found.Load().Orphans()) }

// Door returns what a node has announced; the address is "" if it does not answer other nodes.
func (n *thisNode) Door(node string) (address string, print []byte) {
	for _, m := range n.found.Load().Nodes {
		if m.Name == node && !m.Fenced {
			return m.Door.Address, m.Door.Print
		}
	}
	return "", nil
}

// Bearer returns the name of the node whose process has a certificate with a fingerprint; "" if no node has it that may
// act for the crawl.
func (n *thisNode) Bearer(print []byte) string {
	for _, m := range n.found.Load().Nodes {
		if len(print) > 0 && !m.Fenced && bytes.Equal(m.Door.Print, print) {
			return m.Name
		}
	}
	return ""
}

// AllNames returns the names of all nodes, also of those that do not answer.
func (n *thisNode) AllNames(ctx context.Context) ([]string, error) {
	ask, cancel := context.WithTimeout(ctx, foreignLookTime)
	defer cancel()
	return n.shared.Names(ask)
}
