package crawler

import (
	"context"

	"github.com/arcrawl/arcrawl/frontier"
)

// OnStep calls f at each step of a walk. Tests use it to kill the process there.
func (c *Crawler) OnStep(f func(step string)) { c.step = f }

// Walk makes the visit of a claim. Benchmarks use it.
func (c *Crawler) Walk(ctx context.Context, claim frontier.Claim) error { return c.walk(ctx, claim, 1) }
