package crawler

import (
	"context"
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
)

// skip ends a claim that admits no visit now.
func (c *Crawler) skip(ctx context.Context, v *aspects.Visit, a aspects.Admission) error {
	switch {
	case a.Refused != nil:
		return c.refuse(ctx, v, *a.Refused)
	case a.Again > 0:
		if err := c.parts.Frontier.Abandon(v.Claim, v.Began, a.Again); err != nil {
			return fmt.Errorf("abandon %s: %w", v.URI(), err)
		}
		return nil
	}
	return c.restHost(v.Claim, a.RestUntil, v.Began)
}

// refuse logs and settles a URI that is not visited. The host need not rest, because no request was made.
func (c *Crawler) refuse(ctx context.Context, v *aspects.Visit, why aspects.Refusal) error {
	claim, now := v.Claim, v.Began
	r := claim.Record
	r.LastStatus, r.Why, r.Chain = why.Status, why.Why, ""
	if why.ByConfig {
		r = settleOutOfScope(r, now.Add(why.Wait))
	} else {
		r.Due, r.DueInScope, r.Urgent = now.Add(why.Wait), time.Time{}, false
	}
	var extra *crawllog.Extra
	if claim.Record.Visits == 0 && claim.Record.LastStatus == 0 {
		extra = &crawllog.Extra{FirstSeen: r.FirstSeen}
	}
	err := c.parts.CrawlLog.Write(crawllog.Entry{
		Extra: extra, Logged: now, Status: why.Status, Size: -1, URI: r.URI.String(), Hops: r.Hops, Via: r.Via, Seed: r.Seed,
		Worker: v.Worker, Annotations: []string{why.Why},
		Schedule: &crawllog.Schedule{Wait: why.Wait, Visits: r.Visits, Versions: r.Versions, Overdue: claim.Overdue},
	})
	if err != nil {
		return c.release(ctx, claim, fmt.Errorf("log %s: %w", r.URI, err))
	}
	_, err = c.parts.Frontier.Settle(claim, frontier.Settlement{
		Record: r, Finished: now, NoRequest: true, Forbidden: why.Status == aspects.StatusForbidden,
	})
	if err != nil {
		return fmt.Errorf("settle %s: %w", r.URI, err)
	}
	if why.ByConfig && c.parts.Config.Current() != settingsOf(v).config {
		signal(c.scopeChanged) // the new configuration may admit it
	}
	signal(c.dirty)
	c.parts.Observe(Report{
		URI: r.URI, Hops: r.Hops, Finished: now, Status: why.Status, Due: r.Due, Visits: r.Visits, Versions: r.Versions,
		Wait: evaluators.Wait{Interval: why.Wait, Reason: why.Why},
	})
	return nil
}
