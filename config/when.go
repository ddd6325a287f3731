package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // the same zones on every machine

	"github.com/arcrawl/arcrawl/uri"
)

// whenTable is the name of the table of refinements.
const whenTable = "when"

const whenDoc = "A refinement: settings for a part of the visits. It holds when all its criteria do, and then stands over everything outside of it; " +
	"of two that hold, the later one wins key by key, those of a host file over those of its parent domain's over those of the main file. " +
	"Beside the criteria it has any of the tables that may stand in a host file, seeds apart: `[when.politeness]`, or `wait = [{ mime = \".*\", min = \"1m\" }]`."

// criteria say when a refinement holds. What is zero asks for nothing.
type criteria struct {
	uri      *regexp.Regexp
	mime     *regexp.Regexp
	port     int
	hops     []uri.Hop // 0 is a seed
	time     span
	weekdays []time.Weekday
	zone     *time.Location
	until    time.Time
}

// span is a part of the day, in time since midnight by the wall clock. With to before from it goes across midnight.
type span struct{ from, to time.Duration }

// holds reports whether all criteria hold.
func (c *criteria) holds(a About) bool {
	return c.holdsFor(a) && c.holdsAt(a.Now)
}

// asksAboutURI reports whether any criterion depends on more than the time.
func (c *criteria) asksAboutURI() bool {
	return c.uri != nil || c.mime != nil || c.port != 0 || len(c.hops) > 0
}

// holdsFor looks at what does not depend on the time. Of what is not known nothing holds.
func (c *criteria) holdsFor(a About) bool {
	if !c.asksAboutURI() {
		return true
	}
	if a.URI.IsZero() || c.uri != nil && !c.uri.MatchString(a.URI.String()) || c.port != 0 && a.URI.Port() != strconv.Itoa(c.port) {
		return false
	}
	var last uri.Hop
	if a.Hops != "" {
		last = uri.Hop(a.Hops[len(a.Hops)-1])
	}
	if len(c.hops) > 0 && !slices.Contains(c.hops, last) {
		return false
	}
	return c.mime == nil || a.ContentType != "" && c.mime.MatchString(a.ContentType)
}

// holdsAt looks at the wall clock of the zone. A span that goes across midnight belongs to the weekday on which it begins.
func (c *criteria) holdsAt(now time.Time) bool {
	if !c.until.IsZero() && !now.Before(c.until) {
		return false
	}
	if c.time == (span{}) && len(c.weekdays) == 0 {
		return true
	}
	local := now.In(c.zone)
	hour, minute, second := local.Clock()
	clock := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
	weekday := local.Weekday()
	switch s := c.time; {
	case s == span{}:
	case s.from < s.to:
		if clock < s.from || clock >= s.to {
			return false
		}
	case clock < s.to:
		weekday = (weekday + 6) % 7
	case clock < s.from:
		return false
	}
	return len(c.weekdays) == 0 || slices.Contains(c.weekdays, weekday)
}

// The criteria as keys.
var (
	whenURI = key{
		Key: Key{Name: "when.uri", Scope: inBoth, Doc: "Regular expression (RE2) that is looked for in the whole URI, as in `/live/`."},
		reader: reader{kind: "regular expression", read: func(f field, d *draft) {
			if s, ok := f.text(`for example "/live/"`); ok {
				d.when.uri, _ = f.expression(s, "write for example '/live/'")
			}
		}},
	}
	whenMIME = key{
		Key: Key{
			Name: "when.mime", Scope: inBoth,
			Doc: "Regular expression that the whole Content-Type of the last capture has to match, as in [[wait]]. Before the first capture it does not hold.",
		},
		reader: reader{kind: "regular expression", read: func(f field, d *draft) {
			if re, ok := f.typePattern(); ok {
				d.when.mime = re
			}
		}},
	}
	whenPort = key{
		Key:    Key{Name: "when.port", Scope: inBoth, Doc: "Port of the URI; 80 and 443 where it names none."},
		reader: whole(1, 65535, func(d *draft) *int { return &d.when.port }),
	}
	whenHop = key{
		Key:    Key{Name: "when.hop", Scope: inBoth, Doc: "How the URI was first found: any of " + hopNames() + "."},
		reader: hops(),
	}
	whenTime = key{
		Key: Key{
			Name: "when.time", Scope: inBoth,
			Doc: "Part of the day by the clock of `zone`, its end not included: `06:00-23:00`, or `22:00-06:00` across midnight.",
		},
		reader: reader{kind: "time of day, as in 06:00-23:00", read: readSpan},
	}
	whenWeekdays = key{
		Key:    Key{Name: "when.weekdays", Scope: inBoth, Doc: "Any of mon, tue, wed, thu, fri, sat, sun, or `mon-fri`. A part of the day that goes across midnight belongs to the day on which it begins."},
		reader: reader{kind: "list of texts", read: readWeekdays},
	}
	whenZone = key{
		Key:    Key{Name: "when.zone", Default: `"UTC"`, Scope: inBoth, Doc: "Time zone of the criteria, as in `Europe/Copenhagen`, summer time included."},
		reader: reader{kind: "text", read: readZone},
	}
	whenUntil = key{
		Key: Key{
			Name: "when.until", Scope: inBoth,
			Doc: "Date or time at which the refinement ends by itself, as in `2026-12-01` (that day included) or `2026-12-01T18:00:00`, in `zone` if it has no offset.",
		},
		reader: reader{kind: "date or time", read: func(f field, d *draft) {
			if t, ok := f.moment(d.when.zone); ok {
				d.when.until = t
			}
		}},
	}
	hostUntil = key{
		Key: Key{
			Name: "until", Scope: inHost,
			Doc: "Date (that day included) or time at which all settings of this file end by themselves, in UTC if it has no offset. Its seeds stay seeds. Stands before the first table.",
		},
		reader: reader{kind: "date or time", read: func(f field, d *draft) {
			if t, ok := f.moment(time.UTC); ok {
				d.until = t
			}
		}},
	}
)

