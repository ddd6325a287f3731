// Package scope decides whether a discovered URI belongs to the crawl, and explains the decision.
//
// # Order of the rules
//
// A URI is judged by the path on which it was found and by the rules of the seed that it descends from. These are the
// settings of the seed's host. The rules are asked in this order, and the first one with an opinion decides:
//
//	seeds.uris             accepts seeds and robots.txt; rejects everything that descends from a seed no longer listed
//	scope.max_…            reject a URI that is too many hops from the seed
//	scope.rules            the curator's exceptions; the first that matches decides
//	scope.max_redirects    accepts the targets of the seed's own redirects
//	scope.embeds_anywhere  accepts what a page in scope embeds
//	scope.by               accepts URIs on the hosts of the seeds, in the seed's domain, or below a prefix
//	scope.seed_redirects   accepts URIs on the host that the seed redirects to
//
// If no rule has an opinion, the URI is rejected.
//
// The package is pure: it opens no store and asks no clock. The caller of [New] provides the lookups that a [Scope]
// needs.
package scope

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/uri"
)

// Scope decides about all URIs that descend from one seed. It is not safe for concurrent use.
type Scope struct {
	seed     uri.URI
	rules    Rules
	isSeed   func(uri.Host) bool // reports whether a seed is listed on a host
	listed   bool                // a seed is still listed on the seed's host
	redirect func(uri.URI) (target uri.URI, ok bool)

	targets  []uri.URI // of the seed's redirects, once they are followed
	followed bool
}

// Discovery is a URI and how it was found.
type Discovery struct {
	URI  uri.URI
	Hops uri.HopPath // from the seed
	Via  uri.URI     // the page that names it
}

// New returns the scope of the URIs that descend from a seed. The rules come from the settings of the seed's host.
// isSeed reports whether a seed is listed on a host. redirect returns the target that a URI redirected to at its last
// visit; nil if no URI was visited yet.
func New(
	seed uri.URI, rules Rules, isSeed func(uri.Host) bool, redirect func(uri.URI) (target uri.URI, ok bool),
) *Scope {
	return &Scope{seed: seed, rules: rules, isSeed: isSeed, listed: isSeed(seed.Host()), redirect: redirect}
}

// Seed returns the seed whose rules apply.
func (s *Scope) Seed() uri.URI { return s.seed }

// Accepts reports whether a discovered URI belongs to the crawl.
func (s *Scope) Accepts(d Discovery) bool {
	for _, rule := range order {
		if r := rule(s, d); r.Opinion != Silent {
			return r.Opinion == Accepts
		}
	}
	return false
}

// HostDecides reports whether the decision depends on no part of a URI except its host. Then one decision holds for all
// URIs of a host that are found by the same kind of hop on the same page.
func (s *Scope) HostDecides() bool { return len(s.rules.Exceptions) == 0 && s.rules.By != ByPrefix }

// order lists all rules in the order in which they are asked.
var order = [...]func(*Scope, Discovery) Reason{
	(*Scope).bySeed, (*Scope).byHops, (*Scope).byExceptions, (*Scope).byRedirect, (*Scope).byEmbed, (*Scope).byExtent,
	(*Scope).byRedirectedSeed,
}

// bySeed accepts seeds and robots.txt. It rejects everything that descends from a seed that the curator has removed,
// and what browsers refuse because of its port. A port that a seed has is the curator's decision.
func (s *Scope) bySeed(d Discovery) Reason {
	switch {
	case !s.listed:
		return Reason{Opinion: Rejects, Rule: "seeds.uris"}
	case d.URI.HasBadPort() && !s.isSeed(d.URI.Host()):
		return Reason{Opinion: Rejects, Rule: "port"}
	case d.Hops == "" || d.Hops.Count(uri.Prereq) > 0:
		return Reason{Opinion: Accepts, Rule: "seeds.uris"}
	}
	return Reason{Rule: "seeds.uris"}
}

// byHops rejects a URI that is too many hops from the seed.
func (s *Scope) byHops(d Discovery) Reason {
	if l, exceeded := s.exceeded(d.Hops); exceeded {
		return Reason{Opinion: Rejects, Rule: l.key}
	}
	return Reason{Rule: "scope.max_hops"}
}

// hopLimit is a maximum number of hops.
type hopLimit struct {
	key     string
	noun    string // what is counted, in the plural
	maximum func(*Rules) int
	count   func(uri.HopPath) int
}

