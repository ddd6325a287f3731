package config

import (
	"regexp"

	"github.com/arcrawl/arcrawl/dedup"
)

// typePatterns reads a list of patterns of types.
func typePatterns(at func(*draft) *[]*regexp.Regexp) reader {
	return reader{
		kind: "list of regular expressions",
		read: func(f field, d *draft) {
			*at(d) = nil
			f.texts(`for example '^text/.*'`, func(e field, _ string) {
				if re, ok := e.typePattern(); ok {
					*at(d) = append(*at(d), re)
				}
			})
		},
	}
}

// revisits reads which revisit records are written.
func revisits() reader {
	const accepted = `accepted: "all", "none", or "once per" and a duration, as in "once per 7d"`
	return reader{
		kind: `"all", "none" or "once per" and a duration`,
		read: func(f field, d *draft) {
			s, ok := f.text(`"all", "none" or "once per 7d"`)
			if !ok {
				return
			}
			switch s {
			case "all":
				d.settings.Dedup.Revisits = dedup.Revisits{}
			case "none":
				d.settings.Dedup.Revisits = dedup.Revisits{None: true}
			default:
				if every, ok := f.oncePer(s, accepted); ok {
					d.settings.Dedup.Revisits = dedup.Revisits{Once: every}
				}
			}
		},
	}
}

// dedupKeys are the keys of [dedup].
var dedupKeys = []key{
	{
		Key: Key{Name: "dedup.by", Default: `"digest"`, Scope: inBoth, Doc: "Which earlier record with the same payload, status and type stands for an answer: " +
			"`digest`: that of any URI. `uri-first`: one of the same URI, and if there is none, that of any. `uri`: only one of the same URI. `off`: none; every payload that is fetched is archived."},
		reader: choice(func(d *draft) *dedup.By { return &d.settings.Dedup.By }, dedup.Off, dedup.URI, dedup.URIFirst, dedup.Digest),
	},
	{
		Key:    Key{Name: "dedup.equivalent", Default: "false", Scope: inBoth, Doc: "With `uri` and `uri-first`, a URI that differs only in what replay tools level (scheme, leading www, letter case, order of the query, session ids) counts as the same, if its payload is."},
		reader: boolean(func(d *draft) *bool { return &d.settings.Dedup.Equivalent }),
	},
	{
		Key:    Key{Name: "dedup.skip_mime", Default: "[]", Scope: inBoth, Doc: "Types that are archived whole each time: `['^text/.*']`."},
		reader: typePatterns(func(d *draft) *[]*regexp.Regexp { return &d.settings.Dedup.Skip }),
	},
	{
		Key:    Key{Name: "dedup.only_mime", Default: "[]", Scope: inBoth, Doc: "When set, all types but these are archived whole each time."},
		reader: typePatterns(func(d *draft) *[]*regexp.Regexp { return &d.settings.Dedup.Only }),
	},
	{
		Key:    Key{Name: "dedup.min_size", Default: `"0B"`, Scope: inBoth, Doc: "A smaller payload is archived whole each time."},
		reader: size(0, 1<<40, func(d *draft) *int64 { return &d.settings.Dedup.MinSize }),
	},
	{
		Key: Key{Name: "dedup.certainty", Default: `"regular"`, Scope: inBoth, Doc: "`regular`: digest and size of the payload are those of the record. " +
			"`compare`: the record is read again besides, and has the same bytes; else the answer is archived whole, and the log says so. `force-new`: the answer is archived whole in any case; crawl.log still tells what it repeats."},
		reader: choice(func(d *draft) *dedup.Certainty { return &d.settings.Dedup.Certainty }, dedup.Regular, dedup.Compare, dedup.ForceNew),
	},
	{
		Key: Key{Name: "dedup.revisits", Default: `"all"`, Scope: inBoth, Doc: "Which visits that find a URI unchanged leave a revisit record: `all`, `none`, or `once per 7d`: the first in each such period. " +
			"crawl.log has a line for each visit in any case."},
		reader: revisits(),
	},
}
