package crawler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// probeRest is how long a host rests after a probe without an answer, so that the next probe goes to another host. The
// rest ends when the network is back.
const probeRest = 2 * time.Minute

// canaryTimeout is how long a canary may take to accept a connection.
const canaryTimeout = 5 * time.Second

var errDown = errors.New("our own network seems to be down: several hosts in a row that answered before are unreachable; " +
	"probing one host at a time")

// CheckParts holds everything that [UplinkWatch.Check] needs.
type CheckParts struct {
	Config   *config.Config
	Frontier *frontier.Frontier
	Fetch    *fetch.Client
	Log      zerolog.Logger
}

// Check looks whether an exchange shows that our own network is down or back. It returns an error if the network is
// down, so that the exchange says nothing about its host.
func (w *UplinkWatch) Check(
	ctx context.Context, p CheckParts, r frontier.Record, got *fetch.Capture, now time.Time,
) error {
	u := r.URI
	switch {
	case errors.Is(got.Misfortune, fetch.ErrForbiddenAddress):
		return nil // no request was made
	case misfortune.HostDown(got.Status):
		way := p.Config.Way()
		reach := func(address string) bool { return p.Fetch.Reach(ctx, way, address, canaryTimeout) }
		if w.Unreachable(r, p.Frontier.Network(u.Host()), now) &&
			w.Decide(now, p.Config.Crawl.CanaryAddresses(), reach) {
			return w.restProbedHost(p.Frontier, u.Host(), now)
		}
	case got.Status != fetch.TimedOut && got.Status != fetch.ConnectionLost:
		if suspects, probed := w.Answered(u, frontier.NetworkOf(got.IP), now); len(suspects)+len(probed) > 0 {
			p.Log.Info().Int("hosts", len(suspects)+len(probed)).
				Msg("our own network is back: visiting the hosts again that seemed to be down")
			return UndoFailures(p.Frontier, suspects, probed, now)
		}
	}
	return nil
}

// restProbedHost lets a host rest that was probed without an answer.
func (w *UplinkWatch) restProbedHost(f *frontier.Frontier, h uri.Host, now time.Time) error {
	w.Probed(h)
	rest := frontier.HostAction{Verb: frontier.Rest, Until: now.Add(probeRest)}
	if _, _, err := f.SteerHosts(now, string(h), rest); err != nil {
		return fmt.Errorf("let %s rest: %w", h, err)
	}
	return errDown
}
