package cluster

import (
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/cluster/shared"
)

// watch notes since when the other nodes stand still, by the times of sightings.
type watch struct {
	me     string // this node
	now    time.Time
	seen   map[string]seenNode
	orphan time.Time // since when some hosts are crawled by nobody; zero = all are
	told   bool
}

// seenNode holds what was seen of a node.
type seenNode struct {
	shared.Member
	owns  bool
	since time.Time // its beat did not change since then, in all answers
}

// tellAfter is how long hosts are crawled by nobody before a node logs that.
const tellAfter = time.Minute

// look compares the nodes with what it saw last, and logs once that nobody crawls some hosts.
func (w *watch) look(st sighting, log zerolog.Logger) {
	w.now = st.at
	owners, orphans := map[string]bool{}, st.Orphans()
	for _, p := range st.Parts {
		owners[p.Owner] = true
	}
	now := map[string]seenNode{}
	for _, m := range st.Nodes {
		was, known := w.seen[m.Name]
		if !known || was.Beat != m.Beat {
			was.since = w.now
		}
		now[m.Name] = seenNode{m, owners[m.Name], was.since}
	}
	w.seen = now
	switch {
	case orphans == 0:
		w.orphan, w.told = time.Time{}, false
	case w.orphan.IsZero():
		w.orphan = w.now
	case !w.told && w.now.Sub(w.orphan) >= tellAfter:
		w.told = true
		log.Error().Int("parts", orphans).Msg("nobody crawls some hosts: start another node")
	}
}

// still returns the nodes that own parts and stand still for too long.
func (w *watch) still() (list []shared.Member) {
	for _, m := range w.seen {
		if m.owns && m.Name != w.me && !m.Fenced && w.now.Sub(m.since) >= fenceAfter {
			list = append(list, m.Member)
		}
	}
	return list
}

// silent returns the nodes that have not beaten for as long as a lease holds.
func (w *watch) silent() map[string]bool {
	all := map[string]bool{}
	for name, m := range w.seen {
		all[name] = name != w.me && w.now.Sub(m.since) >= leaseTime
	}
	return all
}
