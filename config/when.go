package config

import (
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
)

// whenKeys are the criteria of a [[when]].
var whenKeys = []key{
	schema.Other("when.uri", InBoth, schema.Type{Kind: schema.Regex},
		func(f schema.Field, d *draft) {
			if s, ok := f.Text(`for example "/live/"`); ok {
				d.when.URI, _ = schema.ReadRegex(f, s, "write for example '/live/'")
			}
		},
		"Regular expression (RE2) that must match a part of the URI, as in `/live/`."),
	schema.Other("when.mime", InBoth, schema.Type{Kind: schema.Regex},
		func(f schema.Field, d *draft) {
			if re, ok := schema.ReadTypePattern(f); ok {
				d.when.MIME = re
			}
		},
		"Regular expression that must match the whole Content-Type of the last capture, as in [[wait]]. Before the first capture it does not hold."),
	withoutDefault(schema.Count("when.port", InBoth, 1, 65535, func(d *draft) *int { return &d.when.Port },
		"Port of the URI; 80 or 443 if the URI names none.")),
	schema.Other("when.hop", InBoth, schema.ListType("texts"), readHops,
		"How the URI was first found: any of "+schema.HopNames()+"."),
	schema.Other("when.time", InBoth, schema.Type{Kind: schema.Period}, readSpan,
		"Part of the day by the clock of `zone`, without its end: `06:00-23:00`, or `22:00-06:00` across midnight."),
	schema.Other("when.weekdays", InBoth, schema.ListType("texts"), readWeekdays,
		"Any of mon, tue, wed, thu, fri, sat, sun, or `mon-fri`. A part of the day across midnight belongs to the day on which it begins."),
	{
		Key: Key{
			Name: "when.zone", Type: schema.Type{Kind: schema.Text}, Default: `"UTC"`, Scope: InBoth,
			Doc: "Time zone of the criteria, as in `Europe/Copenhagen`, with daylight saving time.",
		},
		Read: readZone,
	},
	schema.Other("when.until", InBoth, schema.Type{Kind: schema.Moment},
		func(f schema.Field, d *draft) {
			if t, ok := schema.ReadMoment(f, d.when.Zone); ok {
				d.when.Until = t
			}
		},
		"Date or time at which the refinement expires, as in `2026-12-01` (that day included) or `2026-12-01T18:00:00`, in `zone` if it has no offset."),
}

// withoutDefault removes the default that a key would show.
func withoutDefault(k key) key {
	k.Show = nil
	return k
}

func readHops(f schema.Field, d *draft) { d.when.Hops = schema.ReadHops(f) }

func readSpan(f schema.Field, d *draft) {
	if span, ok := schema.ReadSpan(f); ok {
		d.when.Time = span
	}
}

func readWeekdays(f schema.Field, d *draft) { d.when.Weekdays = schema.ReadWeekdays(f) }

func readZone(f schema.Field, d *draft) {
	if zone, ok := schema.ReadZone(f); ok {
		d.when.Zone = zone
	}
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
