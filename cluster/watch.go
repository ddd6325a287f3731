package cluster

import (
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/cluster/shared"
)

// watch notes since when the other nodes stand still, and when parts changed their owners, by the times of sightings.
type watch struct {
	me     string // this node
	now    time.Time
	seen   map[string]seenNode
	orphan time.Time // since when some hosts are crawled by nobody; zero = all are
	told   bool

	owners  [shared.Parts]string
	since   [shared.Parts]time.Time // the owner of a part did not change since then; zero = it was not seen
	changed time.Time               // the last of them
}

// seenNode holds what was seen of a node.
type seenNode struct {
	shared.Member
	owns  bool
	since time.Time // its beat did not change since then, in all answers
	beats bool      // its beat has changed since it was first seen
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
			was.since, was.beats = w.now, known
		}
		now[m.Name] = seenNode{m, owners[m.Name], was.since, was.beats}
	}
	w.seen = now
	for part := range st.Parts {
		if owner := st.Crawler(int16(part)); owner != w.owners[part] || w.since[part].IsZero() {
			w.owners[part], w.since[part], w.changed = owner, w.now, w.now
		}
	}
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

// live reports whether a node has beaten shortly before.
func (w *watch) live(node string) bool {
	m := w.seen[node]
	return m.beats && w.now.Sub(m.since) < liveFor
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
