package admin

import (
	"cmp"
	"mime"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/capacity"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// aims are the capture targets of a host's URIs, each by its type and the refinements that hold for it.
type aims struct {
	config *config.Config
	now    time.Time

	known map[aimKey]*aim
	aims  []*aim
	other float64 // visits a day that those ask for whose rule has no target
}

// aimKey is what the target of a URI follows from: the stack in force for it, and its type.
type aimKey struct {
	stack *evaluators.WaitEvaluator
	mime  string
}

// aim is the target of some URIs; nothing but loose if their rule has none.
type aim struct {
	capacity.Part
	loose bool
}

// maxAims is how many targets of a host are told apart; what is beyond counts with the last one.
const maxAims = 100

func newAims(c *config.Config, now time.Time) *aims {
	return &aims{config: c, now: now, known: map[aimKey]*aim{}}
}

// add takes in a URI that was visited.
func (a *aims) add(w frontier.SurveyedURI) {
	at := a.aimOf(w)
	if at.loose {
		if every := intervalOf(w); every > 0 {
			a.other += 24 / every.Hours()
		}
		return
	}
	at.Rates.Add(w.Rate, w.Wait)
}

// aimOf is that of a URI. A robots.txt has none, and neither has a feed or sitemap that is waited for in its own way.
func (a *aims) aimOf(w frontier.SurveyedURI) *aim {
	about := config.About{URI: w.URI, Hops: w.Hops, ContentType: w.ContentType, Now: a.now}
	settings := a.config.For(about)
	if w.URI == w.URI.Robots() || w.Source && settings.Feeds.Wait == config.FeedsOwn || len(settings.Wait) == 0 {
		return &aim{loose: true}
	}
	key := aimKey{&settings.Wait[0], w.ContentType}
	at := a.known[key]
	if at == nil {
		at = a.find(about, settings.Wait.For(w.ContentType))
		if len(a.known) < maxAims {
			a.known[key] = at
		}
	}
	return at
}

// find is the aim of a URI for which an entry of the stack decides.
func (a *aims) find(about config.About, e evaluators.WaitEvaluator) *aim {
	share, ok := e.CaptureTarget()
	if !ok {
		return &aim{loose: true}
	}
	media, _, err := mime.ParseMediaType(about.ContentType)
	if err != nil && media == "" {
		media = "no type"
	}
	if where := a.config.WaitRefinements(about); where != "" {
		media += " where " + where
	}
	shortest, longest := e.Rule.Bounds()
	part := capacity.Part{Name: media, Target: share, Min: shortest, Max: longest}
	for i, known := range a.aims {
		if known.Name == part.Name && known.Target == part.Target && known.Min == part.Min && known.Max == part.Max || i == maxAims-1 {
			return known
		}
	}
	part.Rates = new(capacity.Rates)
	a.aims = append(a.aims, &aim{Part: part})
	return a.aims[len(a.aims)-1]
}

// parts are the aims that URIs have; those with the most changes come first.
func (a *aims) parts() []capacity.Part {
	var parts []capacity.Part
	for _, at := range a.aims {
		if at.Rates.URIs() > 0 {
			parts = append(parts, at.Part)
		}
	}
	slices.SortStableFunc(parts, func(a, b capacity.Part) int { return cmp.Compare(b.Rates.Changes(), a.Rates.Changes()) })
	return parts
}

// changes is how many versions a day come into being of URIs that have a target.
func (a *aims) changes() float64 {
	sum := 0.0
	for _, at := range a.aims {
		sum += at.Rates.Changes()
	}
	return sum
}

// promise says what a host's delay can keep of its capture targets; ok is false where no URI has one.
func (w *Window) promise(l *load, delay time.Duration, slots int) (p capacity.Assessment, ok bool) {
	if l.aims == nil {
		return p, false
	}
	parts := l.aims.parts()
	if len(parts) == 0 {
		return p, false
	}
	return capacity.Assess(parts, capacity.Limits{Rest: delay, Valence: slots, Other: l.aims.other}), true
}

// paceAge is how old the look at every URI may be from which the pace of hosts is judged in reports and in the log.
const paceAge = time.Hour

// outbid lists the hosts, or the one host, whose pace cannot keep their capture targets: those first that lose most.
func (w *Window) outbid(only uri.Host) ([]HostBid, error) {
	s, err := w.surveyed(only, paceAge)
	if err != nil {
		return nil, err
	}
	out := []HostBid{}
	for name, l := range s.hosts {
		host := uri.Host(name)
		view, known := w.o.Frontier.Host(host, w.o.Now())
		if !known {
			continue
		}
		delay, _ := w.delayOf(host)
		if p, ok := w.promise(l, delay, view.Slots); ok && p.OverBudget {
			out = append(out, HostBid{Host: name, Promise: p.String(), Share: p.Share, Lost: max(p.Target-p.Share, 0) * l.aims.changes()})
		}
	}
	slices.SortFunc(out, func(a, b HostBid) int { return cmp.Or(cmp.Compare(b.Lost, a.Lost), cmp.Compare(a.Host, b.Host)) })
	return out[:min(len(out), dayHosts)], nil
}
