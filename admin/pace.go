package admin

import (
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/uri"
)

// paces is how long a visit to a host and the rest after it take together, as of late: a mean that forgets. It is bounded;
// what it does not know of a host the settings tell.
type paces map[uri.Host]time.Duration

// maxPaces bounds the hosts whose pace is kept.
const maxPaces = 100_000

// forgets is the weight of the last visit in the mean.
const forgets = 0.05

func (p paces) add(r crawler.Report) {
	if r.Took <= 0 {
		return
	}
	host, took := r.URI.Host(), r.Took+r.Rest
	was, known := p[host]
	switch {
	case known:
		took = was + time.Duration(forgets*float64(took-was))
	case len(p) >= maxPaces:
		for other := range p { // any one makes room
			delete(p, other)
			break
		}
	}
	p[host] = max(took, 1)
}

// guessedExchange is how long an exchange takes with a host where none was observed.
const guessedExchange = time.Second

// delayOf is how long a slot of a host takes for a visit and the rest after it, and whether that was observed.
func (w *Window) delayOf(h uri.Host) (d time.Duration, observed bool) {
	w.mu.Lock()
	d, observed = w.paces[h]
	w.mu.Unlock()
	if observed {
		return d, true
	}
	p := w.o.Config().Config.ForHost(h, w.o.Now()).Politeness
	rest := min(time.Duration(p.DelayFactor*float64(guessedExchange)), p.MaxDelay)
	return guessedExchange + max(rest, p.MinDelay), false
}
