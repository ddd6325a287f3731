package config

import (
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
)

// evaluator is an entry of the stack and where its fields come from.
type evaluator struct {
	Name string
	MIME *regexp.Regexp
	evaluators.Options
	doc  *document // nil: built in
	path string
	base *evaluator // has the fields that this one does not set; nil: the defaults
}

// readEntry reads one [[wait]]. The pattern comes first, for it decides where unset fields are taken from.
func (doc *document) readEntry(path string, m map[string]any, d *draft, where string) {
	d.entry = d.plain
	mime, named := m["mime"]
	if k, ok := findKey("wait.mime"); ok && named {
		doc.readKey(k, under(path, "mime"), mime, d, where)
	}
	if !named {
		doc.fault(doc.at(doc.place(path).key, Fault{Key: "wait.mime", Problem: "is missing", Remedy: `write for example mime = "^text/html.*"`}))
	}
	d.entry.base = shadowedBy(d.entry, d.shadowed)
	if base := d.entry.base; base != nil {
		d.entry.Options = base.Options
	}
	d.entry.doc, d.entry.path = doc, path
	rest := make(map[string]any, len(m))
	for name, v := range m {
		if name != "mime" {
			rest[name] = v
		}
	}
	doc.readKeys("wait", path, rest, d, where)
	d.entry.takeRuleBounds()
	if d.entry.MIME != nil {
		d.entries = append(d.entries, d.entry)
		doc.warnPattern(d.entry)
	}
}

// builtIn lists the entries of [evaluators.Default], with the options of plain for what they leave to the defaults.
func builtIn(plain evaluator) []evaluator {
	var list []evaluator
	for _, e := range evaluators.Default() {
		options := plain.Options
		if classic, ok := e.Rule.(evaluators.Classic); ok {
			options.Initial = classic.Initial
		}
		list = append(list, evaluator{Name: e.Name, MIME: e.MIME, Options: options})
	}
	return list
}

// stack makes the evaluators that the entries describe.
func stack(entries []evaluator) evaluators.Stack {
	s := make(evaluators.Stack, len(entries))
	for i, e := range entries {
		rule, err := e.New()
		if err != nil { // the key's reader takes no other name
			panic("arcrawl/config: " + err.Error())
		}
		s[i] = evaluators.WaitEvaluator{Name: e.Name, MIME: e.MIME, Rule: rule}
	}
	return s
}

// shadowedBy is the first entry with the same pattern, nil if there is none.
func shadowedBy(e evaluator, entries []evaluator) *evaluator {
	for i := range entries {
		if e.MIME != nil && entries[i].MIME.String() == e.MIME.String() {
			return &entries[i]
		}
	}
	return nil
}

// warnPattern warns of the pattern that forgets that types have parameters.
func (doc *document) warnPattern(e evaluator) {
	for _, mime := range []string{
		"text/html", "text/css", "text/plain", "text/xml", "text/javascript", "application/xhtml+xml",
		"application/xml", "application/rss+xml", "application/atom+xml", "application/json", "application/javascript",
	} {
		if long := mime + "; charset=utf-8"; e.MIME.MatchString(mime) && !e.MIME.MatchString(long) {
			at := field{doc: doc, name: "wait.mime", path: under(e.path, "mime"), value: e.Name}
			at.warn(fmt.Sprintf("matches %q but not %q, and has to match the whole value", mime, long), `end it with ".*"`)
			return
		}
	}
}

// origin says where the value of a field comes from, for a fault in another file or line.
func (e *evaluator) origin(name string) string {
	for ; e != nil && e.doc != nil; e = e.base {
		if path := under(e.path, name); e.doc.has(path) {
			return fmt.Sprintf("in %s:%d", e.doc.file, e.doc.line(path))
		}
	}
	return byDefault
}

// byDefault is the origin of a value that no file sets.
const byDefault = "by default"

// check finds bounds that cannot both hold, and warns of waits that the bounds will not let be.
func (e *evaluator) check() {
	low, high := e.bounds()
	if !e.doc.checkBounds(low, high) {
		return
	}
	for _, w := range []struct {
		name  string
		value time.Duration
	}{{"initial", e.Initial}, {"unknown", e.Unknown}} {
		path := under(e.path, w.name)
		if !e.doc.has(path) || e.doc.bad[path] {
			continue
		}
		at := field{doc: e.doc, name: "wait." + w.name, path: path, value: spell(w.value)}
		if w.value < e.Min {
			at.warn("is less than wait.min, "+strconv.Quote(spell(e.Min))+" "+low.origin+", and will be that", "lower wait.min or raise it")
		}
		if w.value > e.Max {
			at.warn("is more than wait.max, "+strconv.Quote(spell(e.Max))+" "+high.origin+", and will be that", "raise wait.max or lower it")
		}
	}
}

// bounds are the shortest and the longest wait.
func (e *evaluator) bounds() (low, high bound) {
	return bound{"wait.min", under(e.path, "min"), e.Min, e.origin("min")}, bound{"wait.max", under(e.path, "max"), e.Max, e.origin("max")}
}

// bound is one end of a range: its key, its path in the file that is checked, and where its value comes from.
type bound struct {
	name, path string
	value      time.Duration
	origin     string
}

// checkBounds reports whether low is not above high, or the file has no part in it.
func (doc *document) checkBounds(low, high bound) bool {
	if low.value <= high.value || doc.bad[low.path] || doc.bad[high.path] {
		return true
	}
	if doc.has(high.path) {
		at := field{doc: doc, name: high.name, path: high.path, value: spell(high.value)}
		at.fault(fmt.Sprintf("is less than %s, %q %s", low.name, spell(low.value), low.origin), "raise it, or set a lower "+low.name)
		return false
	}
	if doc.has(low.path) {
		at := field{doc: doc, name: low.name, path: low.path, value: spell(low.value)}
		at.fault(fmt.Sprintf("is more than %s, %q %s", high.name, spell(high.value), high.origin), "lower it, or set a higher "+high.name)
		return false
	}
	return true
}