var hopLimits = []hopLimit{
	{
		"scope.max_hops", "hops from the seed, embeds and redirects not counted",
		func(r *Rules) int { return r.MaxHops }, countedHops,
	},
	{
		"scope.max_embed_hops", "embeds in a row", func(r *Rules) int { return r.MaxEmbedHops },
		func(p uri.HopPath) int { return p.Trailing(uri.Embed) },
	},
	{
		"scope.max_redirects", "redirects in a row", func(r *Rules) int { return r.MaxRedirects },
		uri.HopPath.TrailingRedirects,
	},
	{"scope.max_link_hops", "links", func(r *Rules) int { return r.MaxLinkHops }, countOf(uri.Link)},
	{
		"scope.max_manifest_hops", "hops out of feeds and sitemaps", func(r *Rules) int { return r.MaxManifestHops },
		countOf(uri.Manifest),
	},
	{
		"scope.max_inferred_hops", "hops to implied pages", func(r *Rules) int { return r.MaxInferredHops },
		countOf(uri.Inferred),
	},
	{
		"scope.max_speculative_hops", "guesses out of scripts", func(r *Rules) int { return r.MaxSpeculativeHops },
		countOf(uri.Speculative),
	},
}

func countOf(h uri.Hop) func(uri.HopPath) int {
	return func(p uri.HopPath) int { return p.Count(h) }
}

// countedHops counts the hops that scope.max_hops limits.
func countedHops(p uri.HopPath) int { return len(p) - p.Count(uri.Embed) - p.Count(uri.Redirect) }

// exceeded returns the first limit that a path exceeds.
func (s *Scope) exceeded(p uri.HopPath) (hopLimit, bool) {
	for _, l := range hopLimits {
		if maximum := l.maximum(&s.rules); len(p) > maximum && l.count(p) > maximum {
			return l, true
		}
	}
	return hopLimit{}, false
}

// byExceptions asks the curator's exceptions.
func (s *Scope) byExceptions(d Discovery) Reason {
	for i := range s.rules.Exceptions {
		e := &s.rules.Exceptions[i]
		if !e.Match.MatchString(d.URI.String()) {
			continue
		}
		r := Reason{Opinion: Rejects, Rule: "scope.rules", exception: e}
		if e.Accept {
			r.Opinion = Accepts
		}
		return r
	}
	return Reason{Rule: "scope.rules"}
}

// acceptIf returns the answer of a rule that accepts a URI or has no opinion.
func acceptIf(yes bool, rule string) Reason {
	if yes {
		return Reason{Opinion: Accepts, Rule: rule}
	}
	return Reason{Rule: rule}
}

// byRedirect accepts the targets of the seed's redirects: they are part of the seed.
func (s *Scope) byRedirect(d Discovery) Reason {
	return acceptIf(d.Hops.TrailingRedirects() == len(d.Hops), "scope.max_redirects")
}

// byEmbed accepts what a page in scope shows or runs.
func (s *Scope) byEmbed(d Discovery) Reason {
	return acceptIf(d.Hops.Trailing(uri.Embed) > 0 && s.rules.EmbedsAnywhere, "scope.embeds_anywhere")
}

// byExtent accepts what is within the hosts, the domain or the prefixes.
func (s *Scope) byExtent(d Discovery) Reason {
	within := false
	switch s.rules.By {
	case ByPrefix:
		within = underPrefix(d.URI, s.rules.Prefixes)
	case ByDomain:
		within = s.isSeed(d.URI.Host()) || d.URI.Domain() == s.seed.Domain()
	default:
		within = s.isSeed(d.URI.Host())
	}
	return acceptIf(within, "scope.by")
}

// byRedirectedSeed accepts what is on the host that the seed redirects to. Most sites have moved to https or to another
// name.
func (s *Scope) byRedirectedSeed(d Discovery) Reason {
	accepts := slices.ContainsFunc(s.redirectTargets(d), func(target uri.URI) bool {
		onHost := s.rules.By != ByPrefix && d.URI.Host() == target.Host()
		return s.includesHostOf(target) && (onHost || underPrefix(d.URI, foldersOf(target)))
	})
	return acceptIf(accepts, "scope.seed_redirects")
}

// includesHostOf reports whether the host of a seed's redirect target is in scope.
func (s *Scope) includesHostOf(target uri.URI) bool {
	switch s.rules.SeedRedirects {
	case RedirectsPage:
		return false
	case RedirectsInDomain:
		return target.Domain() == s.seed.Domain()
	}
	return true
}

