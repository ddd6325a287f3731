package robots

import (
	"strconv"
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
)

// Section returns the keys of the aspect.
func Section() schema.Section {
	s := schema.NewSection(DefaultOptions, []schema.Table{{
		Name: "robots", After: "politeness",
		Doc: "How long the answers of robots.txt are used, and whether they are obeyed.",
	}},
		schema.Interval("robots.wait", schema.InBoth, schema.Shortest, schema.Longest,
			func(o *Options) *time.Duration { return &o.Wait },
			"How long a fetched robots.txt is used."),
		schema.Interval("robots.forbidden_wait", schema.InBoth, schema.Shortest, schema.Longest,
			func(o *Options) *time.Duration { return &o.ForbiddenWait },
			"When a forbidden URI is checked again, unless robots.txt changes earlier."),
		schema.Interval("robots.unreachable_wait", schema.InBoth, schema.Shortest, schema.Longest,
			func(o *Options) *time.Duration { return &o.UnreachableWait },
			"Rest of the host after a server error or network failure on robots.txt."),
		obey(),
		schema.Optional("robots.reason", schema.InHost, schema.CheckReason, func(o *Options) *string { return &o.Reason },
			"Why robots.txt need not be obeyed: the law, or the letter of the publisher with its date. Required with `robots.obey`. It is written into crawl.log and the archive."),
		schema.End("robots.until", func(o *Options) *time.Time { return &o.Until },
			"Date (that day included) or time from which robots.txt is obeyed again, in UTC if it has no offset. `\"\"`: never."),
	)
	return schema.WithCheck(s, checkReason)
}

// checkReason reports a file, or the refinement at path, that ignores robots.txt without a reason.
func checkReason(o *Options, doc *schema.Document, path schema.Path) {
	if f := schema.FieldAt(doc, path, "robots.obey", nil); o.Obey != ObeyAll && o.Reason == "" && doc.Has(f.Path) {
		f.Value = doc.Value(f.Path)
		f.Fault("has no reason",
			`set robots.reason to the law or the letter that permits it, as in "letter of the publisher, 2026-11-02"`)
	}
}

// obey returns the key of whether robots.txt is obeyed.
func obey() schema.Of[Options] {
	return schema.Of[Options]{
		Key: schema.Key{
			Name: "robots.obey", Scope: schema.InHost,
			Type: schema.Type{Kind: schema.Text, OrBoolean: true, Choices: []string{string(ObeyHTML)}},
			Doc:  "`false` visits what robots.txt forbids, `html-only` only what pages embed, such as images. Needs `robots.reason`. Its Crawl-delay holds. `arcrawl effective --permissions` lists all such hosts.",
		},
		Read: func(f schema.Field, o *Options) {
			switch f.Value {
			case true:
				o.Obey = ObeyAll
			case false:
				o.Obey = ObeyNone
			case string(ObeyHTML):
				o.Obey = ObeyHTML
			default:
				f.Fault("is not one of the values", `write true, false or "html-only"`)
			}
		},
		Show: func(o *Options) string {
			switch o.Obey {
			case ObeyHTML:
				return strconv.Quote(string(ObeyHTML))
			case ObeyNone:
				return "false"
			}
			return "true"
		},
	}
}
