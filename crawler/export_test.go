package crawler

import (
	"context"

	"github.com/arcrawl/arcrawl/frontier"
)

// OnStep lets a test die at a step of the walk.
func (c *Crawler) OnStep(f func(step string)) { c.step = f }

// Walk lets a benchmark walk a claim of its own.
func (c *Crawler) Walk(ctx context.Context, claim frontier.Claim) error { return c.walk(ctx, claim, 1) }
