package whatif

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Bounds of a plan.
const (
	maxListed = 200     // changes, seeds and hosts that are listed, of each
	maxURIs   = 200_000 // maximum number of URIs whose waits are read
	maxHosts  = 20_000  // maximum number of hosts whose load is computed
	pageSize  = 1_000
)

// Plan is the effect of a new configuration.
type Plan struct {
	Changes   []config.KeyChange `json:"changes"` // apply from the next visit on, at most 1000
	More      int                `json:"more"`    // number of further changes
	AtRestart []config.KeyChange `json:"at_restart"`

	SeedsAdded   []string `json:"seeds_added"`
	SeedsRemoved []string `json:"seeds_removed"`

	DueNow   int64      `json:"due_now"` // URIs that become due now
	Held     []uri.Host `json:"held"`    // hosts that are held because their files have faults
	Released []uri.Host `json:"released"`
	Load     []HostLoad `json:"load"`          // load of the affected hosts
	Complete bool       `json:"load_complete"` // false: more hosts are affected

	Names    *Names         `json:"names,omitempty"`
	Warnings []config.Fault `json:"warnings"`
}

// HostLoad compares the visits a day that a host's URIs ask for with those that its politeness allows.
type HostLoad struct {
	// Each URI counts with the wait interval that it has learned, within the bounds of its settings.

	Host           uri.Host `json:"host"`
	URIs           int64    `json:"uris"`
	Before         float64  `json:"before"` // visits a day that its URIs ask for
	After          float64  `json:"after"`
	CapacityBefore float64  `json:"-"`
	Capacity       float64  `json:"capacity"` // visits a day that its politeness allows
	Shorter        int64    `json:"-"`        // URIs that wait longer than the new maximum, until their next visit
	Text           string   `json:"text"`
}

// TooMuch reports whether the URIs ask for more visits than politeness allows.
func (l HostLoad) TooMuch() bool { return l.After > l.Capacity }

// String returns a line for people.
func (l HostLoad) String() string {
	ask := "URIs ask"
	if l.URIs == 1 {
		ask = "URI asks"
	}
	s := fmt.Sprintf("%s: %d %s for %.0f visits a day before and %.0f after; politeness allows %.0f",
		l.Host, l.URIs, ask, l.Before, l.After, l.Capacity)
	if l.TooMuch() && l.Capacity > 0 {
		share := 100 * l.Capacity / l.After
		s += fmt.Sprintf("; visits will be late: shorten the politeness delay to %.0f%%, keep %.0f%% of the URIs, "+
			"or lengthen their waits", share, share)
	}
	return s
}

// Empty reports whether nothing changes.
func (p Plan) Empty() bool {
	return len(p.Changes)+len(p.AtRestart)+len(p.SeedsAdded)+len(p.SeedsRemoved)+len(p.Held)+len(p.Released) == 0
}

// Compare returns what would change if a configuration that was loaded replaced the one in force, and what would be in
// force then. It reads the frontier and changes nothing.
func Compare(
	f *frontier.Frontier, r *robots.Copies, before, loaded *config.Config, now time.Time,
) (plan Plan, after *config.Config, err error) {
	after, atRestart := before.Succeed(loaded)
	changes := append([]config.KeyChange{}, before.Changes(after, now)...)
	p := planner{frontier: f, robots: r, before: before, after: after, now: now, plan: Plan{
		Changes: changes, Complete: true, AtRestart: append([]config.KeyChange{}, atRestart...),
		Warnings: append([]config.Fault{}, after.Doubts(now, f.KnowsHost)...),
		Held:     without(after.HeldHosts(), before.HeldHosts()), Released: without(before.HeldHosts(), after.HeldHosts()),
	}}
	if more := len(changes) - maxListed; more > 0 {
		p.plan.Changes, p.plan.More = changes[:maxListed], more
	}
	if err = p.planSeeds(); err == nil {
		err = p.planNames()
	}
	if err == nil {
		err = p.planLoad(changes)
	}
	return p.plan, after, err
}

// planner fills in a plan.
type planner struct {
	frontier      *frontier.Frontier
	robots        *robots.Copies
	before, after *config.Config
	now           time.Time
	plan          Plan
}

// without returns the elements of all that are not among others.
func without[T comparable](all, others []T) []T {
	var rest []T
	for _, x := range all {
		if !slices.Contains(others, x) {
			rest = append(rest, x)
		}
	}
	return rest
}

// planSeeds lists the seeds that are added and removed, and counts those that are not known yet.
func (p *planner) planSeeds() error {
	had, has := seedSet(p.before), seedSet(p.after)
	for _, s := range p.after.Seeds {
		if had[s.URI] {
			continue
		}
		_, known, err := p.frontier.Get(s.URI)
		if err != nil {
			return fmt.Errorf("look up the seed %s: %w", s.URI, err)
		}
		if !known {
			p.plan.DueNow++
		}
		p.listSeed(&p.plan.SeedsAdded, s.URI)
	}
	for _, s := range p.before.Seeds {
		if !has[s.URI] {
			p.listSeed(&p.plan.SeedsRemoved, s.URI)
		}
	}
	return nil
}

