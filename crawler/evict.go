// This file makes room for new hosts in the background.

package crawler

import (
	"errors"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/frontier"
)

// evictable holds the hosts. A [frontier.Frontier] does.
type evictable interface {
	MakeRoom(stop <-chan struct{}) (evicted int, err error)
}

// evictHosts evicts hosts that never answered if nearly as many are known as may be, at each tick until stop is closed.
// It returns an error only if the store is damaged.
func evictHosts(stop <-chan struct{}, tick <-chan time.Time, s evictable, log zerolog.Logger) error {
	for {
		select {
		case <-stop:
			return nil
		case <-tick:
		}
		n, err := s.MakeRoom(stop)
		if n > 0 {
			log.Warn().Int("hosts", n).
				Msg("removed hosts that never answered, with their URIs: nearly crawl.max_hosts hosts are known")
		}
		switch {
		case errors.Is(err, frontier.ErrCorrupt):
			return err
		case err != nil:
			log.Error().Err(err).Msg("could not remove hosts that never answered: new hosts may be refused; trying again later")
		}
	}
}
