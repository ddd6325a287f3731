package names

import (
	"fmt"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/uri"
)

// Keys returns the keys about names.
func Keys(n *uri.Naming) []schema.Var {
	return []schema.Var{
		schema.Choice("names.set", schema.InBoth, &n.Set,
			"When two URIs are the same. `whatwg`: a browser would send the same request. `heritrix`: also if they differ only in case, www, session ids or an empty query, as in Heritrix. `pywb`: they have the same SURT key in the index of a replay tool.",
			uri.WHATWG, uri.Heritrix, uri.Pywb),
		schema.Elements("names.drop", schema.InBoth, "parameter names", &n.Drop,
			func(f schema.Field) []string { return bound(f, slices.Concat(n.Drop, readParameters(f))) },
			"Query parameters that do not change the page, as `\"utm_*\"`. A star matches any text. Parameters in the main file apply to all hosts too."),
		schema.Elements("names.rewrite", schema.InBoth, "rewrites", &n.Rewrite,
			func(f schema.Field) []uri.Rewrite { return bound(f, append(readRewrites(f), n.Rewrite...)) },
			"Rewrites of the text of a URI, in order: a regular expression, ` -> `, and the replacement of its matches, with groups as `$1`. Rewrites in a host file come before those in the main file."),
	}
}

// maxNameRules bounds the lists of [names], because every rule is applied to every link.
const maxNameRules = 100

// bound reports a list that is too long together with the list of the main file.
func bound[V any](f schema.Field, all []V) []V {
	if n := len(all); n > maxNameRules {
		f.Fault(fmt.Sprintf("makes %d entries together with the main file", n), fmt.Sprintf("maximum: %d", maxNameRules))
	}
	return all
}

// maxNameRule bounds one rule about names, which is applied to every link, in bytes.
const maxNameRule = 2000

// readParameters reads a list of names of query parameters.
func readParameters(f schema.Field) []string {
	const example = `for example "utm_*" or "fbclid"`
	return schema.ReadElements(f, example, func(e schema.Field, s string) (string, bool) {
		switch {
		case s == "":
			e.Fault("is empty", "write "+example)
		case len(s) > maxNameRule || strings.ContainsAny(s, "?&= \t\r\n"):
			e.Fault("is not the name of one parameter", "write "+example)
		case strings.Trim(s, "*") == "":
			e.Fault("drops every parameter, and so most pages", "name the parameters that do not matter, "+example)
		default:
			return s, true
		}
		return "", false
	})
}

// readRewrites reads a list of rewrites of URIs.
func readRewrites(f schema.Field) []uri.Rewrite {
	const example = `write for example '^(https?://[^/]+)/s/[0-9a-f]{32}/ -> $1/'`
	const list = `for example ['/index[.]html$ -> /']`
	return schema.ReadElements(f, list, func(e schema.Field, s string) (uri.Rewrite, bool) {
		if len(s) > maxNameRule {
			e.Fault("is too long", fmt.Sprintf("maximum: %d bytes", maxNameRule))
			return uri.Rewrite{}, false
		}
		r, err := schema.ParseRewrite(s)
		if err != nil {
			e.Fault("is not a rewrite: "+err.Error(), example)
		}
		return r, err == nil
	})
}