// listSeed adds a seed to a list, unless the list is full.
func (p *planner) listSeed(list *[]string, u uri.URI) {
	if len(*list) < maxListed {
		*list = append(*list, u.String())
	}
}

func seedSet(c *config.Config) map[uri.URI]bool {
	set := make(map[uri.URI]bool, len(c.Seeds))
	for _, s := range c.Seeds {
		set[s.URI] = true
	}
	return set
}

// planLoad compares the load of the hosts that are touched by changes.
func (p *planner) planLoad(changes []config.KeyChange) error {
	if len(changes) == 0 {
		return nil
	}
	touched := map[uri.Host]bool{}
	for _, change := range changes {
		touched[change.Host] = true
	}
	left := int64(maxURIs)
	for i, h := range p.frontier.Hosts(p.now) {
		if !touched[""] && !isTouched(touched, h.Host) {
			continue
		}
		if left -= h.URIs; left < 0 || i >= maxHosts {
			p.plan.Complete = false
			break
		}
		l, err := p.loadOf(h.Host)
		if err != nil {
			return err
		}
		if l.TooMuch() || l.Shorter > 0 || l.Before != l.After || l.Capacity != l.CapacityBefore {
			l.Text = l.String()
			p.plan.Load = append(p.plan.Load, l)
		}
	}
	slices.SortStableFunc(p.plan.Load, func(a, b HostLoad) int {
		return cmp.Compare(b.After/max(b.Capacity, 1e-9), a.After/max(a.Capacity, 1e-9))
	})
	p.plan.Load = p.plan.Load[:min(len(p.plan.Load), maxListed)]
	return nil
}

// isTouched reports whether the file of h, or of a domain above it, has changed.
func isTouched(touched map[uri.Host]bool, h uri.Host) bool {
	for t := range touched {
		if t == h || frontier.HostMatches("*."+string(t), h) || frontier.HostMatches(string(t), withoutPort(h)) {
			return true
		}
	}
	return false
}

func withoutPort(h uri.Host) uri.Host {
	return uri.Host(uri.FromCanonical("http://" + string(h) + "/").Hostname())
}

// loadOf adds up the visits that the URIs of a host ask for.
func (p *planner) loadOf(h uri.Host) (HostLoad, error) {
	l := HostLoad{Host: h}
	err := p.eachURI(h, func(e frontier.Entry) (bool, error) {
		if e.Due.IsZero() {
			return true, nil
		}
		about := config.About{URI: e.URI, Hops: e.Hops, ContentType: e.ContentType, Now: p.now}
		was, is := p.before.For(about), p.after.For(about)
		if l.URIs == 0 {
			l.CapacityBefore, l.Capacity = p.capacity(e.URI, was), p.capacity(e.URI, is)
		}
		l.URIs++
		l.Before += perDay(waitWithinBounds(e.Record, was))
		wait := waitWithinBounds(e.Record, is)
		l.After += perDay(wait)
		if e.Wait > wait && e.Due.Sub(p.now) > wait {
			l.Shorter++
		}
		return true, nil
	})
	if err != nil {
		err = fmt.Errorf("look at the URIs of %s: %w", h, err)
	}
	return l, err
}

// eachURI calls f with each URI of a host, until f reports false or returns an error.
func (p *planner) eachURI(h uri.Host, f func(frontier.Entry) (more bool, err error)) error {
	for from := frontier.Cursor(""); ; {
		list, next, err := p.frontier.List(p.now, frontier.Selection{Host: string(h)}, from, pageSize)
		if err != nil {
			return err
		}
		for _, e := range list {
			if more, err := f(e); err != nil || !more {
				return err
			}
		}
		if from = next; next == "" {
			return nil
		}
	}
}

// waitWithinBounds returns the wait interval that a URI has learned, within the bounds of its settings.
func waitWithinBounds(r frontier.Record, s config.Settings) time.Duration {
	for _, e := range s.Wait {
		if e.MIME.MatchString(r.ContentType) {
			shortest, longest := e.Rule.Bounds()
			return min(max(cmp.Or(r.Wait, e.Initial()), shortest), longest)
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

// capacity returns the maximum number of visits per day that the politeness of a host allows. It supposes that no
// exchange takes so long that the rest after it exceeds the minimum.
func (p *planner) capacity(u uri.URI, s config.Settings) float64 {
	polite := p.robots.Politeness(u, s.Politeness.Politeness, s.Politeness.CrawlDelayUpTo, nil, p.now)
	return float64(max(s.Politeness.Valence, 1)) * perDay(max(polite.MinDelay, polite.CrawlDelay, time.Millisecond))
}
