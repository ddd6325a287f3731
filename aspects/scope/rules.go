package scope

import "regexp"

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