// hopKinds are the kinds of hops in the order in which they are shown.
var hopKinds = []struct {
	name string
	hop  uri.Hop
}{
	{"seed", 0},
	{"link", uri.Link},
	{"embed", uri.Embed},
	{"redirect", uri.Redirect},
	{"prerequisite", uri.Prereq},
	{"speculative", uri.Speculative},
	{"manifest", uri.Manifest},
	{"inferred", uri.Inferred},
}

func hopNames() string {
	names := make([]string, len(hopKinds))
	for i, k := range hopKinds {
		names[i] = k.name
	}
	return strings.Join(names, ", ")
}

// hops reads a list of kinds of hops.
func hops() reader {
	return reader{kind: "list of texts", read: func(f field, d *draft) {
		d.when.hops = nil
		f.texts(`for example ["embed"]`, func(e field, s string) {
			i := slices.IndexFunc(hopKinds, func(k struct {
				name string
				hop  uri.Hop
			},
			) bool {
				return k.name == s
			})
			if i < 0 {
				e.fault("is no kind of hop", "accepted: "+hopNames())
				return
			}
			d.when.hops = append(d.when.hops, hopKinds[i].hop)
		})
	}}
}

// readSpan reads "06:00-23:00".
func readSpan(f field, d *draft) {
	const example = `write for example "06:00-23:00", or "22:00-06:00" across midnight`
	s, ok := f.text(`for example "06:00-23:00"`)
	if !ok {
		return
	}
	from, to, ok := strings.Cut(s, "-")
	begin, good1 := clock(strings.TrimSpace(from))
	end, good2 := clock(strings.TrimSpace(to))
	switch {
	case !ok || !good1 || !good2:
		f.fault("is not a part of the day", example)
	case begin == end, begin == 24*time.Hour:
		f.fault("is empty", example+"; leave the key out for the whole day")
	default:
		d.when.time = span{begin, end}
	}
}

