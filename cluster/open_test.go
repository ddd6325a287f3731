package cluster

import (
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/frontier"
)

// takes takes parts, loads what is not here, and crawls them.
func (c *crawling) takes(parts []int16) {
	c.Helper()
	st := c.n.found.Load()
	c.must(c.n.take(c.Context(), st.States, parts))
	if list := c.n.parts.in(coming); len(list) > 0 {
		c.must(c.n.load(c.Context(), list, new(arrivals)))
		c.must(c.n.crawl(list))
	}
}

// ships ships what has changed.
func (c *crawling) ships() {
	c.Helper()
	_, err := c.n.shipOnce(c.Context())
	c.must(err)
}

// still ends the moves of parts. What changes is shipped, and letters are received, as before.
func (c *crawling) still() {
	last := len(c.end) - 1
	c.end[last]()
	c.end[last] = func() {}
}

// index opens the dedup index of a store as the daemon does; the node is nil if the process is on its own.
func (p *fixture) index(f *frontier.Frontier, n *thisNode) *dedup.Index {
	p.Helper()
	o := dedup.Options{}
	if n != nil {
		o.Shared = n.Payloads()
	}
	i, err := dedup.Open(f.DB(), o)
	p.must(err)
	return i
}

// parted returns the parts with even numbers, and the others.
func parted() (even, odd []int16) {
	for _, part := range allParts() {
		if part%2 == 0 {
			even = append(even, part)
		} else {
			odd = append(odd, part)
		}
	}
	return even, odd
}

// fenced fences a node that was killed.
func (c *crawling) fences(dead string) {
	c.Helper()
	st, err := c.n.shared.Beat(c.Context())
	c.must(err)
	for _, m := range st.Nodes {
		if m.Name == dead {
			if done, err := c.n.shared.Fence(c.Context(), dead, m.Beat); !done || err != nil {
				c.Fatalf("fence: %v", err)
			}
			c.eventually("a beat", func() bool { return c.n.found.Load().Own > st.Own })
			return
		}
	}
	c.Fatalf("there is no node %s", dead)
}
