package config

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/scope"
)

// Scope says which discovered URIs are taken, and how many.
type Scope struct {
	// Rules decide whether a URI is in scope.
	scope.Rules
	// Traps is scope.traps (true): parts of a host that never come to an end are recognised and kept out.
	Traps bool
	// TrapWait is scope.trap_wait ("28d"): when a URI of a trap that is known is looked at again.
	TrapWait time.Duration
}

var scopeKeys = []key{
	{
		Key:    Key{Name: "scope.by", Default: `"host"`, Scope: inBoth, Doc: "`host`: every URI on a host of the seeds. `domain`: also every URI of the seed's registrable domain, as the public suffix list has it. `prefix`: every URI whose text begins with one of the prefixes."},
		reader: choice(func(d *draft) *scope.By { return &d.settings.Scope.By }, scope.ByHost, scope.ByDomain, scope.ByPrefix),
	},
	{
		Key:    Key{Name: "scope.prefixes", Default: "[]", Scope: inBoth, Doc: "For `by = \"prefix\"`. When empty, the folders of the host's seeds, on the http and the https side. End a folder with a slash."},
		reader: prefixes(),
	},
	{
		Key:    Key{Name: "scope.rules", Default: "[]", Scope: inBoth, Doc: "Exceptions: `accept` or `reject` and a regular expression that is looked for in the whole URI, as in `'reject /print/'`. The first that matches decides; those of a host file come before those of the main file. Seeds themselves, and the limits on hops, are not subject to them."},
		reader: scopeRules(),
	},
	{
		Key:    Key{Name: "scope.max_hops", Default: "20", Scope: inBoth, Doc: "Steps from the seed, embeds and redirects apart."},
		reader: whole(0, 1000, func(d *draft) *int { return &d.settings.Scope.MaxHops }),
	},
	{
		Key:    Key{Name: "scope.max_embed_hops", Default: "2", Scope: inBoth, Doc: "Embeds in a row: an image that a style sheet names is the second."},
		reader: whole(0, 100, func(d *draft) *int { return &d.settings.Scope.MaxEmbedHops }),
	},
	{
		Key:    Key{Name: "scope.max_redirects", Default: "5", Scope: inBoth, Doc: "Redirects in a row."},
		reader: whole(0, 50, func(d *draft) *int { return &d.settings.Scope.MaxRedirects }),
	},
	{
		Key:    Key{Name: "scope.max_link_hops", Default: "1000", Scope: inBoth, Doc: "Of the steps from the seed, those along links (L)."},
		reader: whole(0, 1000, func(d *draft) *int { return &d.settings.Scope.MaxLinkHops }),
	},
	{
		Key:    Key{Name: "scope.max_manifest_hops", Default: "1000", Scope: inBoth, Doc: "Of the steps from the seed, those out of feeds and sitemaps (M)."},
		reader: whole(0, 1000, func(d *draft) *int { return &d.settings.Scope.MaxManifestHops }),
	},
	{
		Key:    Key{Name: "scope.max_inferred_hops", Default: "1000", Scope: inBoth, Doc: "Of the steps from the seed, those to pages that another one implies (I)."},
		reader: whole(0, 1000, func(d *draft) *int { return &d.settings.Scope.MaxInferredHops }),
	},
	{
		Key:    Key{Name: "scope.max_speculative_hops", Default: "1", Scope: inBoth, Doc: "Of the steps from the seed, those that are guesses out of scripts (X)."},
		reader: whole(0, 1000, func(d *draft) *int { return &d.settings.Scope.MaxSpeculativeHops }),
	},
	{
		Key: Key{Name: "scope.seed_redirects", Default: `"anywhere"`, Scope: inBoth, Doc: "How much of the host that a seed redirects to belongs to the crawl. `anywhere`: all of it, as if it were the seed's own. " +
			"`domain`: all of it if it is in the seed's registrable domain. `page`: only the page. The page itself is visited in any case."},
		reader: choice(func(d *draft) *scope.SeedRedirects { return &d.settings.Scope.SeedRedirects }, scope.RedirectsAnywhere, scope.RedirectsInDomain, scope.RedirectsPage),
	},
	{
		Key:    Key{Name: "scope.max_uris", Default: "0", Scope: inBoth, Doc: "URIs kept for the host; those discovered beyond it are refused. 0 is crawl.max_uris_per_host."},
		reader: whole(0, 1_000_000_000, func(d *draft) *int64 { return &d.settings.Limits.URIs }),
	},
	{
		Key:    Key{Name: "scope.max_uris_per_directory", Default: "0", Scope: inBoth, Doc: "URIs of one folder of the host, the part of the path up to its last slash, that are kept; those discovered beyond it are refused. What the crawl knew before this was set counts and stays. 0 sets no limit."},
		reader: whole(0, 1_000_000_000, func(d *draft) *int64 { return &d.settings.Limits.PerDirectory }),
	},
	{
		Key:    Key{Name: "scope.traps", Default: "true", Scope: inBoth, Doc: "Calendars, folders in folders, combinations of parameters, session ids and the like are recognised by what their pages hold, kept out and reported, see `arcrawl traps`. The settings of the URI's own host decide about what is known, those of the page about what it names."},
		reader: boolean(func(d *draft) *bool { return &d.settings.Scope.Traps }),
	},
	{
		Key:    Key{Name: "scope.trap_wait", Default: `"28d"`, Scope: inBoth, Doc: "When a URI of a trap that is in the store is looked at again. It is visited once the trap is released."},
		reader: duration(shortest, longWait, func(d *draft) *time.Duration { return &d.settings.Scope.TrapWait }),
	},
	{
		Key:    Key{Name: "scope.embeds_anywhere", Default: "true", Scope: inBoth, Doc: "What a page in scope shows or runs is taken from any host."},
		reader: boolean(func(d *draft) *bool { return &d.settings.Scope.EmbedsAnywhere }),
	},
	{
		Key:    Key{Name: "scope.max_links", Default: "5000", Scope: inBoth, Doc: "Links taken from one page."},
		reader: whole(1, 1_000_000, func(d *draft) *int { return &d.settings.Links.MaxLinks }),
	},
	{
		Key:    Key{Name: "scope.speculative", Default: "false", Scope: inBoth, Doc: "Quoted strings in scripts that look like a path or URI are taken for guesses (X); scope.max_speculative_hops limits them. Many lead nowhere."},
		reader: boolean(func(d *draft) *bool { return &d.settings.Links.Speculative }),
	},
}

