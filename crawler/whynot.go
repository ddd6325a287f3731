package crawler

import (
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/scope/robots"
	"github.com/arcrawl/arcrawl/scope/traps"
	"github.com/arcrawl/arcrawl/uri"
)

// Known is what a frontier can tell, running or stopped. *[frontier.Frontier] is one.
type Known interface {
	Get(u uri.URI) (frontier.Record, bool, error)
	Fill(u uri.URI) (frontier.Fill, error)
	Robots(origin uri.URI) (frontier.RobotsCopy, bool, error)
	Namesake(u uri.URI) (uri.URI, bool, error)
}

// WhyNot is the question whether a URI would be taken.
type WhyNot struct {
	URI uri.URI
	Via uri.URI // the page that it would have been found on; zero asks how it was found, or supposes a seed
	Hop uri.Hop // how it would stand there; zero is a link
}

// ExplainScope asks every rule that a URI has to pass, in the order of the crawl, as of now. The last Reason that is not
// silent decides; if it accepts, or none speaks, nothing keeps the URI out. Known and the book of traps may be
// nil before the crawl has begun.
func ExplainScope(c *config.Config, known Known, book *traps.Book, q WhyNot, now time.Time) ([]Reason, error) {
	w := whyNot{config: c, known: known, traps: book, now: now}
	at, seed, err := w.found(q)
	if err != nil {
		return nil, err
	}
	of := realmOf(c, seed, q.URI, now, w.get)
	if !of.takes(at, func(r Reason) { w.reasons = append(w.reasons, r) }) {
		return w.reasons, nil
	}
	for _, ask := range []func(step) (bool, error){w.trap, w.name, w.room, w.robots} {
		if goes, err := ask(at); err != nil || !goes {
			return w.reasons, err
		}
	}
	return w.reasons, nil
}

// whyNot gathers the reasons.
type whyNot struct {
	config  *config.Config
	known   Known
	traps   *traps.Book
	now     time.Time
	reasons []Reason
}

func (w *whyNot) say(o Opinion, rule, format string, args ...any) bool {
	w.reasons = append(w.reasons, Reason{Opinion: o, Rule: rule, Why: fmt.Sprintf(format, args...)})
	return o != Rejects
}

// said adds to the last reason where one of these keys was set for a URI, the first that was.
func (w *whyNot) said(u uri.URI, keys ...string) {
	last := &w.reasons[len(w.reasons)-1]
	for _, key := range keys {
		if last.Where = w.config.Origin(config.About{URI: u, Now: w.now}, key); last.Where != "default" {
			return
		}
	}
}

func (w *whyNot) get(u uri.URI) (frontier.Record, bool, error) {
	if w.known == nil {
		return frontier.Record{}, false, nil
	}
	return w.known.Get(u)
}

// found is how the URI was found, or would have been, and from which seed.
func (w *whyNot) found(q WhyNot) (step, string, error) {
	if q.Hop == 0 {
		q.Hop = uri.Link
	}
	if q.Via.IsZero() {
		r, ok, err := w.get(q.URI)
		if err != nil {
			return step{}, "", err
		}
		if ok {
			w.say(Silent, "known", "since %s, found on %s by the path %q from %s", r.FirstSeen.Format(time.DateOnly), r.Via, r.Hops.String(), r.Seed)
			return step{uri: r.URI, hops: r.Hops, via: uri.FromCanonical(r.Via)}, r.Seed, nil
		}
		seed, isSeed := w.likelySeed(q.URI)
		if isSeed {
			return step{uri: q.URI}, seed.String(), nil
		}
		w.say(Silent, "known", "no; judged as if it stood on the seed %s", seed)
		return step{uri: q.URI, hops: uri.HopPath("").Then(q.Hop), via: seed}, seed.String(), nil
	}
	r, ok, err := w.get(q.Via)
	if err != nil {
		return step{}, "", err
	}
	if !ok {
		seed, isSeed := w.likelySeed(q.Via)
		if !isSeed {
			w.say(Silent, "known", "the page %s is not; judged as if it were one link from the seed %s", q.Via, seed)
			r.Hops = uri.HopPath("").Then(uri.Link)
		}
		r.Seed = seed.String()
	}
	return step{uri: q.URI, hops: r.Hops.Then(q.Hop), via: q.Via}, r.Seed, nil
}

