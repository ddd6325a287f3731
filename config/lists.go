package config

import (
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/evaluators"
)

func (d *draft) revisits() schema.Var {
	r := &d.settings.Dedup.Revisits
	return schema.Every("dedup.revisits", []string{"all", "none", "once per"},
		func() (choice int, every time.Duration) {
			switch {
			case r.None:
				return 1, 0
			case r.Once == 0:
				return 0, 0
			}
			return 2, r.Once
		},
		func(choice int, every time.Duration) { *r = dedup.Revisits{None: choice == 1, Once: every} },
		"Which visits to an unchanged URI write a revisit record: `all`, `none`, or `once per 7d`: the first in each such period. crawl.log always has a line for each visit.")
}

// validators lists the values of midfetch.decide_by.
var validators = []evaluators.DecideBy{
	evaluators.Agree, evaluators.ETag, evaluators.LastModified, evaluators.Either, evaluators.Off,
}

var byTypeColumns = []schema.Column{
	{Name: "mime", Type: schema.Type{Kind: schema.Regex}},
	{Name: "decide_by", Type: schema.ChoiceType(validators)},
}

// readByType reads a list of tables, each with a pattern of types and the validators that decide for them.
func readByType(f schema.Field) (all []DecideByType) {
	const example = `write for example [{ mime = '^image/.*', decide_by = "either" }]`
	tables, ok := f.Tables(example)
	if !ok {
		return nil
	}
	for _, table := range tables {
		fields, ok := schema.ReadColumns(table, byTypeColumns, example)
		if !ok {
			continue
		}
		re, ok1 := schema.ReadTypePattern(fields["mime"])
		i, _, ok2 := byTypeColumns[1].Type.ReadChoice(fields["decide_by"])
		if ok1 && ok2 {
			all = append(all, DecideByType{MIME: re, DecideBy: validators[i]})
		}
	}
	return all
}

// checkTLS reports a file, or the refinement at path, that accepts an invalid certificate without an end.
func (d *draft) checkTLS(doc *schema.Document, path schema.Path) {
	endless := d.settings.TLS.Accept == AcceptExpired && d.settings.TLS.Until.IsZero()
	if f, set := doc.Setting(path, "tls.accept"); set && endless {
		f.Fault("has no end", "set tls.until to a date by which the site will have a new certificate, as in 2026-12-31")
	}
}
