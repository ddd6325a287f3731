package cluster

import (
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/cluster/shared"
)

// watch notes since when the owners of the shards stand still.
type watch struct {
	seen  []shared.State
	since []time.Time // seen did not change since then, in all answers
	told  []bool
}

// look compares the owners with the ones that it saw last, and reports whether one stands still for too long.
func (w *watch) look(st shared.States, log zerolog.Logger) (still bool) {
	if len(w.seen) != len(st.Shards) {
		*w = watch{seen: make([]shared.State, len(st.Shards)), since: make([]time.Time, len(st.Shards))}
	}
	for i, s := range st.Shards {
		if w.since[i].IsZero() || s.Owner != w.seen[i].Owner || s.Beat != w.seen[i].Beat {
			if s.Owner != "" && s.Owner != w.seen[i].Owner {
				log.Info().Str("owner", s.Owner).Int("shard", i+1).Msg("another node crawls: waiting to take over")
			}
			w.since[i] = time.Now()
		}
		w.seen[i] = s
	}
	return w.still().Owner != ""
}

// tellAfter is how long nobody crawls a shard before the nodes of the others log that. A waiting node takes it sooner.
const tellAfter = time.Minute

// tell logs once which shards nobody crawls.
func (w *watch) tell(st shared.States, log zerolog.Logger) {
	w.look(st, zerolog.Nop())
	if w.told == nil {
		w.told = make([]bool, len(st.Shards))
	}
	for i := range min(len(w.told), len(st.Shards)) {
		orphan := time.Since(w.since[i]) >= tellAfter
		if orphan && !w.told[i] {
			log.Error().Int("shard", i+1).Msg("nobody crawls a shard: its hosts are not visited until you start another node")
		}
		w.told[i] = orphan
	}
}

// still returns a shard whose owner stands still for too long; the zero value if there is none.
func (w *watch) still() shared.State {
	for i, s := range w.seen {
		if s.Owner != "" && !s.Fenced && time.Since(w.since[i]) >= fenceAfter {
			return s
		}
	}
	return shared.State{}
}
