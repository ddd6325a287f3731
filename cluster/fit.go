package cluster

import "time"

const (
	// unfitAfter is how long the disk or the network of a node must have been at fault before others take its parts.
	unfitAfter = 5 * time.Minute
	// firstRest and longestRest bound how long a node takes no parts after that. Only a crawl shows whether the fault
	// is gone. The rest doubles with each fault that comes soon after the one before.
	firstRest   = 10 * time.Minute
	longestRest = 2 * time.Hour
)

// fitness says whether this node can crawl. Only Run uses it.
type fitness struct {
	until time.Time     // it takes no parts before; zero = it is fit
	rest  time.Duration // the last one
	ended time.Time     // when it ended
}

// look notes whether the parts of this node can be crawled: if not, why, and since when. It reports whether the node
// has become fit or unfit. A node that still has parts is fit as soon as the fault is gone.
func (f *fitness) look(now time.Time, parts int, why string, since time.Time) (changed bool) {
	switch {
	case f.isUnfit() && (!now.Before(f.until) || parts > 0 && why == ""):
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

// faultOf returns why this node cannot crawl, and since when; "" if it can.
type faultOf func() (why string, since time.Time)
