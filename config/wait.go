package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/human"
)

// entry is one [[wait]], and the origin of its fields.
type entry struct {
	Name string
	MIME *regexp.Regexp
	evaluators.Options
	doc  *schema.Document // nil for an entry that is built in
	path schema.Path
	base *entry // holds the fields that this entry does not set; nil = the defaults

	ruleOf *entry // has the rule of this entry if neither it nor base sets one; nil = the default rule
}

// wait reads one [[wait]]. The pattern comes first, because it decides which entry the other fields are inherited from.
func (r fileReader) wait(path schema.Path, m map[string]any) {
	d := r.draft
	d.entry = d.plain
	mime, named := m["mime"]
	if k, ok := d.cat.key("wait.mime"); ok && named {
		r.key(k, path.Child("mime"), mime)
	}
	if !named {
		r.doc.AddFault(r.doc.AtKey(path, Fault{
			Key: "wait.mime", Problem: "is missing", Remedy: `write for example mime = "^text/html.*"`,
		}))
	}
	d.entry.base = d.entry.shadows(d.shadowed)
	if base := d.entry.base; base != nil {
		d.entry.Options = base.Options
	} else if from := d.entry.covered(d.shadowed); from != nil {
		d.entry.keepRule(from)
	}
	d.entry.Name, _ = mime.(string)
	d.entry.doc, d.entry.path = r.doc, path
	rest := make(map[string]any, len(m))
	for name, v := range m {
		if name != "mime" {
			rest[name] = v
		}
	}
	r.keys("wait", path, rest)
	d.entry.useRuleBounds()
	if d.entry.MIME != nil {
		d.entry.warnPattern()
		d.entry.warnBehind(d.entries)
		d.entries = append(d.entries, d.entry)
	}
	d.entry.warnUnused()
	if d.entry.MIME != nil && r.scope == InMain && !r.doc.Has(path.Child("rule")) {
		r.doc.AddWarning(r.doc.AtKey(path, Fault{
			Key: "wait.rule", Problem: "is not set, so the rule " + strconv.Quote(d.entry.Rule) + " decides",
			Remedy: `write rule = "learned", or rule = "classic" to divide and multiply the wait`,
		}))
	}
}

// warnUnused warns of keys that the entry sets although its rule does not use them.
func (e *entry) warnUnused() {
	for _, some := range []struct {
		key   string
		rules []string // that use it; all rules use the keys that are not here
	}{
		{"every", []string{"fixed"}},
		{"capture_target", []string{"learned", "target"}},
		{"prefer", []string{"learned"}},
		{"changed_factor", []string{"classic", "target"}},
		{"unchanged_factor", []string{"classic"}},
		{"use_overdue", []string{"classic", "target"}},
		{"unknown", []string{"classic", "target"}},
	} {
		path := e.path.Child(some.key)
		if e.doc.Has(path) && !e.doc.IsBad(path) && !slices.Contains(some.rules, e.Rule) {
			f := schema.Field{Doc: e.doc, Name: "wait." + some.key, Path: path, Value: e.doc.Value(path)}
			f.Warn("has no effect with the rule "+strconv.Quote(e.Rule),
				"write rule = "+strconv.Quote(some.rules[0])+" too, or remove it")
		}
	}
}

// builtIn returns the entries of [evaluators.Default], with the options of plain for everything they do not set. They
// are in force if the main file has no entry.
func builtIn(plain entry) []entry {
	var list []entry
	for _, e := range evaluators.Default() {
		own := plain
		own.Name, own.MIME = e.Name, e.MIME
		own.useRuleBounds()
		list = append(list, own)
	}
	return list
}

// stack returns the evaluators that the entries describe.
func stack(entries []entry) evaluators.Stack {
	s := make(evaluators.Stack, len(entries))
	for i, e := range entries {
		rule, err := e.New()
		if err != nil { // wait.rule accepts only names of rules
			panic("arcrawl/config: " + err.Error())
		}
		s[i] = evaluators.WaitEvaluator{Name: e.Name, MIME: e.MIME, Rule: rule}
	}
	return s
}

// shadows returns the first of entries with the same pattern, nil if there is none.
func (e *entry) shadows(entries []entry) *entry {
	for i := range entries {
		if e.MIME != nil && entries[i].MIME.String() == e.MIME.String() {
			return &entries[i]
		}
	}
	return nil
}

// covered returns the entry that decides so far about the types of e; nil if there is none.
func (e *entry) covered(entries []entry) *entry {
	patterns := make([]*regexp.Regexp, len(entries))
	for i := range entries {
		patterns[i] = entries[i].MIME
	}
	if i := covering(e.MIME, patterns); i >= 0 {
		return &entries[i]
	}
	return nil
}

// keepRule makes the rule of another entry, with its capture target, the default of e.
func (e *entry) keepRule(from *entry) {
	e.Rule, e.CaptureTarget, e.Prefer, e.Every, e.ruleOf = from.Rule, from.CaptureTarget, from.Prefer, from.Every, from
}

// useRuleBounds sets the default bounds of the entry's rule where no file sets wait.min or wait.max. The learned rule
// estimates its first wait unless a file sets one.
func (e *entry) useRuleBounds() {
	shortest, longest := evaluators.DefaultBounds(e.Rule)
	if e.origin("min") == byDefault {
		e.Min = shortest
	}
	if e.origin("max") == byDefault {
		e.Max = longest
	}
	if e.Rule == "learned" && e.origin("initial") == byDefault {
		e.Initial = 0
	}
}

