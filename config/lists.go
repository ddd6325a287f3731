package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/aspects/scope"
	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/evaluators"
)

// defaultScrubTypes are the types whose content is scrubbed by default.
const defaultScrubTypes = `^(text/.*|application/([a-z0-9.+-]*[+])?(xml|json)(;.*)?)$`

var scrubTypes = key{
	Key: Key{
		Name: "change.mime", Type: schema.Type{Kind: schema.Regex}, Scope: InBoth, Default: "'" + defaultScrubTypes + "'",
		Doc: "Types that the rules apply to. Others are compared byte by byte. Must match the whole Content-Type, as in [[wait]].",
	},
	Read: func(f schema.Field, d *draft) {
		if re, ok := schema.ReadTypePattern(f); ok {
			d.settings.Change.MIME = re
		}
	},
}

var keepScrubbed = schema.Every("change.keep_scrubbed", []string{"nothing", "response", "once per"},
	func(d *draft, choice int, every time.Duration) {
		d.settings.Change.KeepScrubbed = KeepScrubbed{Response: choice > 0, Every: every}
	},
	func(d *draft) (choice int, every time.Duration) {
		k := d.settings.Change.KeepScrubbed
		switch {
		case !k.Response:
			return 0, 0
		case k.Every == 0:
			return 1, 0
		}
		return 2, k.Every
	},
	"What is archived of an answer that differs only in what is not compared: `nothing`, the whole `response` each time, or the response at most `once per 7d`.")

var revisits = schema.Every("dedup.revisits", []string{"all", "none", "once per"},
	func(d *draft, choice int, every time.Duration) {
		d.settings.Dedup.Revisits = dedup.Revisits{None: choice == 1, Once: every}
	},
	func(d *draft) (choice int, every time.Duration) {
		r := d.settings.Dedup.Revisits
		switch {
		case r.None:
			return 1, 0
		case r.Once == 0:
			return 0, 0
		}
		return 2, r.Once
	},
	"Which visits to an unchanged URI write a revisit record: `all`, `none`, or `once per 7d`: the first in each such period. crawl.log always has a line for each visit.")

// validators lists the values of midfetch.decide_by.
var validators = []evaluators.DecideBy{
	evaluators.Agree, evaluators.ETag, evaluators.LastModified, evaluators.Either, evaluators.Off,
}

var byTypeColumns = []schema.Column{
	{Name: "mime", Type: schema.Type{Kind: schema.Regex}},
	{Name: "decide_by", Type: schema.ChoiceType(validators)},
}

// readByType reads a list of tables, each with a pattern of types and the validators that decide for them.
func readByType(f schema.Field, d *draft) {
	const example = `write for example [{ mime = '^image/.*', decide_by = "either" }]`
	tables, ok := f.Tables(example)
	if !ok {
		return
	}
	d.settings.Midfetch.ByType = nil
	for _, table := range tables {
		fields, ok := schema.ReadColumns(table, byTypeColumns, example)
		if !ok {
			continue
		}
		re, ok1 := schema.ReadTypePattern(fields["mime"])
		i, _, ok2 := byTypeColumns[1].Type.ReadChoice(fields["decide_by"])
		if ok1 && ok2 {
			by := DecideByType{MIME: re, DecideBy: validators[i]}
			d.settings.Midfetch.ByType = append(d.settings.Midfetch.ByType, by)
		}
	}
}

// checkTLS reports a file, or the refinement at path, that accepts an invalid certificate without an end.
func (d *draft) checkTLS(doc *schema.Document, path schema.Path) {
	endless := d.settings.TLS.Accept == AcceptExpired && d.settings.TLS.Until.IsZero()
	if f := schema.FieldAt(doc, path, "tls.accept", nil); endless && doc.Has(f.Path) {
		f.Value = doc.Value(f.Path)
		f.Fault("has no end", "set tls.until to a date by which the site will have a new certificate, as in 2026-12-31")
	}
}

// readPrefixes reads a list of prefixes of URIs.
func readPrefixes(f schema.Field, d *draft) {
	d.settings.Scope.Prefixes = nil
	for _, u := range schema.ReadURIs(f) {
		d.settings.Scope.Prefixes = append(d.settings.Scope.Prefixes, u.String())
	}
}

// maxScopeRules bounds scope.rules, because every rule is tried on every link.
const maxScopeRules = 500

// readScopeRules reads a list of exceptions and puts it before the exceptions of the file above.
func readScopeRules(f schema.Field, d *draft) {
	const example = `write for example 'reject /print/' or 'accept ^https://media[.]news[.]example/'`
	var own []scope.Exception
	f.Texts(`for example ['reject /print/']`, func(e schema.Field, s string) {
		verb, expression, _ := strings.Cut(strings.TrimSpace(s), " ")
		if verb != "accept" && verb != "reject" {
			e.Fault("begins with neither accept nor reject", example)
			return
		}
		if re, ok := schema.ReadRegex(e, strings.TrimSpace(expression), example); ok {
			at := e.Finding("", "")
			own = append(own, scope.Exception{Accept: verb == "accept", Match: re, File: at.File, Line: at.Line})
		}
	})
	d.settings.Scope.Exceptions = append(own, d.settings.Scope.Exceptions...)
	if n := len(d.settings.Scope.Exceptions); n > maxScopeRules {
		f.Fault(fmt.Sprintf("makes %d rules together with the main file", n),
			fmt.Sprintf("maximum: %d; join some with |", maxScopeRules))
	}
}

// maxNameRules bounds the lists of [names], because every rule is applied to every link.
const maxNameRules = 100

// readDroppedParameters reads a list of query parameters and adds it to the parameters of the file above.
func readDroppedParameters(f schema.Field, d *draft) {
	d.settings.Names.Drop = slices.Concat(d.settings.Names.Drop, schema.ReadParameters(f))
	boundNames(f, len(d.settings.Names.Drop))
}

// readRewrites reads a list of rewrites and puts it before the rewrites of the file above.
func readRewrites(f schema.Field, d *draft) {
	d.settings.Names.Rewrite = append(schema.ReadRewrites(f), d.settings.Names.Rewrite...)
	boundNames(f, len(d.settings.Names.Rewrite))
}

// boundNames reports a list of [names] that is too long together with the list of the main file.
func boundNames(f schema.Field, n int) {
	if n > maxNameRules {
		f.Fault(fmt.Sprintf("makes %d entries together with the main file", n), fmt.Sprintf("maximum: %d", maxNameRules))
	}
}
