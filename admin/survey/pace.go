package survey

import (
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/uri"
)

// paces holds for each host how long a visit and the rest after it take together: an exponentially weighted mean. It is
// bounded; for other hosts the pace follows from the settings.
type paces map[uri.Host]time.Duration

// maxPaces is the maximum number of hosts with a measured pace.
const maxPaces = 100_000

// paceWeight is the weight of the last visit in the mean.
const paceWeight = 0.05

func (p paces) add(r crawler.Report) {
	if r.Took <= 0 {
		return
	}
	host, took := r.URI.Host(), r.Took+r.Rest
	was, known := p[host]
	switch {
	case known:
		took = was + time.Duration(paceWeight*float64(took-was))
	case len(p) >= maxPaces:
		for other := range p { // remove any host to make room
			delete(p, other)
			break
		}
	}
	p[host] = max(took, 1)
}

// guessedExchange is the assumed duration of an exchange with a host without measurement.
const guessedExchange = time.Second

// Observe measures the pace of a host from a visit.
func (r *Reader) Observe(v crawler.Report) {
	r.pacing.Lock()
	defer r.pacing.Unlock()
	r.paces.add(v)
}

// Delay returns how long a visit through one slot and the rest after it take, and whether that was measured.
func (r *Reader) Delay(h uri.Host) (d time.Duration, observed bool) {
	r.pacing.Lock()
	d, observed = r.paces[h]
	r.pacing.Unlock()
	if observed {
		return d, true
	}
	p := r.o.Config().ForHost(h, r.o.Now()).Politeness
	rest := min(time.Duration(p.DelayFactor*float64(guessedExchange)), p.MaxDelay)
	return guessedExchange + max(rest, p.MinDelay), false
}
