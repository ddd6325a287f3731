package cluster

import (
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/cluster/shared"
)

// watch notes since when the owners of the shards stand still, by the times of sightings.
type watch struct {
	me    string // this node
	now   time.Time
	seen  []shared.State
	since []time.Time // seen did not change since then, in all answers
	told  []bool
}

// look compares the owners with the ones that it saw last.
func (w *watch) look(st sighting, log zerolog.Logger) {
	if n := len(st.Shards); len(w.seen) != n {
		w.seen, w.since, w.told = make([]shared.State, n), make([]time.Time, n), make([]bool, n)
	}
	w.now = st.at
	for i, s := range st.Shards {
		if w.since[i].IsZero() || s.Owner != w.seen[i].Owner || s.Beat != w.seen[i].Beat {
			if s.Owner != "" && s.Owner != w.me && s.Owner != w.seen[i].Owner {
				log.Info().Str("owner", s.Owner).Int("shard", i+1).
					Msg("another node crawls this shard: if that one stands still, this node takes it over")
			}
			w.since[i] = w.now
		}
		w.seen[i] = s
	}
}

// tellAfter is how long nobody crawls a shard before the nodes of the others log that. A waiting node takes it sooner.
const tellAfter = time.Minute

// tell logs once which shards nobody crawls.
func (w *watch) tell(log zerolog.Logger) {
	for i, since := range w.since {
		orphan := w.now.Sub(since) >= tellAfter
		if orphan && !w.told[i] {
			log.Error().Int("shard", i+1).Msg("nobody crawls a shard: its hosts are not visited until you start another node")
		}
		w.told[i] = orphan
	}
}

// still returns a shard whose owner stands still for too long; the zero value if there is none.
func (w *watch) still() shared.State {
	for i, s := range w.seen {
		if s.Owner != "" && !s.Fenced && w.now.Sub(w.since[i]) >= fenceAfter {
			return s
		}
	}
	return shared.State{}
}
