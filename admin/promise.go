package admin

import (
	"cmp"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// targets collects the capture targets of a host's URIs, by media type and refinement.
type targets struct {
	config *config.Config
	now    time.Time

	known map[targetKey]*target
	list  []*target
	other float64 // visits a day of URIs without a target

	restless int // URIs that differ at each fetch, and count in no estimate
}

// targetKey determines the target of a URI: the wait stack in force for it, its media type, and its importance.
type targetKey struct {
	stack   *evaluators.WaitEvaluator
	mime    string
	leading bool
}

// target is the capture target of some URIs.
type target struct {
	rate.Part
	none bool // their rule has no target
}

// maxTargets is the maximum number of targets of a host. Further URIs count with the last one.
const maxTargets = 100

// add adds a URI that was visited.
func (a *targets) add(w frontier.SurveyedURI) {
	at := a.targetOf(w)
	if w.Restless && !at.none {
		a.restless++
	}
	if at.none || w.Restless {
		if every := intervalOf(w); every > 0 {
			a.other += 24 / every.Hours()
		}
		return
	}
	at.Rates.Add(w.Rate, w.Wait)
}

// targetOf returns the capture target of a URI. robots.txt has none, and neither has a feed or sitemap with a wait
// rule of its own.
func (a *targets) targetOf(w frontier.SurveyedURI) *target {
	about := config.About{URI: w.URI, Hops: w.Hops, ContentType: w.ContentType, Now: a.now}
	settings := a.config.For(about)
	ownRule := w.Source && crawler.HasOwnWait(&settings)
	if w.URI == w.URI.Robots() || ownRule || len(settings.Wait) == 0 {
		return &target{none: true}
	}
	key := targetKey{&settings.Wait[0], w.ContentType, crawler.Important(w.URI, w.Hops, w.ContentType, w.Source)}
	at := a.known[key]
	if at == nil {
		at = a.find(about, settings.Wait.For(w.ContentType), key.leading)
		if len(a.known) < maxTargets {
			a.known[key] = at
		}
	}
	return at
}

// find returns the target of a URI for which an entry of the stack decides. leading says that the URI is important.
func (a *targets) find(about config.About, e evaluators.WaitEvaluator, leading bool) *target {
	share, ok := e.CaptureTarget()
	if !ok {
		return &target{none: true}
	}
	media := cmp.Or(digest.MediaType(about.ContentType), "no type")
	if where := a.config.WaitRefinements(about); where != "" {
		media += " where " + where
	}
	shortest, longest := e.Rule.Bounds()
	part := rate.Part{Name: media, Target: share, Min: shortest, Max: longest, Leading: leading}
	if learned, ok := e.Rule.(evaluators.Learned); ok {
		part.Slow = learned.Prefer == evaluators.PreferPages
	}
	for i, known := range a.list {
		same := known.Name == part.Name && known.Target == part.Target && known.Slow == part.Slow && known.Leading == leading
		if same && known.Min == part.Min && known.Max == part.Max || i == maxTargets-1 {
			return known
		}
	}
	part.Rates = new(rate.Rates)
	a.list = append(a.list, &target{Part: part})
	return a.list[len(a.list)-1]
}

// parts returns the targets that URIs have, most changes first.
func (a *targets) parts() []rate.Part {
	var parts []rate.Part
	for _, target := range a.list {
		if target.Rates.URIs() > 0 {
			parts = append(parts, target.Part)
		}
	}
	slices.SortStableFunc(parts, func(a, b rate.Part) int {
		return cmp.Compare(b.Rates.Changes(), a.Rates.Changes())
	})
	return parts
}

// changes returns the estimated versions a day of URIs with a target.
func (a *targets) changes() float64 {
	sum := 0.0
	for _, target := range a.list {
		sum += target.Rates.Changes()
	}
	return sum
}

// promise says whether a host's delay meets its capture targets. ok is false if no URI has a target.
func (r *surveyor) promise(l *backlogLoad, delay time.Duration, slots int) (p rate.Assessment, ok bool) {
	if l.targets == nil {
		return p, false
	}
	parts := l.targets.parts()
	if len(parts) == 0 {
		return p, false
	}
	p = rate.Assess(parts, rate.Limits{Rest: delay, Valence: slots, Other: l.targets.other})
	p.Restless = l.targets.restless
	return p, true
}

// paceAge is the maximum age of the survey for reports and the log.
const paceAge = time.Hour

// belowTarget returns the hosts whose pace cannot meet their capture targets, most lost versions first. If only is
// set, it checks that host; else the hosts that a filter selects.
func (r *surveyor) belowTarget(only uri.Host, f config.Filter) ([]api.HostPace, error) {
	s, err := r.surveyed(only, f, paceAge)
	if err != nil {
		return nil, err
	}
	return r.shortIn(s, config.Filter{}), nil
}

// knownShort returns what belowTarget returns of the hosts that a filter selects, without a new survey: as of
// the last one of all hosts. The time is zero if there was none.
func (r *surveyor) knownShort(f config.Filter) ([]api.HostPace, time.Time) {
	s := r.known.Load()
	if s == nil {
		return []api.HostPace{}, time.Time{}
	}
	return r.shortIn(s, f), s.asOf
}

// shortIn returns the hosts of a survey that a filter selects and that are below their targets.
func (r *surveyor) shortIn(s *survey, f config.Filter) []api.HostPace {
	out := []api.HostPace{}
	for name, l := range s.hosts {
		host := uri.Host(name)
		view, known := r.o.Frontier.Host(host, r.o.Now())
		if !known || !f.IsZero() && !f.Matches(s.config.Site(host)) {
			continue
		}
		delay, _ := r.delayOf(host)
		if p, ok := r.promise(l, delay, view.Slots); ok && p.OverBudget {
			lost := max(p.Target-p.Share, 0) * l.targets.changes()
			out = append(out, api.HostPace{Host: name, Promise: p.String(), Share: p.Share, Lost: lost})
		}
	}
	SortPace(out)
	return out[:min(len(out), MaxDayHosts)]
}

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

// observe measures the pace of a host from a visit.
func (r *surveyor) observe(v crawler.Report) {
	r.pacing.Lock()
	defer r.pacing.Unlock()
	r.paces.add(v)
}

// delayOf returns how long a visit through one slot and the rest after it take, and whether that was measured.
func (r *surveyor) delayOf(h uri.Host) (d time.Duration, observed bool) {
	r.pacing.Lock()
	d, observed = r.paces[h]
	r.pacing.Unlock()
	if observed {
		return d, true
	}
	return r.o.Config().ForHost(h, r.o.Now()).Politeness.Cycle(), false
}
