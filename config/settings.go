package config

import (
	"regexp"
	"time"

	"github.com/arcrawl/arcrawl/aspects/scope"
	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Settings are all settings of one visit, resolved for its URI and time. It is a value. Its slices are shared and must
// not be modified. Each field is named after its table in the configuration files, except where noted.
type Settings struct {
	Politeness Politeness
	// Wait is the stack of wait evaluators: the [[wait]] entries of the host file, then the entries of the main file, or
	// [evaluators.Default]. It is never empty.
	Wait     evaluators.Stack
	Retry    evaluators.Ladder // the wait after consecutive failures
	Midfetch Midfetch
	Fetch    fetch.Limits
	HTTP     fetch.HTTP
	Network  NetworkSettings
	Way      *fetch.Way // that Network describes; nil = the usual way
	TLS      TLS
	// MaxPerDay is how many bytes the hosts of a registrable domain may add to the archive in a day; 0 = no limit. Its key
	// is fetch.max_per_day.
	MaxPerDay int64
	Scope     scope.Rules
	Limits    frontier.Limits // scope.max_uris and scope.max_uris_per_directory
	Links     discover.Bounds // scope.max_links and scope.speculative
	Render    Rendering
	Dedup     dedup.Policy
	Names     uri.Naming // when two URIs are the same

	// Own holds what the keys of aspects and wings have filled, see [schema.Find].
	Own []any
}

// Politeness says how long a host rests between requests, and how many visits to it are made at once. The crawler sets
// CrawlDelay from the robots.txt of the host.
type Politeness struct {
	frontier.Politeness
	CrawlDelayUpTo time.Duration // maximum of a Crawl-delay that is honored; 0 = ignore Crawl-delay
	Valence        int           // maximum number of simultaneous visits to the host
	Group          string        // hosts with the same group share the politeness of one host; "" = no group
}

// LongestDelay returns the longest rest between two visits, unless robots.txt asks for more.
func (p Politeness) LongestDelay() time.Duration { return max(p.MinDelay, p.MaxDelay) }

// Cycle returns how long an exchange and the rest after it take together, if the exchange takes a second.
func (p Politeness) Cycle() time.Duration { return time.Second + p.Rest(time.Second) }

// TLS says which certificates are accepted although they are not valid.
type TLS struct {
	Accept Accept
	Until  time.Time // when only valid ones are accepted again; not zero with an Accept
}

// Accept says which certificates are accepted although they are not valid.
type Accept string

// The values of Accept.
const (
	AcceptValid   Accept = "valid"   // none
	AcceptExpired Accept = "expired" // those that have expired and are valid otherwise
)

// Expired reports whether a certificate that has expired is accepted.
func (t TLS) Expired(now time.Time) bool { return t.Accept == AcceptExpired && now.Before(t.Until) }

// Midfetch says when the response headers alone prove that nothing changed.
type Midfetch struct {
	DecideBy  evaluators.DecideBy
	ByType    []DecideByType       // replaces DecideBy for certain types; the first match wins
	Threshold evaluators.Threshold // what a validator must have proven on a host before it is trusted there
	Audit     evaluators.Audit     // when a body is read in spite of the headers
}

// DecideByType says which validators decide for some types of content.
type DecideByType struct {
	MIME     *regexp.Regexp // matches the whole Content-Type
	DecideBy evaluators.DecideBy
}

// For returns the rule for content of a type, without any doubts about validators.
func (m Midfetch) For(contentType string) evaluators.Midfetch {
	for _, t := range m.ByType {
		if t.MIME.MatchString(contentType) {
			return evaluators.Midfetch{DecideBy: t.DecideBy}
		}
	}
	return evaluators.Midfetch{DecideBy: m.DecideBy}
}

// Sections returns the values of the owners of keys, see [schema.Find].
func (s *Settings) Sections() []any { return s.Own }

// Own returns the options that the keys of an aspect or wing fill. They must not be modified. It does not make a
// [schema.Holder] of the settings, which would take a copy of them on the heap at each visit.
func Own[T any](s *Settings) *T { return schema.FindIn[T](s.Own) }

// OwnFor is [Own] for the settings of a visit.
func OwnFor[T any](c *Config, a About) *T {
	s := c.For(a)
	return Own[T](&s)
}

// DefaultSettings returns the settings that apply where no file sets anything, without Wait.
func DefaultSettings() Settings { return coreCatalog().defaultSettings() }

func (c *catalog) defaultSettings() Settings {
	s := plainDefaults()
	for _, section := range c.sections {
		s.Own = append(s.Own, section.Make())
	}
	return s
}

// plainDefaults returns the default settings without the sections.
func plainDefaults() Settings {
	return Settings{
		Politeness: Politeness{
			Politeness:     frontier.Politeness{DelayFactor: 5, MinDelay: 2 * time.Second, MaxDelay: 30 * time.Second},
			CrawlDelayUpTo: 5 * time.Minute,
			Valence:        1,
		},
		Network: NetworkSettings{Family: fetch.AnyFamily, MinTLS: defaultVersion}, TLS: TLS{Accept: AcceptValid},
		Retry: evaluators.Ladder{First: 10 * time.Minute, Factor: 2, Max: 7 * schema.Day},
		Midfetch: Midfetch{
			DecideBy:  evaluators.Agree,
			Threshold: evaluators.Threshold{Proof: 3, Precision: 0.98},
			Audit:     evaluators.Audit{Every: 50, Within: 30 * schema.Day, Share: 0.01},
		},
		Fetch: fetch.DefaultLimits(), HTTP: fetch.AutoHTTP, MaxPerDay: 50e9,
		Scope: scope.Rules{
			By: scope.ByHost, SeedRedirects: scope.RedirectsAnywhere, EmbedsAnywhere: true,
			MaxHops: 20, MaxEmbedHops: 2, MaxRedirects: 5,
			MaxLinkHops: 1000, MaxManifestHops: 1000, MaxInferredHops: 1000, MaxSpeculativeHops: 1,
		},
		Links:  discover.Bounds{MaxLinks: discover.DefaultMaxLinks},
		Render: Rendering{Keep: KeepNothing, Age: schema.Day, Limit: 2 * time.Minute, MaxRequests: 500, MaxPerDay: 1000},
		Names:  uri.Naming{Set: uri.WHATWG},
		Dedup:  dedup.Policy{MinSize: 1000},
	}
}
