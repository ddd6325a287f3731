package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/uri"
)

// Bounds of the lists of [names]; each rule is applied to each link.
const (
	maxNameRules = 100
	maxNameRule  = 2000
)

var namesKeys = []key{
	{
		Key: Key{Name: "names.set", Default: `"whatwg"`, Scope: inBoth, Doc: "When two URIs are one. `whatwg`: when a browser would send the same request. `heritrix`: also when they differ in case, www, " +
			"session ids or an empty query, as in Heritrix. `pywb`: when they have one SURT key in a replay tool's index."},
		reader: choice(func(d *draft) *uri.RuleSet { return &d.settings.Names.Set }, uri.WHATWG, uri.Heritrix, uri.Pywb),
	},
	{
		Key:    Key{Name: "names.drop", Default: "[]", Scope: inBoth, Doc: "Query parameters without which the page is the same, as `\"utm_*\"`; a star stands for any text. Those of the main file hold for hosts too."},
		reader: droppedParameters(),
	},
	{
		Key:    Key{Name: "names.rewrite", Default: "[]", Scope: inBoth, Doc: "Rewrites of the text of a URI, in order: a regular expression, ` -> `, and what its matches become, with groups as `$1`. Those of a host file come before those of the main file."},
		reader: rewrites(),
	},
}

// droppedParameters reads a list of names of parameters and adds it to that of the file above.
func droppedParameters() reader {
	const example = `for example "utm_*" or "fbclid"`
	return reader{
		kind: "list of parameter names",
		read: func(f field, d *draft) {
			drop := slices.Clone(d.settings.Names.Drop)
			f.texts(example, func(e field, s string) {
				switch {
				case s == "":
					e.fault("is empty", "write "+example)
				case len(s) > maxNameRule || strings.ContainsAny(s, "?&= \t\r\n"):
					e.fault("is not the name of one parameter", "write "+example)
				case strings.Trim(s, "*") == "":
					e.fault("drops every parameter, and with them most pages", "name those that do not matter, "+example)
				default:
					drop = append(drop, s)
				}
			})
			d.settings.Names.Drop = drop
			f.atMost(len(drop), maxNameRules)
		},
	}
}

// rewrites reads a list of rewrites and puts it before that of the file above.
func rewrites() reader {
	const example = `write for example '^(https?://[^/]+)/s/[0-9a-f]{32}/ -> $1/'`
	return reader{
		kind: "list of rewrites",
		read: func(f field, d *draft) {
			var own []uri.Rewrite
			f.texts(`for example ['/index[.]html$ -> /']`, func(e field, s string) {
				if len(s) > maxNameRule {
					e.fault("is too long", fmt.Sprintf("at most %d bytes", maxNameRule))
					return
				}
				r, err := uri.ParseRewrite(s)
				if err != nil {
					e.fault(strings.TrimPrefix(err.Error(), fmt.Sprintf("rewrite %q: ", s)), example)
					return
				}
				own = append(own, r)
			})
			d.settings.Names.Rewrite = append(own, d.settings.Names.Rewrite...)
			f.atMost(len(d.settings.Names.Rewrite), maxNameRules)
		},
	}
}

// atMost reports a list that is too long with what the main file adds.
func (f field) atMost(n, most int) {
	if n > most {
		f.fault(fmt.Sprintf("makes %d entries with those of the main file", n), fmt.Sprintf("at most %d", most))
	}
}

// NamesNotation says in a stable notation by which rules URIs are one: a line for all hosts, then a line "host: rules" for
// each host with other rules, in the order of names. Refinements have no part in it.
func (c *Config) NamesNotation() []string {
	all := c.main.base.settings.Names.Notation()
	lines := []string{}
	for h, p := range c.hosts {
		if rules := p.base.settings.Names.Notation(); rules != all {
			lines = append(lines, string(h)+": "+rules)
		}
	}
	slices.Sort(lines)
	return slices.Insert(lines, 0, all)
}
