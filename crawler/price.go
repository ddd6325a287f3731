package crawler

import (
	"fmt"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/evaluators/capacity"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// prices are those of hosts, or of groups of hosts that share their politeness. What the waits of a host ask for is counted
// through when visits come late, and kept up with each visit in between: a crawl that keeps up reads nothing for it.
type prices struct {
	mu     sync.Mutex // guards the fields below
	of     map[string]*capacity.Budget
	late   bool      // visits came late since the last count, so that it matters
	counts time.Time // not before then
}

const (
	countEvery = time.Hour   // between two counts, each of which reads every URI
	lateBy     = time.Minute // and a tenth of its wait: when a visit is late
)

func priceKey(h uri.Host, p config.Politeness) string {
	if p.Group != "" {
		return "group " + p.Group
	}
	return string(h)
}

// price is that of a host. The lock is held.
func (p *prices) price(key string) *capacity.Budget {
	if p.of == nil {
		p.of = map[string]*capacity.Budget{}
	}
	if p.of[key] == nil {
		p.of[key] = new(capacity.Budget)
	}
	return p.of[key]
}

// stretch is by how much waits of a host are stretched.
func (p *prices) stretch(h uri.Host, polite config.Politeness) float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.price(priceKey(h, polite)).Stretch(polite.Valence, usualPace(polite))
}

// usualPace is how long a visit to a host takes with the rest after it, by its settings.
func usualPace(p config.Politeness) time.Duration {
	const exchange = time.Second
	rest := min(time.Duration(p.DelayFactor*float64(exchange)), p.MaxDelay)
	return exchange + max(rest, p.MinDelay)
}

// tell takes in a visit that took so long with the rest after it, and what became of its URI.
func (p *prices) tell(v visit, s config.Settings, after frontier.History, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, price := v.record().History, p.price(priceKey(v.uri().Host(), s.Politeness))
	wait := before.Wait
	if before.Prompt {
		wait /= 2 // by so much it may come early, see [Crawler.inTime]
	}
	asked := !v.robots && !v.failed && !v.verdict.First && !before.LastVisit.IsZero() && v.capture.Started.Sub(before.LastVisit) >= wait
	if !hostDown(v.capture.Status) {
		price.Visit(took, asked)
	}
	if v.robots {
		return
	}
	was, elastic := asks(before.LastVisit, before.Due, before.Wait, before.Rate)
	price.Ask(-was, elastic && !ownWait(before.Source != "", s.Feeds))
	is, elastic := asks(after.LastVisit, after.Due, after.Wait, after.Rate)
	price.Ask(is, elastic && !ownWait(after.Source != "", s.Feeds))
	if late := v.claim.Overdue; late > lateBy && late > before.Wait/10 {
		p.late = true
	}
}

// asks is how many visits a day a URI asks for, and whether that follows from a target.
func asks(visited, due time.Time, wait time.Duration, rate float64) (perDay float64, elastic bool) {
	if visited.IsZero() || due.IsZero() {
		return 0, false
	}
	return capacity.Demand(wait, rate)
}

// ownWait reports whether the wait of a feed or sitemap follows from what is new in it, and from no target: changes are expected
// of it too, but nothing stretches it.
func ownWait(source bool, s config.Feeds) bool { return source && s.Wait == config.FeedsOwn }

// begin says whether it is time to count, and if so takes that for done.
func (p *prices) begin(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Before(p.counts) || !p.late {
		return false
	}
	p.late, p.counts = false, now.Add(countEvery)
	return true
}

// count finds out what the waits of all URIs ask for. Visits that are settled meanwhile may be counted by what they were before,
// which matters little and is made good by the next count; one comes as long as waits are stretched.
func (c *Crawler) count(now time.Time, stop <-chan struct{}) error {
	if !c.prices.begin(now) {
		return nil
	}
	found, cfg := map[uri.Host]*capacity.Budget{}, c.rooms.Config.Current()
	for from := frontier.Cursor(""); ; {
		next, err := c.rooms.Frontier.Survey("", from, func(w frontier.SurveyedURI) {
			perDay, elastic := asks(w.LastVisit, w.Due, w.Wait, w.Rate)
			if perDay == 0 || w.Held {
				return
			}
			if found[w.Host] == nil {
				found[w.Host] = new(capacity.Budget)
			}
			if w.Source { // few are, and to resolve settings costs more than all the rest
				about := config.About{URI: w.URI, Hops: w.Hops, ContentType: w.ContentType, Now: now}
				elastic = elastic && !ownWait(true, cfg.For(about).Feeds)
			}
			found[w.Host].Ask(perDay, elastic)
		})
		if err != nil {
			return fmt.Errorf("count what the waits of hosts ask for: %w", err)
		}
		select {
		case <-stop:
			return nil
		default:
		}
		if from = next; next == "" {
			break
		}
	}
	c.prices.counted(found, cfg, now)
	return nil
}

// counted takes in what the waits ask for.
func (p *prices) counted(found map[uri.Host]*capacity.Budget, cfg *config.Config, now time.Time) {
	keys, polites := map[uri.Host]string{}, map[string]config.Politeness{}
	for h := range found {
		polite := cfg.ForHost(h, now).Politeness
		keys[h] = priceKey(h, polite)
		polites[keys[h]] = polite
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, price := range p.of {
		price.Reset()
	}
	for h, more := range found {
		p.price(keys[h]).AskAll(more)
	}
	for key, polite := range polites {
		p.late = p.late || p.of[key].Stretch(polite.Valence, usualPace(polite)) > 1
	}
}
