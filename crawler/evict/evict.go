// Package evict makes room for new hosts in the background.
package evict

import (
	"errors"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/frontier"
)

// Every is the time between two calls of Store.MakeRoom.
const Every = 30 * time.Second

// Store holds the hosts. A [frontier.Frontier] does.
type Store interface {
	MakeRoom(stop <-chan struct{}) (evicted int, err error)
}

// Run evicts hosts that never answered whenever nearly as many are known as may be, until stop is closed. It returns an
// error only if the store is damaged.
func Run(stop <-chan struct{}, s Store, log zerolog.Logger) error {
	round := time.NewTicker(Every)
	defer round.Stop()
	for {
		select {
		case <-stop:
			return nil
		case <-round.C:
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
