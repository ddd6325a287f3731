package robots

import (
	"strconv"

	"github.com/arcrawl/arcrawl/config/schema"
)

// Keys returns the keys of the aspect.
func Keys(o *Options) schema.Owned {
	return schema.Owned{
		Tables: []schema.Table{{
			Name: "robots", After: "politeness",
			Doc: "How long the answers of robots.txt are used, and whether they are obeyed.",
		}},
		Vars: []schema.Var{
			schema.Interval("robots.wait", schema.InBoth, schema.Shortest, schema.Longest, &o.Wait,
				"How long a fetched robots.txt is used."),
			schema.Interval("robots.forbidden_wait", schema.InBoth, schema.Shortest, schema.Longest, &o.ForbiddenWait,
				"When a forbidden URI is checked again, unless robots.txt changes earlier."),
			schema.Interval("robots.unreachable_wait", schema.InBoth, schema.Shortest, schema.Longest, &o.UnreachableWait,
				"Rest of the host after a server error or network failure on robots.txt."),
			obey(&o.Obey),
			schema.Optional("robots.reason", schema.InHost, schema.CheckReason, &o.Reason,
				"Why robots.txt need not be obeyed: the law, or the letter of the publisher with its date. Required with `robots.obey`. It is written into crawl.log and the archive."),
			schema.End("robots.until", &o.Until,
				"Date (that day included) or time from which robots.txt is obeyed again, in UTC if it has no offset. `\"\"`: never."),
		},
		Check: o.checkReason,
	}
}

// checkReason reports a file, or the refinement at path, that ignores robots.txt without a reason.
func (o *Options) checkReason(doc *schema.Document, path schema.Path) {
	if f, set := doc.Setting(path, "robots.obey"); set && o.Obey != ObeyAll && o.Reason == "" {
		f.Fault("has no reason",
			`set robots.reason to the law or the letter that permits it, as in "letter of the publisher, 2026-11-02"`)
	}
}

// obey returns the key of whether robots.txt is obeyed.
func obey(v *Obey) schema.Var {
	read := func(f schema.Field) (Obey, bool) {
		switch f.Value {
		case true:
			return ObeyAll, true
		case false:
			return ObeyNone, true
		case string(ObeyHTML):
			return ObeyHTML, true
		}
		f.Fault("is not one of the values", `write true, false or "html-only"`)
		return "", false
	}
	show := func(o Obey) string {
		switch o {
		case ObeyHTML:
			return strconv.Quote(string(ObeyHTML))
		case ObeyNone:
			return "false"
		}
		return "true"
	}
	typ := schema.Type{Kind: schema.Text, OrBoolean: true, Choices: []string{string(ObeyHTML)}}
	return schema.Value("robots.obey", schema.InHost, typ, v, read, show,
		"`false` visits what robots.txt forbids, `html-only` only what pages embed, such as images. Needs `robots.reason`. Its Crawl-delay holds. `arcrawl effective --permissions` lists all such hosts.")
}
