package crawler

import (
	"context"

	"github.com/arcrawl/arcrawl/frontier"
)

// OnStep calls f at each step of a walk, for tests that die there.
func (c *Crawler) OnStep(f func(step string)) { c.step = f }

// Walk walks a claim, for benchmarks.
func (c *Crawler) Walk(ctx context.Context, claim frontier.Claim) error { return c.walk(ctx, claim, 1) }
