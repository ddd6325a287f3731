package crawler

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/aspects/feeds"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	countEvery = time.Hour   // between two counts, each of which reads every URI
	lateBy     = time.Minute // a visit that is later than this, and than a tenth of its wait, is late

	// maxEstimates bounds the estimates in memory. To make room, the one that asks for the fewest of evictFrom is dropped;
	// the next count brings it back if it is needed.
	maxEstimates  = 100_000
	evictFrom     = 32
	estimateBytes = 160 // memory of an estimate with its key, about
)

// estimates says how many visits the waits of each host ask for. If they ask for more than politeness allows, it
// computes the factor by which the waits of the host are stretched. Hosts of a group that shares its politeness count
// as one.
//
// The waits of all URIs are counted when visits come late. Between two counts the estimates follow each visit. A crawl
// that keeps up reads nothing for them. At most 100,000 hosts have one. The zero value knows no host. It is safe for
// concurrent use.
type estimates struct {
	mu        sync.Mutex // guards the fields below
	hosts     map[string]*rate.Budget
	late      bool      // visits have come late since the last count
	nextCount time.Time // no count before
}

// estimateKey returns the key of a host's estimate: the host, or its group.
func estimateKey(h uri.Host, p config.Politeness) string {
	if p.Group != "" {
		return "group " + p.Group
	}
	return string(h)
}

// estimate returns the estimate of a key. The lock is held.
func (e *estimates) estimate(key string) *rate.Budget {
	if e.hosts == nil {
		e.hosts = map[string]*rate.Budget{}
	}
	if e.hosts[key] == nil {
		e.evict()
		e.hosts[key] = new(rate.Budget)
	}
	return e.hosts[key]
}

// evict makes room for an estimate. Hosts that ask for nothing go first, such as those that never answered. The lock is
// held.
func (e *estimates) evict() {
	if len(e.hosts) < maxEstimates {
		return
	}
	least, n := "", 0
	for key, b := range e.hosts {
		if least == "" || b.PerDay() < e.hosts[least].PerDay() {
			least = key
		}
		if n++; n == evictFrom {
			break
		}
	}
	delete(e.hosts, least)
}

// bytes returns about how much memory the estimates take.
func (e *estimates) bytes() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return int64(len(e.hosts)) * estimateBytes
}

// stretchFactors says how the waits of a host are stretched for one URI.
type stretchFactors struct {
	Stretch float64 // the factor of its wait; 1 = not stretched
	First   bool    // the URI goes before the others of its host, whose waits are stretched more
}

// factorsOf returns how the wait of a URI is stretched. r is its record after the visit.
func (e *estimates) factorsOf(r frontier.Record, p config.Politeness) stretchFactors {
	return e.of(r.URI.Host(), p, Important(r.URI, r.Hops, r.ContentType, r.Source != ""))
}

// of returns how a host stretches a wait.
func (e *estimates) of(h uri.Host, p config.Politeness, important bool) stretchFactors {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.hosts[estimateKey(h, p)]
	if b == nil {
		return stretchFactors{Stretch: 1}
	}
	all, leading := b.Stretch(p.Valence, p.Cycle()), b.StretchImportant(p.Valence, p.Cycle())
	if important {
		return stretchFactors{Stretch: leading, First: all > leading}
	}
	return stretchFactors{Stretch: all}
}

// Cycle returns the time between two requests to a host, or to its group: the mean of the last visits, or what the
// settings suggest if there was none since the start.
func (c *Crawler) Cycle(h uri.Host, p config.Politeness) time.Duration { return c.demand.cycle(h, p) }

func (e *estimates) cycle(h uri.Host, p config.Politeness) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	var unknown rate.Budget
	return cmp.Or(e.hosts[estimateKey(h, p)], &unknown).Cycle(p.Valence, p.Cycle())
}

// demandVisit is a settled visit.
type demandVisit struct {
	Host          uri.Host
	URI           uri.URI
	Hops          uri.HopPath // empty = a seed
	Started       time.Time
	Took          time.Duration // of the exchange, with the rest after it
	Before, After frontier.History
	Overdue       time.Duration
	Reached       bool // the host answered
	First         bool // there was no capture before
	Failed        bool
	Robots        bool // the URI is a robots.txt
}

// add counts a settled visit.
func (e *estimates) add(v demandVisit, s config.Settings) {
	e.mu.Lock()
	defer e.mu.Unlock()
	before, after := v.Before, v.After
	host := e.estimate(estimateKey(v.Host, s.Politeness))
	wait := before.Wait
	if before.Prompt {
		wait /= 2 // a feed on a busy host may be visited earlier, up to half its wait
	}
	asked := !v.Robots && !v.Failed && !v.First && !before.LastVisit.IsZero() && v.Started.Sub(before.LastVisit) >= wait
	if v.Reached {
		host.Visit(v.Took, asked)
	}
	if v.Robots {
		return
	}
	own := HasOwnWait(&s)
	askVisits(host, -1, surveyedOf(v, &before), own)
	askVisits(host, 1, surveyedOf(v, &after), own)
	if v.Overdue > lateBy && v.Overdue > before.Wait/10 || isStretched(&before) {
		e.late = true
	}
}

