package whatif

import (
	"fmt"
	"net/http"
	"time"

	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/aspects/scope"
	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Known is the part of a frontier that an explanation reads. A [frontier.Frontier] has it, running or stopped.
type Known interface {
	config.Records
	robots.Store
	Usage(u uri.URI) (frontier.Usage, error)
	VisitedInstead(u uri.URI) (uri.URI, bool, error)
}

// Question asks whether a URI would be taken.
type Question struct {
	URI uri.URI
	Via uri.URI // the page that names it; zero = as it was found, or else as a seed
	Hop uri.Hop // the kind of hop on that page; zero = a link
}

// Explain asks every rule that a URI has to pass, in the order of the crawl, as of now. The last reason that is not
// silent decides. If it accepts, or if all are silent, no rule keeps the URI out. known may be nil before the crawl
// has begun, and so may traps.
func Explain(c *config.Config, known Known, traps *spaces.Store, q Question, now time.Time) ([]scope.Reason, error) {
	e := explainer{config: c, known: known, traps: traps, now: now}
	d, seed, err := e.discovery(q)
	if err != nil {
		return nil, err
	}
	decider := config.ScopeOf(c, seed, q.URI, now, e)
	reasons := decider.Explain(d, func(key string) string { return e.origin(decider.Seed(), key) })
	e.reasons = append(e.reasons, reasons...)
	if reasons[len(reasons)-1].Opinion == scope.Rejects {
		return e.reasons, nil
	}
	for _, rule := range []func(scope.Discovery) (bool, error){e.byTraps, e.byNames, e.byLimits, e.byAddress, e.byRobots} {
		if accepted, err := rule(d); err != nil || !accepted {
			return e.reasons, err
		}
	}
	return e.reasons, nil
}

// explainer collects the reasons. Each of its rules reports whether the next one is to be asked.
type explainer struct {
	config  *config.Config
	known   Known
	traps   *spaces.Store
	now     time.Time
	reasons []scope.Reason
}

// add adds a reason, and reports whether it does not reject the URI.
func (e *explainer) add(o scope.Opinion, rule, format string, args ...any) bool {
	e.reasons = append(e.reasons, scope.Reason{Opinion: o, Rule: rule, Why: fmt.Sprintf(format, args...)})
	return o != scope.Rejects
}

// locate adds to the last reason where the first of these keys that is set for a URI was set.
func (e *explainer) locate(u uri.URI, keys ...string) {
	last := &e.reasons[len(e.reasons)-1]
	for _, key := range keys {
		if last.Where = e.origin(u, key); last.Where != "default" {
			return
		}
	}
}

// origin returns where a key is set for a URI: file and line, or "default".
func (e *explainer) origin(u uri.URI, key string) string {
	return e.config.Origin(config.About{URI: u, Now: e.now}, key)
}

// Get returns what is remembered of a URI.
func (e explainer) Get(u uri.URI) (frontier.Record, bool, error) {
	if e.known == nil {
		return frontier.Record{}, false, nil
	}
	return e.known.Get(u)
}

// discovery returns how the URI was found, or would have been found, and from which seed.
func (e *explainer) discovery(q Question) (scope.Discovery, string, error) {
	if q.Hop == 0 {
		q.Hop = uri.Link
	}
	if q.Via.IsZero() {
		return e.actualDiscovery(q)
	}
	r, ok, err := e.Get(q.Via)
	if err != nil {
		return scope.Discovery{}, "", err
	}
	if !ok {
		seed, isSeed := e.likelySeed(q.Via)
		if !isSeed {
			e.add(scope.Silent, "known", "the page %s is not known; judged as if it were one link from the seed %s", q.Via, seed)
			r.Hops = uri.HopPath("").Then(uri.Link)
		}
		r.Seed = seed.String()
	}
	return scope.Discovery{URI: q.URI, Hops: r.Hops.Then(q.Hop), Via: q.Via}, r.Seed, nil
}

// actualDiscovery returns how a known URI was found. For an unknown one it supposes a seed, or a hop from a seed.
func (e *explainer) actualDiscovery(q Question) (scope.Discovery, string, error) {
	r, ok, err := e.Get(q.URI)
	if err != nil {
		return scope.Discovery{}, "", err
	}
	if ok {
		e.add(scope.Silent, "known", "since %s, found on %s by the path %q from %s",
			r.FirstSeen.Format(time.DateOnly), r.Via, r.Hops.String(), r.Seed)
		return scope.Discovery{URI: r.URI, Hops: r.Hops, Via: uri.FromCanonical(r.Via)}, r.Seed, nil
	}
	seed, isSeed := e.likelySeed(q.URI)
	if isSeed {
		return scope.Discovery{URI: q.URI}, seed.String(), nil
	}
	e.add(scope.Silent, "known", "no; judged as if the seed %s named it", seed)
	return scope.Discovery{URI: q.URI, Hops: uri.HopPath("").Then(q.Hop), Via: seed}, seed.String(), nil
}

// likelySeed returns the seed that a URI most likely descends from: itself, or else a seed of its host, of its
// domain, or the first one. It reports whether the URI is a seed itself.
func (e *explainer) likelySeed(u uri.URI) (seed uri.URI, isSeed bool) {
	best := 0
	for _, s := range e.config.Seeds {
		rank := 1
		switch {
		case s.URI == u:
			return u, true
		case s.URI.Host() == u.Host():
			rank = 3
		case s.URI.Domain() == u.Domain():
			rank = 2
		}
		if rank > best {
			seed, best = s.URI, rank
		}
	}
	return seed, false
}

// byAddress rejects a URI at a private address. Names are not looked up: one of a public domain may lead to such an
// address too.
func (e *explainer) byAddress(d scope.Discovery) (bool, error) {
	if problem, remedy := config.DoubtSeed(d.URI, e.config.NetworksFor(d.URI)); problem != "" {
		e.add(scope.Rejects, "fetch.allow_networks", "it %s; %s", problem, remedy)
		return false, nil
	}
	return true, nil
}

// byTraps rejects a URI that is part of a trap.
func (e *explainer) byTraps(d scope.Discovery) (bool, error) {
	s := e.config.ForHost(d.URI.Host(), e.now)
	if e.traps == nil || d.Hops == "" || !config.Own[spaces.Options](&s).Detect {
		return true, nil
	}
	t, ok, err := e.traps.Judge(d.URI, d.Via, d.Hops, e.now)
	if err == nil && !ok {
		return e.byBudget(d)
	}
	if err != nil {
		return false, err
	}
	if t.Suspect {
		e.add(scope.Rejects, "scope.traps", "for now: it may be part of a trap, %s: %s; it is judged again within the hour",
			t.Pattern, t.Why)
	} else {
		e.add(scope.Rejects, "scope.traps", "a trap of the kind %s, %s: %s; release it with: arcrawl traps release %s '%s'",
			t.Kind, t.Pattern, t.Why, d.URI.Host(), t.Pattern)
	}
	e.locate(d.URI, "scope.traps")
	return false, nil
}

// byBudget rejects a URI that has to wait for the budget of its pattern.
func (e *explainer) byBudget(d scope.Discovery) (bool, error) {
	r, _, err := e.Get(d.URI)
	if err != nil {
		return false, err
	}
	w := spaces.Wanted{URI: d.URI, Via: d.Via, Hops: d.Hops, First: r.Visits == 0, Now: e.now}
	p, wait, held, err := e.traps.Hold(w, false)
	if err != nil || !held {
		return err == nil, err
	}
	e.add(scope.Rejects, "scope.traps", "for now: %s may be an endless space; %d pages were visited, %d of them had something "+
		"new, %d are allowed, and the others wait for some %s; end that with: arcrawl traps release %s '%s'",
		p.Key, p.Visits, p.Rich, p.Allowance, wait, d.URI.Host(), p.Key)
	e.locate(d.URI, "scope.traps")
	return false, nil
}

// byNames rejects a URI if another URI of the same name is visited instead.
func (e *explainer) byNames(d scope.Discovery) (bool, error) {
	if e.known == nil || d.Hops == "" {
		return true, nil
	}
	other, ok, err := e.known.VisitedInstead(d.URI)
	if err != nil || !ok {
		return err == nil, err
	}
	e.add(scope.Rejects, "names", "it is the same as %s, which is visited", other)
	e.locate(d.URI, "names.rewrite", "names.drop", "names.set")
	return false, nil
}

// byLimits rejects a new URI if its host or its folder is full.
func (e *explainer) byLimits(d scope.Discovery) (bool, error) {
	if e.known == nil {
		return true, nil
	}
	if _, known, err := e.known.Get(d.URI); known || err != nil {
		return err == nil, err
	}
	fill, err := e.known.Usage(d.URI)
	switch {
	case err != nil:
		return false, err
	case fill.URIs >= fill.Limits.URIs:
		e.add(scope.Rejects, "scope.max_uris", "its host has %d URIs, at most %d are kept", fill.URIs, fill.Limits.URIs)
		e.locate(d.URI, e.keyOfMaxURIs(d.URI))
		return false, nil
	case fill.PerDirectory > 0 && fill.InDirectory >= fill.PerDirectory:
		e.add(scope.Rejects, "scope.max_uris_per_directory", "its folder has %d URIs, at most %d are kept",
			fill.InDirectory, fill.PerDirectory)
		e.locate(d.URI, "scope.max_uris_per_directory")
		return false, nil
	}
	return e.add(scope.Silent, "scope.max_uris", "its host has %d URIs of %d", fill.URIs, fill.Limits.URIs), nil
}

// keyOfMaxURIs returns the key that limits the URIs of a host.
func (e *explainer) keyOfMaxURIs(u uri.URI) string {
	if e.config.ForHost(u.Host(), e.now).Limits.URIs > 0 {
		return "scope.max_uris"
	}
	return "crawl.max_uris_per_host"
}

// byRobots asks the robots.txt in force.
func (e *explainer) byRobots(d scope.Discovery) (bool, error) {
	if e.known == nil || d.URI.IsRobots() {
		return true, nil
	}
	file := d.URI.Robots()
	s := e.config.For(config.About{URI: d.URI, Hops: d.Hops, Now: e.now})
	rule := config.Own[robots.Options](&s)
	permitted := func(what string) (bool, error) {
		e.add(scope.Accepts, "robots.obey", "%s %s, but may be ignored: %s", file, what, rule.Reason)
		e.locate(d.URI, "robots.obey")
		return true, nil
	}
	inForce, ok, err := e.known.Robots(d.URI.Origin())
	switch {
	case err != nil:
		return false, err
	case !ok:
		return e.add(scope.Silent, "robots.txt", "%s has not been fetched yet", file), nil
	case inForce.Unreachable && rule.Permits(d.Hops, e.now):
		return permitted("could not be fetched")
	case inForce.Unreachable:
		return e.add(scope.Rejects, "robots.txt", "%s could not be fetched; the next attempt is at %s",
			file, inForce.Expires.Format(time.RFC3339)), nil
	}
	ruling, err := robots.NewCopies(e.known).Rules(d.URI.Origin(), inForce, e.now)
	place := file.String()
	if !ruling.At.IsZero() {
		place += ", which redirects to " + ruling.At.String()
	}
	place += ", fetched " + ruling.Copy.Fetched.Format(time.RFC3339)
	switch {
	case err != nil:
		return false, err
	case !ruling.Wanted.IsZero():
		return e.add(scope.Silent, "robots.txt", "%s redirects to %s, which has not been fetched yet",
			file, ruling.Wanted), nil
	case !ruling.Known() && rule.Permits(d.Hops, e.now):
		return permitted("redirects to a URI that could not be fetched")
	case !ruling.Known():
		return e.add(scope.Rejects, "robots.txt", "%s redirects to a URI that could not be fetched; the next attempt is at %s",
			file, ruling.UnreachableUntil.Format(time.RFC3339)), nil
	case rule.Permits(d.Hops, e.now) && !ruling.Rules.Allowed(robots.Agent, d.URI):
		return permitted("forbids it")
	case !ruling.Rules.Allowed(robots.Agent, d.URI):
		return e.add(scope.Rejects, "robots.txt", "%s, forbids it", place), nil
	case ruling.Copy.Status == 0:
		e.add(scope.Accepts, "robots.txt", "%s has too many redirects, so it allows everything", file)
	case ruling.Copy.Status >= http.StatusBadRequest:
		e.add(scope.Accepts, "robots.txt", "%s, has the status %d, so it allows everything", place, ruling.Copy.Status)
	default:
		e.add(scope.Accepts, "robots.txt", "%s, allows it", place)
	}
	return true, e.bySitemaps(d, ruling)
}

// maxSitemaps is the maximum number of sitemaps that are named.
const maxSitemaps = 3

// bySitemaps says of a URI that is not known which sitemaps its robots.txt names, and whether they have been read.
func (e *explainer) bySitemaps(d scope.Discovery, ruling robots.Ruling) error {
	if _, known, err := e.known.Get(d.URI); known || err != nil {
		return err
	}
	from, named := d.URI.Robots(), ruling.Sitemaps()
	if !ruling.At.IsZero() {
		from = ruling.At
	}
	said := fmt.Sprintf("robots.txt names %d", len(named))
	if len(named) == 0 {
		from, named = d.URI, []string{robots.UsualSitemap}
		said = "robots.txt names none"
	}
	for _, ref := range named[:min(len(named), maxSitemaps)] {
		u, err := from.Join(ref)
		if err != nil {
			continue
		}
		r, known, err := e.known.Get(u)
		switch {
		case err != nil:
			return err
		case !known:
			said += fmt.Sprintf("; %s is not followed: it is out of scope, or [feeds] says so", u)
		case r.LastCapture.IsZero():
			said += fmt.Sprintf("; %s could not be read yet", u)
		default:
			said += fmt.Sprintf("; %s was read at %s", u, r.LastCapture.Format(time.RFC3339))
		}
	}
	if more := len(named) - maxSitemaps; more > 0 {
		said += fmt.Sprintf("; and %d more", more)
	}
	e.add(scope.Silent, "sitemaps", "%s", said)
	return nil
}
