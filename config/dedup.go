package config

import (
	"regexp"
	"slices"
	"time"
)

// Dedup says which answers are archived as a revisit of an earlier record, in the place of their payload.
type Dedup struct {
	// By is dedup.by ("digest"): how far the URI of the earlier record counts.
	By DedupBy
	// Equivalent is dedup.equivalent (false): URIs of the same canonical name count as the same, if their payloads are.
	Equivalent bool
	// Skip is dedup.skip_mime ([]): types that are archived whole each time.
	Skip []*regexp.Regexp
	// Only is dedup.only_mime ([]): all other types are archived whole each time. Empty lets all be deduplicated.
	Only []*regexp.Regexp
	// MinSize is dedup.min_size ("0B"): bytes of payload below which it is archived whole each time.
	MinSize int64
	// Certainty is dedup.certainty ("regular"): what is done before a record is taken for the same.
	Certainty Certainty
	// Revisits is dedup.revisits ("all"): which unchanged visits leave a revisit record.
	Revisits Revisits
}

// DedupBy is how far the URI of an earlier record counts.
type DedupBy string

// The ways to deduplicate.
const (
	DedupOff      DedupBy = "off"       // every payload that is fetched is archived
	DedupURI      DedupBy = "uri"       // against records of the same URI
	DedupURIFirst DedupBy = "uri-first" // against those of the same URI, and if there are none of any
	DedupDigest   DedupBy = "digest"    // against records of any URI
)

// Certainty is what is done before an earlier record is taken for the same.
type Certainty string

// The levels, after the study of the Portuguese web archive.
const (
	CertainRegular  Certainty = "regular"   // digest and size are the same
	CertainCompare  Certainty = "compare"   // the record is read again, and every byte is the same
	CertainForceNew Certainty = "force-new" // the payload is archived all the same; what it would have spared is counted
)

// Revisits says which visits to an unchanged URI leave a revisit record. The zero value lets all do so.
type Revisits struct {
	None bool          // none does
	Once time.Duration // the first of each such period does; 0 = each visit
}

// Covers reports whether answers of a type and size of payload are deduplicated.
func (d Dedup) Covers(mime string, size int64) bool {
	if d.By == DedupOff || size < d.MinSize || anyMatches(d.Skip, mime) {
		return false
	}
	return len(d.Only) == 0 || anyMatches(d.Only, mime)
}

func anyMatches(list []*regexp.Regexp, mime string) bool {
	return slices.ContainsFunc(list, func(re *regexp.Regexp) bool { return re.MatchString(mime) })
}

// Wants reports whether a visit to an unchanged URI leaves a revisit record, when before was the last visit that could
// have left one. Periods begin at multiples of their length since the year 1, so that this needs no memory: of all
// visits in one the first leaves a record.
func (r Revisits) Wants(now, before time.Time) bool {
	switch {
	case r.None:
		return false
	case r.Once == 0:
		return true
	}
	return !now.UTC().Truncate(r.Once).Equal(before.UTC().Truncate(r.Once))
}

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
				d.settings.Dedup.Revisits = Revisits{}
			case "none":
				d.settings.Dedup.Revisits = Revisits{None: true}
			default:
				if every, ok := f.oncePer(s, accepted); ok {
					d.settings.Dedup.Revisits = Revisits{Once: every}
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
		reader: named(func(d *draft) *DedupBy { return &d.settings.Dedup.By }, DedupOff, DedupURI, DedupURIFirst, DedupDigest),
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
		reader: named(func(d *draft) *Certainty { return &d.settings.Dedup.Certainty }, CertainRegular, CertainCompare, CertainForceNew),
	},
	{
		Key: Key{Name: "dedup.revisits", Default: `"all"`, Scope: inBoth, Doc: "Which visits that find a URI unchanged leave a revisit record: `all`, `none`, or `once per 7d`: the first in each such period. " +
			"crawl.log has a line for each visit in any case."},
		reader: revisits(),
	},
}
