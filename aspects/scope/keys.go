package scope

import (
	"fmt"
	"strings"

	"github.com/arcrawl/arcrawl/config/schema"
)

// Others are the variables of keys about scope that others apply.
type Others struct {
	URIs, PerDirectory *int64
	Links              *int
	Speculative        *bool
}

// Keys returns the keys about scope.
func Keys(r *Rules, others Others) []schema.Var {
	return []schema.Var{
		schema.Choice("scope.by", schema.InBoth, &r.By,
			"`host`: every URI on a host of the seeds. `domain`: also every URI in the seed's registrable domain, by the public suffix list. `prefix`: every URI that begins with one of the prefixes.",
			ByHost, ByDomain, ByPrefix),
		schema.Elements("scope.prefixes", schema.InBoth, "URIs", &r.Prefixes, readPrefixes,
			"For `by = \"prefix\"`. If empty, the folders of the host's seeds, with http and https. End a folder with a slash."),
		schema.Elements("scope.rules", schema.InBoth, "rules", &r.Exceptions, r.readExceptions,
			"Exceptions: `accept` or `reject` and a regular expression that matches anywhere in the URI, as in `'reject /print/'`. The first match decides. The exceptions of a host file come before those in the main file. They do not apply to seeds or to the limits on hops."),
		schema.Count("scope.max_hops", schema.InBoth, 0, 1000, &r.MaxHops,
			"Maximum number of hops from the seed, not counting embeds and redirects."),
		schema.Count("scope.max_embed_hops", schema.InBoth, 0, 100, &r.MaxEmbedHops,
			"Maximum number of consecutive embeds. An image that a style sheet names is the second."),
		schema.Count("scope.max_redirects", schema.InBoth, 0, 50, &r.MaxRedirects,
			"Maximum number of consecutive redirects."),
		schema.Count("scope.max_link_hops", schema.InBoth, 0, 1000, &r.MaxLinkHops,
			"Maximum number of hops along links (L)."),
		schema.Count("scope.max_manifest_hops", schema.InBoth, 0, 1000, &r.MaxManifestHops,
			"Maximum number of hops from feeds and sitemaps (M)."),
		schema.Count("scope.max_inferred_hops", schema.InBoth, 0, 1000, &r.MaxInferredHops,
			"Maximum number of hops to implied pages (I)."),
		schema.Count("scope.max_speculative_hops", schema.InBoth, 0, 1000, &r.MaxSpeculativeHops,
			"Maximum number of guesses from scripts (X)."),
		schema.Choice("scope.seed_redirects", schema.InBoth, &r.SeedRedirects,
			"How much of the host that a seed redirects to is in scope. `anywhere`: the whole host, as if it were the seed's own. `domain`: the whole host if it is in the seed's registrable domain. "+
				"`page`: only the page. The page itself is always visited.",
			RedirectsAnywhere, RedirectsInDomain, RedirectsPage),
		schema.Count("scope.max_uris", schema.InBoth, 0, 1_000_000_000, others.URIs,
			"Maximum number of URIs of the host. URIs discovered beyond it are refused. 0 = crawl.max_uris_per_host."),
		schema.Count("scope.max_uris_per_directory", schema.InBoth, 0, 1_000_000_000, others.PerDirectory,
			"Maximum number of URIs in one folder of the host, which is the path up to its last slash. URIs discovered beyond it are refused. 0 = no limit."),
		schema.Bool("scope.embeds_anywhere", schema.InBoth, &r.EmbedsAnywhere,
			"Crawl what a page in scope embeds from any host."),
		schema.Count("scope.max_links", schema.InBoth, 1, 1_000_000, others.Links,
			"Maximum number of links from one page."),
		schema.Bool("scope.speculative", schema.InBoth, others.Speculative,
			"Treat quoted strings in scripts that look like a path or URI as guesses (X), limited by scope.max_speculative_hops. Many lead nowhere."),
	}
}

// readPrefixes reads a list of prefixes of URIs.
func readPrefixes(f schema.Field) (all []string) {
	for _, u := range schema.ReadURIs(f) {
		all = append(all, u.String())
	}
	return all
}

// maxExceptions bounds scope.rules, because every rule is tried on every link.
const maxExceptions = 500

// readExceptions reads a list of exceptions and puts it before the exceptions of the file above.
func (r *Rules) readExceptions(f schema.Field) (all []Exception) {
	const example = `write for example 'reject /print/' or 'accept ^https://media[.]news[.]example/'`
	f.Texts(`for example ['reject /print/']`, func(e schema.Field, s string) {
		verb, expression, _ := strings.Cut(strings.TrimSpace(s), " ")
		if verb != "accept" && verb != "reject" {
			e.Fault("begins with neither accept nor reject", example)
			return
		}
		if re, ok := schema.ReadRegex(e, strings.TrimSpace(expression), example); ok {
			at := e.Finding("", "")
			all = append(all, Exception{Accept: verb == "accept", Match: re, File: at.File, Line: at.Line})
		}
	})
	all = append(all, r.Exceptions...)
	if n := len(all); n > maxExceptions {
		f.Fault(fmt.Sprintf("makes %d rules together with the main file", n),
			fmt.Sprintf("maximum: %d; join some with |", maxExceptions))
	}
	return all
}
