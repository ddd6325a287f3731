package sim

import (
	"context"
	"time"
)

// Crawl describes an invented crawl of many sites, see [Site].
type Crawl struct {
	Hosts int
	URIs  int     // on each host
	Days  int     // for how long each host is watched
	Busy  float64 // factor of all rates of change
}

// Play plays a policy without a knob through the crawl, on all processors. Each host is invented, played and forgotten,
// so that memory does not grow with their number.
func (c Crawl) Play(ctx context.Context, p Policy) (Tally, error) {
	sums := make([]Tally, Workers(c.Hosts))
	inParallel(ctx, c.Hosts, func(worker, i int) {
		site := Site(uint64(i)+1, c.URIs, time.Duration(c.Days)*24*time.Hour, c.Busy)
		sums[worker] = sums[worker].Add(Sum(Play(p, 0, site)))
	})
	return Sum(sums), ctx.Err()
}