// Bounds of scope.rules; each rule is tried on each link.
const (
	maxScopeRules = 500
	maxScopeRule  = 2000
)

// scopeRules reads a list of rules and puts it before those of the file above.
func scopeRules() reader {
	const example = `write for example 'reject /print/' or 'accept ^https://media[.]news[.]example/'`
	return reader{
		kind: "list of rules",
		read: func(f field, d *draft) {
			var own []scope.Exception
			f.texts(`for example ['reject /print/']`, func(e field, s string) {
				verb, expression, _ := strings.Cut(strings.TrimSpace(s), " ")
				expression = strings.TrimSpace(expression)
				if verb != "accept" && verb != "reject" {
					e.fault("begins with neither accept nor reject", example)
					return
				}
				if re, ok := e.expression(expression, example); ok {
					at := e.finding("", "")
					own = append(own, scope.Exception{Accept: verb == "accept", Match: re, File: at.File, Line: at.Line})
				}
			})
			d.settings.Scope.Exceptions = append(own, d.settings.Scope.Exceptions...)
			if n := len(d.settings.Scope.Exceptions); n > maxScopeRules {
				f.fault(fmt.Sprintf("makes %d rules with those of the main file", n), fmt.Sprintf("at most %d; join some with |", maxScopeRules))
			}
		},
	}
}

// expression compiles a regular expression that is part of the value.
func (f field) expression(s, example string) (*regexp.Regexp, bool) {
	switch {
	case s == "":
		f.fault("has no regular expression", example)
		return nil, false
	case len(s) > maxScopeRule:
		f.fault("is too long", fmt.Sprintf("at most %d bytes", maxScopeRule))
		return nil, false
	}
	re, err := regexp.Compile(s)
	if err != nil {
		f.fault("is not a regular expression: "+badExpression(err, s), example+" (RE2 syntax)")
		return nil, false
	}
	return re, true
}
