package crawler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/crawler/answer"
	"github.com/arcrawl/arcrawl/crawler/uplink"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// probeRest is how long a host rests after a probe without an answer, so that the next probe goes to another host. The
// rest ends when the network is back.
const probeRest = 2 * time.Minute

// canaryTimeout is how long a canary may take to accept a connection.
const canaryTimeout = 5 * time.Second

var errUplink = errors.New("our own network seems to be down: several hosts in a row that answered before are unreachable; " +
	"probing one host at a time")

// checkUplink looks whether an exchange shows that our own network is down or back. It returns an error if the
// network is down, so that the exchange says nothing about its host.
func (c *Crawler) checkUplink(ctx context.Context, claim frontier.Claim, got *fetch.Capture, now time.Time) error {
	u := claim.Record.URI
	switch {
	case errors.Is(got.Misfortune, fetch.ErrForbiddenAddress):
		return nil // no request was made
	case answer.HostDown(got.Status):
		way := c.parts.Config.Current().Way()
		reach := func(address string) bool { return c.parts.Fetch.Reach(ctx, way, address, canaryTimeout) }
		if c.uplink.Unreachable(claim.Record, c.parts.Frontier.Network(u.Host()), now) &&
			c.uplink.Decide(now, c.parts.Config.Current().Crawl.CanaryAddresses(), reach) {
			return c.restProbedHost(u.Host(), now)
		}
	case got.Status != fetch.TimedOut && got.Status != fetch.ConnectionLost:
		if suspects, probed := c.uplink.Answered(u, frontier.NetworkOf(got.IP), now); len(suspects)+len(probed) > 0 {
			c.parts.Log.Info().Int("hosts", len(suspects)+len(probed)).
				Msg("our own network is back: visiting the hosts again that seemed to be down")
			return uplink.Undo(c.parts.Frontier, suspects, probed, now)
		}
	}
	return nil
}

// restProbedHost lets a host rest that was probed without an answer.
func (c *Crawler) restProbedHost(h uri.Host, now time.Time) error {
	c.uplink.Probed(h)
	rest := frontier.HostAction{Verb: frontier.Rest, Until: now.Add(probeRest)}
	if _, _, err := c.parts.Frontier.SteerHosts(now, string(h), rest); err != nil {
		return fmt.Errorf("let %s rest: %w", h, err)
	}
	return errUplink
}