// warnPattern warns of a pattern that does not match types with parameters.
func (e *entry) warnPattern() {
	if problem, remedy := types(e.MIME); problem != "" {
		e.field("mime", e.Name).Warn(problem, remedy)
	}
}

// warnBehind warns of an entry that never decides, because one before it in the same place matches every type.
func (e *entry) warnBehind(before []entry) {
	for _, b := range before {
		if b.MIME.String() == e.MIME.String() || matchesAll(b.MIME) {
			e.field("mime", e.Name).Warn(
				fmt.Sprintf("never decides: %q %s matches all of its types", b.Name, b.origin("mime")),
				"put it before that entry, or remove it")
			return
		}
	}
}

// matchesAll reports whether a pattern matches every content type, an unknown one and none too.
func matchesAll(pattern *regexp.Regexp) bool {
	for _, mime := range slices.Concat(textTypes, otherTypes, []string{"", "x/y", "a/b+c; d=e"}) {
		if !pattern.MatchString(mime) || mime != "" && !pattern.MatchString(mime+"; charset=utf-8") {
			return false
		}
	}
	return true
}

// field returns a field of the entry for a fault or warning.
func (e *entry) field(name, value string) schema.Field {
	return schema.Field{Doc: e.doc, Name: "wait." + name, Path: e.path.Child(name), Value: value}
}

// byDefault is the origin of a value that no file sets.
const byDefault = "by default"

// origin returns where the value of a field is set: "in file:line" or "by default".
func (e *entry) origin(name string) string {
	if file, line := e.place(name); file != "" {
		return fmt.Sprintf("in %s:%d", file, line)
	}
	return byDefault
}

// check reports bounds that contradict each other, and warns of waits that are out of bounds.
func (e *entry) check() {
	low, high := e.bounds()
	if !checkBounds(e.doc, low, high) {
		return
	}
	for name, v := range map[string]time.Duration{"initial": e.Initial, "unknown": e.Unknown} {
		path := e.path.Child(name)
		if !e.doc.Has(path) || e.doc.IsBad(path) {
			continue
		}
		f := e.field(name, human.Duration(v))
		if v < e.Min {
			f.Warn("is less than wait.min, "+low.String()+"; wait.min applies", "lower wait.min, or raise this value")
		}
		if v > e.Max {
			f.Warn("is more than wait.max, "+high.String()+"; wait.max applies", "raise wait.max, or lower this value")
		}
	}
}

// bounds returns the minimum and the maximum wait.
func (e *entry) bounds() (low, high bound) {
	return bound{"wait.min", e.path.Child("min"), e.Min, e.origin("min")},
		bound{"wait.max", e.path.Child("max"), e.Max, e.origin("max")}
}

// bound is the minimum or maximum of a range: its key, its path in the file that is checked, and its origin.
type bound struct {
	name   string
	path   schema.Path
	value  time.Duration
	origin string
}

// String returns the value and its origin.
func (b bound) String() string { return strconv.Quote(human.Duration(b.value)) + " " + b.origin }

// checkBounds reports whether low is at most high. It also returns true if the file sets neither of them.
func checkBounds(doc *schema.Document, low, high bound) bool {
	if low.value <= high.value || doc.IsBad(low.path) || doc.IsBad(high.path) {
		return true
	}
	if doc.Has(high.path) {
		f := schema.Field{Doc: doc, Name: high.name, Path: high.path, Value: human.Duration(high.value)}
		f.Fault(fmt.Sprintf("is less than %s, %s", low.name, low), "raise it, or set a lower "+low.name)
		return false
	}
	if doc.Has(low.path) {
		f := schema.Field{Doc: doc, Name: low.name, Path: low.path, Value: human.Duration(low.value)}
		f.Fault(fmt.Sprintf("is more than %s, %s", high.name, high), "lower it, or set a higher "+high.name)
		return false
	}
	return true
}

// textTypes are types that usually have a charset.
var textTypes = []string{
	"text/html", "text/css", "text/plain", "text/xml", "text/javascript", "application/xhtml+xml",
	"application/xml", "application/rss+xml", "application/atom+xml", "application/json", "application/javascript",
}

// otherTypes are types without parameters.
var otherTypes = []string{
	"image/jpeg", "image/png", "image/gif", "image/webp", "image/svg+xml", "application/pdf", "video/mp4", "audio/mpeg",
	"font/woff2", "application/octet-stream", "application/zip",
}

// types warns of a pattern of content types that does not match types with parameters.
func types(pattern *regexp.Regexp) (problem, remedy string) {
	for _, mime := range textTypes {
		if long := mime + "; charset=utf-8"; pattern.MatchString(mime) && !pattern.MatchString(long) {
			return fmt.Sprintf("matches %q but not %q; it must match the whole value", mime, long), `end it with ".*"`
		}
	}
	return "", ""
}

// covering returns the index of the first of patterns that matches a common type that pattern matches too; -1 if none
// does. If pattern matches no common type, it is the first that matches all of them.
func covering(pattern *regexp.Regexp, patterns []*regexp.Regexp) int {
	if pattern == nil {
		return -1
	}
	matched := false
	for _, mime := range append(textTypes[:len(textTypes):len(textTypes)], otherTypes...) {
		if !pattern.MatchString(mime) && !pattern.MatchString(mime+"; charset=utf-8") {
			continue
		}
		matched = true
		for i, p := range patterns {
			if p.MatchString(mime) || p.MatchString(mime+"; charset=utf-8") {
				return i
			}
		}
	}
	for i, p := range patterns {
		if !matched && p.MatchString("text/html") && p.MatchString("image/png") && p.MatchString("x/y; a=b") {
			return i
		}
	}
	return -1
}