// likelySeed is the seed itself, or one of its host, or one of its domain, or the first.
func (w *whyNot) likelySeed(u uri.URI) (seed uri.URI, is bool) {
	best := 0
	for _, s := range w.config.Seeds {
		close := 1
		switch {
		case s.URI == u:
			return u, true
		case s.URI.Host() == u.Host():
			close = 3
		case s.URI.Domain() == u.Domain():
			close = 2
		}
		if close > best {
			seed, best = s.URI, close
		}
	}
	return seed, false
}

// trap asks whether it is part of a trap.
func (w *whyNot) trap(s step) (bool, error) {
	if w.traps == nil || s.hops == "" || !w.config.ForHost(s.uri.Host(), w.now).Scope.Traps {
		return true, nil
	}
	t, ok, err := w.traps.Judge(s.uri, s.via, s.hops, w.now)
	if err != nil || !ok {
		return err == nil, err
	}
	defer func() { w.said(s.uri, "scope.traps") }()
	if t.Suspect {
		return w.say(Rejects, "scope.traps", "for the moment, since it may be part of a trap, %s: %s; it is judged again within the hour", t.Pattern, t.Why), nil
	}
	return w.say(Rejects, "scope.traps", "a trap of the kind %s, %s: %s; arcrawl traps release %s '%s' lets it go", t.Kind, t.Pattern, t.Why, s.uri.Host(), t.Pattern), nil
}

// name asks whether another URI is visited in its place.
func (w *whyNot) name(s step) (bool, error) {
	if w.known == nil || s.hops == "" {
		return true, nil
	}
	other, ok, err := w.known.Namesake(s.uri)
	if err != nil || !ok {
		return err == nil, err
	}
	goes := w.say(Rejects, "names", "it is the same as %s, which is visited", other)
	w.said(s.uri, "names.rewrite", "names.drop", "names.set")
	return goes, nil
}

// room asks whether its host and its folder have room.
func (w *whyNot) room(s step) (bool, error) {
	if w.known == nil {
		return true, nil
	}
	if _, known, err := w.known.Get(s.uri); known || err != nil {
		return err == nil, err
	}
	fill, err := w.known.Fill(s.uri)
	switch {
	case err != nil:
		return false, err
	case fill.URIs >= fill.Limits.URIs:
		goes := w.say(Rejects, "scope.max_uris", "its host has %d URIs, at most %d are kept", fill.URIs, fill.Limits.URIs)
		w.said(s.uri, w.maxURIs(s.uri)...)
		return goes, nil
	case fill.PerDirectory > 0 && fill.InDirectory >= fill.PerDirectory:
		goes := w.say(Rejects, "scope.max_uris_per_directory", "%d URIs of its folder were taken, at most %d are", fill.InDirectory, fill.PerDirectory)
		w.said(s.uri, "scope.max_uris_per_directory")
		return goes, nil
	}
	return w.say(Silent, "scope.max_uris", "its host has %d URIs of %d", fill.URIs, fill.Limits.URIs), nil
}

// maxURIs are the keys that say how many URIs are kept of a host.
func (w *whyNot) maxURIs(u uri.URI) []string {
	if w.config.ForHost(u.Host(), w.now).Scope.MaxURIs > 0 {
		return []string{"scope.max_uris"}
	}
	return []string{"crawl.max_uris_per_host"}
}

// robots asks the robots.txt in force.
func (w *whyNot) robots(s step) (bool, error) {
	if w.known == nil || isRobots(s.uri) {
		return true, nil
	}
	copied, ok, err := w.known.Robots(s.uri.Origin())
	switch {
	case err != nil:
		return false, err
	case !ok:
		return w.say(Silent, "robots.txt", "%s has not been fetched yet", s.uri.Robots()), nil
	case copied.Unreachable:
		return w.say(Rejects, "robots.txt", "%s could not be had; it is asked for again at %s", s.uri.Robots(), copied.Expires.Format(time.RFC3339)), nil
	}
	rules, ready, err := followRobots(s.uri.Origin(), copied, w.known.Robots, func(_ uri.URI, c frontier.RobotsCopy) robots.Rules { return robots.Parse(c.Body) })
	switch {
	case err != nil:
		return false, err
	case ready && !rules.Allowed(agent, s.uri):
		return w.say(Rejects, "robots.txt", "%s, fetched %s, forbids it", s.uri.Robots(), copied.Fetched.Format(time.RFC3339)), nil
	}
	return w.say(Accepts, "robots.txt", "%s, fetched %s, allows it", s.uri.Robots(), copied.Fetched.Format(time.RFC3339)), nil
}
