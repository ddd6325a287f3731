package crawler

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Bounds of a plan.
const (
	maxPlanned  = 200     // changes, seeds and hosts that are listed of each
	maxWeighed  = 200_000 // URIs whose waits are looked at
	maxPlanHost = 20_000  // hosts whose load is looked at
	pageWeighed = 1_000
)

// Plan says what a new configuration changes, or would change.
type Plan struct {
	Changes []config.KeyChange `json:"changes"`        // in force at once, for the next visits
	More    int                `json:"more,omitempty"` // changes that are not listed
	// AtRestart are keys that have changed and have no effect before the next start of the daemon.
	AtRestart []config.KeyChange `json:"at_restart,omitempty"`

	SeedsAdded   []string `json:"seeds_added,omitempty"`
	SeedsRemoved []string `json:"seeds_removed,omitempty"` // what they led to stays in the store and is out of scope
	MoreSeeds    int      `json:"more_seeds,omitempty"`    // added or removed, and not listed

	// DueNow is how many URIs are due at once that were not before: new seeds. Nothing else is visited sooner.
	DueNow int64 `json:"due_now"`

	Held     []uri.Host `json:"held,omitempty"`     // hosts that are held from now on
	Released []uri.Host `json:"released,omitempty"` // hosts that are held no longer

	// Load is what touched hosts have to do and what their politeness carries, the most burdened first.
	Load []HostLoad `json:"load,omitempty"`
	// Weighed is false when there are more URIs or hosts than are looked at, so that Load lacks some.
	Weighed bool `json:"weighed"`

	// Names is what becomes of the names of known URIs; nil when no rule of names changes.
	Names *PlannedNames `json:"names,omitempty"`

	Warnings []config.Fault `json:"warnings,omitempty"`
}

// HostLoad is how many visits a day the known URIs of a host ask for, before and after, each at the wait that it has
// learned and within the bounds; and how many its politeness carries at best.
type HostLoad struct {
	Host          uri.Host `json:"host"`
	URIs          int64    `json:"uris"`
	Before        float64  `json:"before"`
	After         float64  `json:"after"`
	CarriesBefore float64  `json:"carries_before"`
	Carries       float64  `json:"carries"`
	Shorter       int64    `json:"shorter"` // URIs that wait for longer than the new longest wait: from their next visit on they wait less
}

// TooMuch reports whether the host asks for more than its politeness carries.
func (l HostLoad) TooMuch() bool { return l.After > l.Carries }

// String is a line for people.
func (l HostLoad) String() string {
	s := fmt.Sprintf("%s: %d URIs, %.0f visits a day before and %.0f after, of %.0f that politeness carries", l.Host, l.URIs, l.Before, l.After, l.Carries)
	if l.TooMuch() && l.Carries > 0 {
		s += fmt.Sprintf("; it will be late: shorten its rest to %.0f%%, or keep %.0f%% of its URIs or lengthen their waits",
			100*l.Carries/l.After, 100*l.Carries/l.After)
	}
	return s
}

// Empty reports whether nothing changes.
func (p Plan) Empty() bool {
	return len(p.Changes)+len(p.AtRestart)+len(p.SeedsAdded)+len(p.SeedsRemoved)+len(p.Held)+len(p.Released) == 0
}

// plan compares two configurations, and looks into the frontier for what that means.
func (c *Crawler) plan(before, after *config.Config, now time.Time) (Plan, error) {
	p := Plan{Changes: before.Changes(after, now), Weighed: true, Warnings: append(after.Expired(now), after.Warnings...)}
	changed := p.Changes
	if over := len(changed) - maxPlanned; over > 0 {
		p.Changes, p.More = changed[:maxPlanned], over
	}
	if err := c.planSeeds(&p, before, after); err != nil {
		return p, err
	}
	p.Held, p.Released = without(after.HeldHosts(), before.HeldHosts()), without(before.HeldHosts(), after.HeldHosts())
	if err := c.planNames(&p, before, after, now); err != nil {
		return p, err
	}
	err := c.weigh(&p, before, after, changed, now)
	return p, err
}

// without are the elements of all that are not among others.
func without[T comparable](all, others []T) []T {
	var rest []T
	for _, x := range all {
		if !slices.Contains(others, x) {
			rest = append(rest, x)
		}
	}
	return rest
}

