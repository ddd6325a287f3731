package crawler

import (
	"fmt"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// realm is what descends from one seed, and the rules by which it is bounded: the settings of the seed's host.
type realm struct {
	config *config.Config
	root   uri.URI
	now    time.Time
	listed bool // a seed is still listed on the host
	scope  config.Scope

	// remembered looks up what is known of a URI; nil when nothing is.
	remembered func(uri.URI) (frontier.Record, bool, error)
	landed     []uri.URI // where the seed's redirects lead, once followed
	followed   bool
}

// realmOf is the realm of a seed, given as its text. Where that is none, u is its own seed.
func realmOf(c *config.Config, seed string, u uri.URI, now time.Time, remembered func(uri.URI) (frontier.Record, bool, error)) *realm {
	root := uri.FromCanonical(seed)
	if root.IsZero() {
		root = u
	}
	return &realm{
		config: c, root: root, now: now, listed: c.SeedHost(root.Host()), scope: c.For(config.About{URI: root, Now: now}).Scope, remembered: remembered,
	}
}

// step is a URI and how it was found, as far as that decides about scope.
type step struct {
	uri  uri.URI
	hops uri.HopPath
	via  uri.URI
}

// takes says whether a URI belongs to the crawl. The rules are asked in the order in which they stand here, and the
// first that has an opinion decides. To takes that want to know why, note tells what each rule said; it may be nil.
func (r *realm) takes(s step, note func(Reason)) bool {
	for _, rule := range [...]func(step) Reason{
		r.bySeed, r.byLimits, r.byRules, r.byRedirect, r.byEmbed, r.byMeasure, r.byLanding,
	} {
		said := rule(s)
		if note != nil {
			said.explain(r, s)
			note(said)
		}
		if said.Opinion != Silent {
			return said.Opinion == Accepts
		}
	}
	if note != nil {
		note(Reason{Opinion: Rejects, Rule: "scope", Why: fmt.Sprintf("no rule takes it; scope.by is %q", r.scope.By), Where: r.origin("scope.by")})
	}
	return false
}

// takesHosts reports whether takes goes by nothing of a URI but its host: no rule of the curator, no prefix.
func (r *realm) takesHosts() bool { return len(r.scope.Rules) == 0 && r.scope.By != config.ByPrefix }

// bySeed takes seeds and robots.txt, and nothing of a seed that the curator has taken out.
func (r *realm) bySeed(s step) Reason {
	switch {
	case !r.listed:
		return Reason{Opinion: Rejects, Rule: "seeds.uris"}
	case s.hops == "" || s.hops.Count(uri.Prereq) > 0:
		return Reason{Opinion: Accepts, Rule: "seeds.uris"}
	}
	return Reason{Rule: "seeds.uris"}
}

// byLimits rejects what is too many steps from the seed.
func (r *realm) byLimits(s step) Reason {
	if l, over := r.over(s.hops); over {
		return Reason{Opinion: Rejects, Rule: l.key}
	}
	return Reason{Rule: "scope.max_hops"}
}

// limit is a bound on the steps from the seed.
type limit struct {
	key   string
	what  string
	most  func(*config.Scope) int
	count func(uri.HopPath) int
}

// hopLimits are all bounds on the steps.
var hopLimits = []limit{
	{"scope.max_hops", "steps from the seed, embeds and redirects apart", func(s *config.Scope) int { return s.MaxHops }, stepsOf},
	{"scope.max_embed_hops", "embeds in a row", func(s *config.Scope) int { return s.MaxEmbedHops }, func(p uri.HopPath) int { return p.Trailing(uri.Embed) }},
	{"scope.max_redirects", "redirects in a row", func(s *config.Scope) int { return s.MaxRedirects }, uri.HopPath.TrailingRedirects},
	{"scope.max_link_hops", "links", func(s *config.Scope) int { return s.MaxLinkHops }, countOf(uri.Link)},
	{"scope.max_manifest_hops", "steps out of feeds and sitemaps", func(s *config.Scope) int { return s.MaxManifestHops }, countOf(uri.Manifest)},
	{"scope.max_inferred_hops", "steps to implied pages", func(s *config.Scope) int { return s.MaxInferredHops }, countOf(uri.Inferred)},
	{"scope.max_speculative_hops", "guesses out of scripts", func(s *config.Scope) int { return s.MaxSpeculativeHops }, countOf(uri.Speculative)},
}

func countOf(h uri.Hop) func(uri.HopPath) int {
	return func(p uri.HopPath) int { return p.Count(h) }
}

func stepsOf(p uri.HopPath) int { return len(p) - p.Count(uri.Embed) - p.Count(uri.Redirect) }

// over is the first limit that a path exceeds.
func (r *realm) over(p uri.HopPath) (limit, bool) {
	for _, l := range hopLimits {
		if most := l.most(&r.scope); len(p) > most && l.count(p) > most {
			return l, true
		}
	}
	return limit{}, false
}

// byRules asks the curator's own rules.
func (r *realm) byRules(s step) Reason {
	for _, rule := range r.scope.Rules {
		if !rule.Match.MatchString(s.uri.String()) {
			continue
		}
		said := Reason{Opinion: Rejects, Rule: "scope.rules", rule: &rule}
		if rule.Accept {
			said.Opinion = Accepts
		}
		return said
	}
	return Reason{Rule: "scope.rules"}
}

// byRedirect takes where a seed's redirects lead: that is part of the seed.
func (r *realm) byRedirect(s step) Reason {
	if s.hops.TrailingRedirects() == len(s.hops) {
		return Reason{Opinion: Accepts, Rule: "scope.max_redirects"}
	}
	return Reason{Rule: "scope.max_redirects"}
}

// byEmbed takes what a page in scope shows or runs.
func (r *realm) byEmbed(s step) Reason {
	if s.hops.Trailing(uri.Embed) > 0 && r.scope.EmbedsAnywhere {
		return Reason{Opinion: Accepts, Rule: "scope.embeds_anywhere"}
	}
	return Reason{Rule: "scope.embeds_anywhere"}
}

// byMeasure takes what lies within the host, the domain or the prefixes.
func (r *realm) byMeasure(s step) Reason {
	said := Reason{Rule: "scope.by"}
	within := false
	switch r.scope.By {
	case config.ByPrefix:
		within = underPrefix(s.uri, r.scope.Prefixes)
	case config.ByDomain:
		within = r.config.SeedHost(s.uri.Host()) || s.uri.Domain() == r.root.Domain()
	default:
		within = r.config.SeedHost(s.uri.Host())
	}
	if within {
		said.Opinion = Accepts
	}
	return said
}

// byLanding takes what lies on the host that the seed redirects to: most sites have moved to https or to another name.
func (r *realm) byLanding(s step) Reason {
	said := Reason{Rule: "scope.seed_redirects"}
	for _, at := range r.landing(s) {
		if r.widens(at) && (r.scope.By != config.ByPrefix && s.uri.Host() == at.Host() || underPrefix(s.uri, folders(at))) {
			said.Opinion = Accepts
		}
	}
	return said
}

// widens reports whether the host of what the seed redirects to is in scope.
func (r *realm) widens(at uri.URI) bool {
	switch r.scope.SeedRedirects {
	case config.RedirectsPage:
		return false
	case config.RedirectsInDomain:
		return at.Domain() == r.root.Domain()
	}
	return true
}

// landing is where the seed's redirects lead, as they were last seen. A path that begins with a redirect goes on from
// where that led, though the seed may point elsewhere by now.
func (r *realm) landing(s step) []uri.URI {
	if !r.followed && r.remembered != nil {
		r.followed = true
		at := r.root
		for range r.scope.MaxRedirects {
			known, ok, err := r.remembered(at)
			if err != nil || !ok || !isRedirect(known.Status) {
				break
			}
			if at, err = at.Join(known.Location); err != nil {
				break
			}
			r.landed = append(r.landed, at)
		}
	}
	// A page that was only embedded does not make its host part of the crawl.
	if len(s.hops) > 1 && uri.Hop(s.hops[0]) == uri.Redirect && s.hops[:len(s.hops)-1].Trailing(uri.Embed) == 0 {
		return append(r.landed[:len(r.landed):len(r.landed)], s.via)
	}
	return r.landed
}

// folders are those in which a page that a seed redirects to lies, on either side.
func folders(u uri.URI) []string {
	folder := u.Path()[:strings.LastIndexByte(u.Path(), '/')+1]
	return []string{"http://" + u.Authority() + folder, "https://" + u.Authority() + folder}
}

func underPrefix(u uri.URI, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(u.String(), p) {
			return true
		}
	}
	return false
}