// clock reads "06:00". The end of the day is "24:00".
func clock(s string) (time.Duration, bool) {
	if s == "24:00" {
		return 24 * time.Hour, true
	}
	t, err := time.Parse("15:04", s)
	if err != nil || len(s) != len("15:04") {
		return 0, false
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, true
}

// weekdayNames are in the order of [time.Weekday].
var weekdayNames = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// readWeekdays reads a list of weekdays and ranges of them.
func readWeekdays(f field, d *draft) {
	d.when.weekdays = nil
	f.texts(`for example ["mon", "tue"] or ["mon-fri"]`, func(e field, s string) {
		from, to, isRange := strings.Cut(s, "-")
		if !isRange {
			to = from
		}
		first, last := slices.Index(weekdayNames, from), slices.Index(weekdayNames, to)
		if first < 0 || last < 0 {
			e.fault("is not a weekday", "accepted: mon, tue, wed, thu, fri, sat, sun, or a range as in mon-fri")
			return
		}
		for day := first; ; day = (day + 1) % 7 {
			d.when.weekdays = append(d.when.weekdays, time.Weekday(day))
			if day == last {
				return
			}
		}
	})
	if list, ok := f.value.([]any); ok && len(list) == 0 {
		f.fault("is empty", "leave the key out for every day")
	}
}

func readZone(f field, d *draft) {
	const example = `write for example "Europe/Copenhagen" or "UTC"`
	s, ok := f.text(`for example "Europe/Copenhagen"`)
	if !ok {
		return
	}
	zone, err := time.LoadLocation(s)
	if err != nil || s == "" || s == "Local" {
		f.fault("is not a time zone", example)
		return
	}
	d.when.zone = zone
}

// moment is the value as the end of something: that of a date is the end of its day.
func (f field) moment(zone *time.Location) (time.Time, bool) {
	const example = "write a date without quotes, as in 2026-12-01, or a time, as in 2026-12-01T18:00:00"
	t, ok := f.value.(time.Time)
	if !ok {
		f.wrongType("a date or time", example)
		return time.Time{}, false
	}
	if zone == nil {
		zone = time.UTC
	}
	year, month, date := t.Date()
	hour, minute, second := t.Clock()
	switch t.Location().String() { // how the decoder marks what has no offset
	case "date-local":
		return time.Date(year, month, date+1, 0, 0, 0, 0, zone), true
	case "datetime-local":
		return time.Date(year, month, date, hour, minute, second, t.Nanosecond(), zone), true
	case "time-local":
		f.fault("is a time without a date", example)
		return time.Time{}, false
	}
	return t, true
}

// readWhen reads the criteria of a [[when]]; what it sets is read when all of its file is known. The zone comes first, for
// the other criteria go by it.
func (doc *document) readWhen(path string, m map[string]any, d *draft, where string) {
	d.when = criteria{zone: time.UTC}
	sets := map[string]any{}
	names := make([]string, 0, len(m))
	for name, v := range m {
		if t, ok := findTable(name); ok && t.name != whenTable {
			sets[name] = v
			continue
		}
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return strings.Compare(strings.TrimPrefix(a, "zone"), strings.TrimPrefix(b, "zone"))
	})
	for _, name := range names {
		if k, ok := findKey(whenTable + "." + name); ok {
			doc.readKey(k, under(path, name), m[name], d, where)
		} else {
			doc.fault(doc.at(doc.place(under(path, name)).key, unknownKey(whenTable, name)))
		}
	}
	l := &layer{doc: doc, path: path, values: sets, criteria: d.when}
	if len(names) == 0 || len(names) == 1 && names[0] == "zone" {
		at := field{doc: doc, name: whenTable, path: path, value: m}
		at.fault("has no criteria, and would always hold", "give it some ("+strings.Join(l.table().keys(), ", ")+"), or move its settings out of it")
	}
	if len(sets) == 0 {
		at := field{doc: doc, name: whenTable, path: path, value: m}
		at.warn("sets nothing", "give it a table, as in [when.politeness] or wait = [{ … }]")
	}
	d.whens = append(d.whens, l)
}

// table is the table of refinements.
func (l *layer) table() table {
	t, _ := findTable(whenTable)
	return t
}

// String tells the criteria in the words of the file.
func (c *criteria) String() string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if c.uri != nil {
		add("uri = %s", strconv.Quote(c.uri.String()))
	}
	if c.mime != nil {
		add("mime = %s", c.mime)
	}
	if c.port != 0 {
		add("port = %d", c.port)
	}
	if len(c.hops) > 0 {
		var names []string
		for _, k := range hopKinds {
			if slices.Contains(c.hops, k.hop) {
				names = append(names, k.name)
			}
		}
		add("hop = %s", strings.Join(names, ", "))
	}
	if c.time != (span{}) {
		add("time = %s-%s", spellClock(c.time.from), spellClock(c.time.to))
	}
	if len(c.weekdays) > 0 {
		var names []string
		for _, d := range c.weekdays {
			names = append(names, weekdayNames[d])
		}
		add("weekdays = %s", strings.Join(names, ", "))
	}
	if c.zone != nil && c.zone != time.UTC && (c.time != (span{}) || len(c.weekdays) > 0) {
		add("zone = %s", c.zone)
	}
	if !c.until.IsZero() {
		add("until %s", c.until.Format(time.RFC3339))
	}
	return strings.Join(parts, ", ")
}

func spellClock(d time.Duration) string {
	return fmt.Sprintf("%02d:%02d", int(d.Hours()), int(d.Minutes())%60)
}

// check finds criteria that can never hold together with where they stand.
func (l *layer) check() {
	const name = "politeness.valence"
	if path := pathIn(l.path, name); l.criteria.asksAboutURI() && l.doc.has(path) {
		at := field{doc: l.doc, name: name, path: path, value: []any{}}
		at.fault("is of the host as a whole, and this refinement asks about single URIs", "let it ask about nothing but the time, or move the key out of it")
	}
}
