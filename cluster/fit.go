package cluster

import "time"

const (
	// unfitAfter is how long the disk or the network of a node must have been at fault before others take its shards.
	unfitAfter = 5 * time.Minute
	// firstRest and longestRest bound how long a node takes no shards after that. Only a crawl shows whether the fault
	// is gone. The rest doubles with each fault that comes soon after the one before.
	firstRest   = 10 * time.Minute
	longestRest = 2 * time.Hour
)

// fitness says whether this node can crawl. Only Run uses it.
type fitness struct {
	until time.Time     // it takes no shards before; zero = it is fit
	rest  time.Duration // the last one
	ended time.Time     // when it ended
}

// look notes whether the shards of this node can be crawled: if not, why, and since when. It reports whether the node
// has become fit or unfit. A node that still has shards is fit as soon as the fault is gone.
func (f *fitness) look(now time.Time, shards int, why string, since time.Time) (changed bool) {
	switch {
	case f.isUnfit() && (!now.Before(f.until) || shards > 0 && why == ""):
		f.until, f.ended = time.Time{}, now
		return true
	case !f.isUnfit() && why != "" && now.Sub(since) >= unfitAfter:
		if f.rest *= 2; f.rest == 0 || now.Sub(f.ended) > longestRest {
			f.rest = firstRest
		}
		f.rest = min(f.rest, longestRest)
		f.until = now.Add(f.rest)
		return true
	}
	return false
}

// isUnfit reports whether the node is to own nothing.
func (f *fitness) isUnfit() bool { return !f.until.IsZero() }

// faultOf returns why a shard cannot be crawled here, and since when; "" if it can.
type faultOf func() (why string, since time.Time)

// Watch lets the node know how to ask whether a fault of its disk or network keeps the shard from being crawled, and
// since when. It holds until the shard is released.
func (n *ownedShard) Watch(fault faultOf) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fault = fault
}

// examine finds out whether this node can crawl, and lets the others know with the next beat.
func (n *thisNode) examine(now time.Time) {
	why, since := "", now
	list := n.all()
	for _, s := range list {
		s.mu.Lock()
		fault := s.fault
		s.mu.Unlock()
		if fault == nil {
			continue
		}
		if text, from := fault(); text != "" && from.Before(since) {
			why, since = text, from
		}
	}
	switch changed := n.fit.look(now, len(list), why, since); {
	case !changed:
	case n.fit.isUnfit():
		n.shared.Unfit(why)
		n.o.Log.Error().Str("why", why).Time("until", n.fit.until).
			Msg("this node could not crawl for 5 minutes: other nodes take its shards, and it tries again later")
	default:
		n.shared.Unfit("")
		n.o.Log.Info().Msg("this node takes shards again")
	}
}