// redirectTargets returns where the seed's redirects led when they were last seen. If the path begins with a redirect,
// its own target counts too, because the seed may redirect elsewhere by now.
func (s *Scope) redirectTargets(d Discovery) []uri.URI {
	if !s.followed && s.redirect != nil {
		s.followed = true
		at := s.seed
		for range s.rules.MaxRedirects {
			target, ok := s.redirect(at)
			if !ok {
				break
			}
			s.targets = append(s.targets, target)
			at = target
		}
	}
	// A page that was only embedded does not make its host part of the crawl.
	if len(d.Hops) > 1 && uri.Hop(d.Hops[0]) == uri.Redirect && d.Hops[:len(d.Hops)-1].Trailing(uri.Embed) == 0 {
		return append(s.targets[:len(s.targets):len(s.targets)], d.Via)
	}
	return s.targets
}

// foldersOf returns the folder that a URI is in, under http and https.
func foldersOf(u uri.URI) []string {
	folder := u.Path()[:strings.LastIndexByte(u.Path(), '/')+1]
	return []string{"http://" + u.Authority() + folder, "https://" + u.Authority() + folder}
}

func underPrefix(u uri.URI, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(u.String(), p) })
}

// Rules are the settings that decide about scope. The configuration fills them from its table [scope].
type Rules struct {
	// By is scope.by ("host"): the extent of the scope.
	By By
	// Prefixes is scope.prefixes ([]): canonical URIs. With [ByPrefix], a URI that begins with one of them is in scope.
	// If none is set, they are the folders of the host's seeds, under http and https.
	Prefixes []string
	// Exceptions is scope.rules ([]): the first exception that matches decides.
	Exceptions []Exception
	// MaxHops is scope.max_hops (20): hops from the seed, embeds and redirects not counted.
	MaxHops int
	// MaxEmbedHops is scope.max_embed_hops (2): embeds in a row at the end of the path.
	MaxEmbedHops int
	// MaxRedirects is scope.max_redirects (5): redirects in a row.
	MaxRedirects int
	// MaxLinkHops is scope.max_link_hops (1000): hops along links.
	MaxLinkHops int
	// MaxManifestHops is scope.max_manifest_hops (1000): hops out of feeds and sitemaps.
	MaxManifestHops int
	// MaxInferredHops is scope.max_inferred_hops (1000): hops to implied pages.
	MaxInferredHops int
	// MaxSpeculativeHops is scope.max_speculative_hops (1): hops that are guesses out of scripts.
	MaxSpeculativeHops int
	// SeedRedirects is scope.seed_redirects ("anywhere"): how much of the host that a seed redirects to is in scope.
	SeedRedirects SeedRedirects
	// EmbedsAnywhere is scope.embeds_anywhere (true): what a page in scope embeds is accepted from any host.
	EmbedsAnywhere bool
}

// By is the extent of a scope.
type By string

// The extents.
const (
	ByHost   By = "host"   // every URI on a host of the seeds
	ByDomain By = "domain" // also every URI in the seed's registrable domain
	ByPrefix By = "prefix" // every URI that begins with one of the prefixes
)

// SeedRedirects says how much of the host that a seed redirects to is in scope.
type SeedRedirects string

// The values of SeedRedirects.
const (
	RedirectsAnywhere SeedRedirects = "anywhere" // the whole host
	RedirectsInDomain SeedRedirects = "domain"   // the whole host if it is in the seed's registrable domain
	RedirectsPage     SeedRedirects = "page"     // only the page
)

// Exception accepts or rejects the URIs that match a regular expression.
type Exception struct {
	Accept bool
	Match  *regexp.Regexp
	File   string // where it is configured
	Line   int
}

// String returns the exception as it is configured.
func (e Exception) String() string {
	verb := "reject "
	if e.Accept {
		verb = "accept "
	}
	return verb + e.Match.String()
}

// Refused is the annotation of a URI that is out of scope.
const Refused = "outOfScope"

// Aspect keeps URIs out that the scope of their seed does not accept any more.
type Aspect struct {
	Of   func(*aspects.Visit) *Scope        // returns the scope of the visit's seed
	Wait func(*aspects.Visit) time.Duration // until a URI that is refused is checked again
}

// Admit refuses a URI that is out of scope.
func (a *Aspect) Admit(v *aspects.Visit) (aspects.Admission, error) {
	r := v.Record()
	if v.IsPrerequisite() || a.Of(v).Accepts(Discovery{URI: r.URI, Hops: r.Hops, Via: uri.FromCanonical(r.Via)}) {
		return aspects.Admission{}, nil
	}
	return aspects.Admission{Refused: &aspects.Refusal{
		Status: aspects.StatusOutOfScope, Wait: a.Wait(v), Why: Refused, ByConfig: true,
	}}, nil
}
