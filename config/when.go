package config

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
)

// whenKeys are the criteria of a [[when]].
func (d *draft) whenKeys() []schema.Var {
	c := &d.when
	zone := schema.Value("when.zone", InBoth, schema.Type{Kind: schema.Text}, &c.Zone, schema.ReadZone, nil,
		"Time zone, as in `Europe/Copenhagen`, with daylight saving time.")
	zone.Default = `"UTC"`
	return perFile([]schema.Var{
		schema.Value("when.uri", InBoth, schema.Type{Kind: schema.Regex}, &c.URI,
			func(f schema.Field) (*regexp.Regexp, bool) {
				s, ok := f.Text(`for example "/live/"`)
				if !ok {
					return nil, false
				}
				return schema.ReadRegex(f, s, "write for example '/live/'")
			}, nil,
			"Must match a part of the URI, as in `/live/`."),
		schema.Value("when.mime", InBoth, schema.Type{Kind: schema.Regex}, &c.MIME, schema.ReadTypePattern, nil,
			"Must match the whole Content-Type of the last capture. Before the first capture it does not hold."),
		schema.Count("when.port", InBoth, 1, 65535, &c.Port,
			"Port of the URI; 80 or 443 if the URI names none."),
		schema.Value("when.hop", InBoth, schema.ListType("texts"), &c.Hops, schema.ReadHops, nil,
			"How the URI was first found: any of "+schema.HopNames()+"."),
		schema.Value("when.time", InBoth, schema.Type{Kind: schema.Period}, &c.Time, schema.ReadSpan, nil,
			"Part of the day by the clock of `zone`, without its end: `06:00-23:00`, or `22:00-06:00` across midnight."),
		schema.Value("when.weekdays", InBoth, schema.ListType("texts"), &c.Weekdays, schema.ReadWeekdays, nil,
			"Any of mon, tue, wed, thu, fri, sat, sun, or `mon-fri`. A part of the day across midnight belongs to the day on which it begins."),
		zone,
		schema.Value("when.until", InBoth, schema.Type{Kind: schema.Moment}, &c.Until,
			func(f schema.Field) (time.Time, bool) { return schema.ReadMoment(f, c.Zone) }, nil,
			"Date or time at which the refinement expires, as in `2026-12-01` (that day included) or `2026-12-01T18:00:00`, in `zone` if it has no offset."),
	})
}

// when reads the criteria of a [[when]]. Its settings are read when the whole file is known. The zone comes first,
// because other criteria depend on it.
func (r fileReader) when(path schema.Path, m map[string]any) {
	r.draft.when = schema.Criteria{Zone: time.UTC}
	sets := map[string]any{}
	var names []string
	for name, v := range m {
		if t, ok := r.draft.cat.table(name); ok && t.Name != whenTable {
			sets[name] = v
			continue
		}
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return strings.Compare(strings.TrimPrefix(a, "zone"), strings.TrimPrefix(b, "zone"))
	})
	for _, name := range names {
		if k, ok := r.draft.cat.key(whenTable + "." + name); ok {
			r.key(k, path.Child(name), m[name])
		} else {
			r.doc.AddFault(r.doc.AtKey(path.Child(name), r.draft.cat.unknownKey(whenTable, name)))
		}
	}
	f := schema.Field{Doc: r.doc, Name: whenTable, Path: path, Value: m}
	if len(names) == 0 || len(names) == 1 && names[0] == "zone" {
		f.Fault("has no criteria, and would always apply",
			"add a criterion ("+strings.Join(r.draft.cat.names(whenTable), ", ")+"), or move its settings out of it")
	}
	if len(sets) == 0 {
		f.Warn("sets nothing", "add a table, as in [when.politeness] or wait = [{ … }]")
	}
	scope := schema.InWhen
	if r.scope == InMain {
		scope = schema.InMainWhen
	}
	r.draft.whens = append(r.draft.whens, &layer{
		doc: r.doc, path: path, values: sets, criteria: r.draft.when, scope: scope,
	})
}