// surveyedOf returns the URI of a visit as a survey lists it, with a history of it.
func surveyedOf(v demandVisit, h *frontier.History) frontier.SurveyedURI {
	return frontier.SurveyedURI{
		URI: v.URI, Hops: v.Hops, ContentType: h.ContentType, Source: h.Source != "",
		LastVisit: h.LastVisit, Due: h.Due, Wait: h.Wait, Rate: h.Rate, Restless: h.Restless,
	}
}

// askVisits adds the visits a day that a URI asks for to the sum of its host, or removes them if sign is -1. ownWait
// says that feeds and sitemaps have a wait of their own.
func askVisits(host *rate.Budget, sign float64, w frontier.SurveyedURI, ownWait bool) {
	perDay, elastic := visitsPerDay(w)
	elastic = elastic && !(w.Source && ownWait)
	if elastic && Important(w.URI, w.Hops, w.ContentType, w.Source) {
		host.AskImportant(sign * perDay)
		return
	}
	host.Ask(sign*perDay, elastic)
}

// visitsPerDay returns the visits per day that a URI asks for. It reports whether they follow from a target, which
// allows to stretch the wait. The visits of a restless page follow from none.
func visitsPerDay(w frontier.SurveyedURI) (perDay float64, elastic bool) {
	if w.LastVisit.IsZero() || w.Due.IsZero() {
		return 0, false
	}
	if w.Restless {
		w.Rate = 0
	}
	return rate.Demand(w.Wait, w.Rate)
}

// HasOwnWait reports whether the wait of a feed or sitemap follows from its news. Such a wait has no target, so it is
// not stretched, although changes are expected of the feed too.
func HasOwnWait(s *config.Settings) bool { return config.Own[feeds.Options](s).Wait == feeds.ByPolicy }

// begin reports whether it is time to count, and if so starts the time until the next count.
func (e *estimates) begin(now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if now.Before(e.nextCount) || !e.late {
		return false
	}
	e.late, e.nextCount = false, now.Add(countEvery)
	return true
}

// count reads the waits of all URIs if it is time to, until stop is closed. Visits that are settled meanwhile may be
// counted with their old waits; the next count corrects that. There is a next one as long as waits are stretched.
// Where a host carries more than before, URIs whose waits were stretched are due sooner.
func (e *estimates) count(f *frontier.Frontier, cfg *config.Config, now time.Time, stop <-chan struct{}) error {
	if !e.begin(now) {
		return nil
	}
	hosts, longest := map[uri.Host]*rate.Budget{}, map[uri.Host]*longestWaits{}
	for from := frontier.Cursor(""); ; {
		next, err := f.Survey("", from, func(w frontier.SurveyedURI) {
			if perDay, _ := visitsPerDay(w); perDay == 0 || w.Held {
				return
			}
			if hosts[w.Host] == nil {
				hosts[w.Host] = new(rate.Budget)
			}
			ownWait := false
			if w.Source { // there are few, and to resolve their settings costs more than everything else
				s := cfg.For(config.About{URI: w.URI, Hops: w.Hops, ContentType: w.ContentType, Now: now})
				ownWait = HasOwnWait(&s)
			}
			if x := timesAsLong(w, now); x > waitsTooLong {
				if longest[w.Host] == nil {
					longest[w.Host] = new(longestWaits)
				}
				longest[w.Host].note(Important(w.URI, w.Hops, w.ContentType, w.Source), x)
			}
			askVisits(hosts[w.Host], 1, w, ownWait)
		})
		if err != nil {
			return fmt.Errorf("count the visits that the waits of all URIs ask for: %w", err)
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
	e.replace(hosts, cfg, now)
	return e.shorten(f, cfg, longest, now, stop)
}

// replace replaces the last count by a new one.
func (e *estimates) replace(hosts map[uri.Host]*rate.Budget, cfg *config.Config, now time.Time) {
	keys, politeness := map[uri.Host]string{}, map[string]config.Politeness{}
	for h := range hosts {
		p := cfg.ForHost(h, now).Politeness
		keys[h] = estimateKey(h, p)
		politeness[keys[h]] = p
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, host := range e.hosts {
		host.Reset()
	}
	for h, counted := range hosts {
		e.estimate(keys[h]).AskAll(counted)
	}
	for key, p := range politeness {
		b, cycle := e.estimate(key), p.Cycle()
		e.late = e.late || b.Stretch(p.Valence, cycle) > 1 || b.StretchImportant(p.Valence, cycle) > 1
	}
}
