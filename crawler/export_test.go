package crawler

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
)

// OnStep calls f at each step of a walk. Tests use it to kill the process there.
func (c *Crawler) OnStep(f func(step string)) { c.step = f }

// Walk makes the visit of a claim. Benchmarks use it.
func (c *Crawler) Walk(ctx context.Context, claim frontier.Claim) error { return c.walk(ctx, claim, 1) }

// AspectNames returns the names of the aspects.
func AspectNames() []string {
	return []string{"articles", "feeds", "hold", "login", "misfortune", "names", "noise", "robots", "scope", "spaces"}
}

// aspectOf names the aspects of steps that have another name.
var aspectOf = map[string]string{
	"gone": "misfortune", "fault": "misfortune", "retry": "misfortune", "Retry-After": "misfortune",
	"second look": "noise", "late host": "feeds",
}

// Without takes the steps of an aspect out of the order.
func (c *Crawler) Without(aspect string) {
	o := &c.order
	o.gates, o.askers = remove(o.gates, aspect), remove(o.askers, aspect)
	o.judges, o.readers = remove(o.judges, aspect), remove(o.readers, aspect)
	o.waits, o.shorten, o.overrule = remove(o.waits, aspect), remove(o.shorten, aspect), remove(o.overrule, aspect)
	o.learners, o.notes = remove(o.learners, aspect), remove(o.notes, aspect)
}

func remove[F any](steps []step[F], aspect string) []step[F] {
	return slices.DeleteFunc(steps, func(s step[F]) bool { return cmp.Or(aspectOf[s.name], s.name) == aspect })
}

// ClaimAndSettle claims a URI as a worker does at a time, and settles it at once. Its host rests for a while.
func (c *Crawler) ClaimAndSettle(now time.Time, rest time.Duration) (ok bool, err error) {
	claim, ok, err := c.claim(now)
	if !ok || err != nil {
		return ok, err
	}
	r := claim.Record
	r.Due = now.Add(time.Hour)
	_, err = c.parts.Frontier.Settle(claim.Claim, frontier.Settlement{
		Record: r, Finished: now, Politeness: frontier.Politeness{MinDelay: rest, MaxDelay: rest},
	})
	return true, err
}