// planSeeds lists the seeds that come and go, and counts those that are not known yet.
func (c *Crawler) planSeeds(p *Plan, before, after *config.Config) error {
	had, has := seedSet(before), seedSet(after)
	for _, s := range after.Seeds {
		if had[s.URI] {
			continue
		}
		_, known, err := c.rooms.Frontier.Get(s.URI)
		if err != nil {
			return fmt.Errorf("look up the seed %s: %w", s.URI, err)
		}
		if !known {
			p.DueNow++
		}
		if p.SeedsAdded = append(p.SeedsAdded, s.URI.String()); len(p.SeedsAdded) > maxPlanned {
			p.SeedsAdded, p.MoreSeeds = p.SeedsAdded[:maxPlanned], p.MoreSeeds+1
		}
	}
	for _, s := range before.Seeds {
		if has[s.URI] {
			continue
		}
		if p.SeedsRemoved = append(p.SeedsRemoved, s.URI.String()); len(p.SeedsRemoved) > maxPlanned {
			p.SeedsRemoved, p.MoreSeeds = p.SeedsRemoved[:maxPlanned], p.MoreSeeds+1
		}
	}
	return nil
}

func seedSet(c *config.Config) map[uri.URI]bool {
	set := make(map[uri.URI]bool, len(c.Seeds))
	for _, s := range c.Seeds {
		set[s.URI] = true
	}
	return set
}

// weigh looks at the URIs of the hosts that are touched.
func (c *Crawler) weigh(p *Plan, before, after *config.Config, changed []config.KeyChange, now time.Time) error {
	if len(changed) == 0 {
		return nil
	}
	touched := map[uri.Host]bool{}
	for _, x := range changed {
		touched[x.Host] = true
	}
	budget := int64(maxWeighed)
	for i, h := range c.rooms.Frontier.Hosts(now) {
		if !touched[""] && !touchedBy(touched, h.Host) {
			continue
		}
		if budget -= h.URIs; budget < 0 || i >= maxPlanHost {
			p.Weighed = false
			break
		}
		l, err := c.weighHost(h.Host, before, after, now)
		if err != nil {
			return err
		}
		if l.TooMuch() || l.Shorter > 0 || l.Before != l.After || l.Carries != l.CarriesBefore {
			p.Load = append(p.Load, l)
		}
	}
	slices.SortStableFunc(p.Load, func(a, b HostLoad) int {
		return cmp.Compare(b.After/max(b.Carries, 1e-9), a.After/max(a.Carries, 1e-9))
	})
	p.Load = p.Load[:min(len(p.Load), maxPlanned)]
	return nil
}

// touchedBy reports whether the file of h, or of a domain above it, has changed.
func touchedBy(touched map[uri.Host]bool, h uri.Host) bool {
	for t := range touched {
		if t == h || frontier.HostMatches("*."+string(t), h) || frontier.HostMatches(string(t), uri.Host(hostname(h))) {
			return true
		}
	}
	return false
}

func hostname(h uri.Host) string {
	u := uri.FromCanonical("http://" + string(h) + "/")
	return u.Hostname()
}

// weighHost adds up what the URIs of a host ask for.
func (c *Crawler) weighHost(h uri.Host, before, after *config.Config, now time.Time) (HostLoad, error) {
	l := HostLoad{Host: h}
	var next frontier.Cursor
	for {
		list, more, err := c.rooms.Frontier.List(now, frontier.Select{Host: string(h)}, next, pageWeighed)
		if err != nil {
			return l, fmt.Errorf("look at the URIs of %s: %w", h, err)
		}
		for _, e := range list {
			if e.Due.IsZero() {
				continue
			}
			about := config.About{URI: e.URI, Hops: e.Hops, ContentType: e.ContentType, Now: now}
			was, will := before.For(about), after.For(about)
			if l.URIs == 0 {
				l.CarriesBefore, l.Carries = c.carries(e.URI, was), c.carries(e.URI, will)
			}
			l.URIs++
			l.Before += perDay(waitWithin(e.Record, was))
			wait := waitWithin(e.Record, will)
			l.After += perDay(wait)
			if e.Wait > wait && e.Due.Sub(now) > wait {
				l.Shorter++
			}
		}
		if next = more; next == "" {
			return l, nil
		}
	}
}

// waitWithin is the wait that a URI has learned, within the bounds of its settings.
func waitWithin(r frontier.Record, s config.Settings) time.Duration {
	for _, e := range s.Wait {
		if e.MIME.MatchString(r.ContentType) {
			wait := cmp.Or(r.Wait, e.Initial)
			return min(max(wait, e.Min), e.Max)
		}
	}
	return r.Wait
}

func perDay(wait time.Duration) float64 {
	if wait <= 0 {
		return 0
	}
	return float64(24*time.Hour) / float64(wait)
}

// carries is how many visits a day the politeness of a host allows at best: when no exchange takes so long that the rest
// after it is longer than the shortest.
func (c *Crawler) carries(u uri.URI, s config.Settings) float64 {
	polite := c.politeness(u, s, next{})
	return float64(max(s.Politeness.Valence, 1)) * perDay(max(polite.MinDelay, polite.CrawlDelay, time.Millisecond))
}
