package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/scope"
	"github.com/arcrawl/arcrawl/uri"
)

// Setting is one key as it is in force for a visit, and where that was said.
type Setting struct {
	Key   string `json:"key"`            // "politeness.min_delay"; those of the stack are `wait["^text/.*$"].min`
	Value string `json:"value"`          // as TOML would write it
	File  string `json:"file,omitempty"` // "" is the default
	Line  int    `json:"line,omitempty"`
}

// Origin is where the value comes from, as file:line or "default".
func (s Setting) Origin() string {
	if s.File == "" {
		return "default"
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}

// Refinement is a [[when]], or a host file that ends some day, and whether it holds for a visit.
type Refinement struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Criteria string `json:"criteria"`
	Holds    bool   `json:"holds"`
}

// Effective gives all settings of a visit key by key in the order of the reference page, each with its origin. The stack
// comes in its order, the first entry first.
func (c *Config) Effective(a About) []Setting { return c.effective(a.URI.Host(), a) }

// EffectiveHost does the same for a host as a whole, as [Config.ForHost].
func (c *Config) EffectiveHost(h uri.Host, now time.Time) []Setting {
	return c.effective(h, About{Now: now})
}

func (c *Config) effective(h uri.Host, a About) []Setting {
	p := c.profile(h)
	set := p.inForce(a)
	d := p.combine(set)
	if s := d.settings; s.Scope.By == scope.ByPrefix && len(s.Scope.Prefixes) == 0 {
		filled := *s
		filled.Scope.Prefixes = c.folders[h]
		copied := *d
		copied.settings = &filled
		d = &copied
	}
	return d.list(p.sources(set, c.doc))
}

// Refinements tells which parts of the files could have a say about the visit, and which of them hold.
func (c *Config) Refinements(h uri.Host, a About) []Refinement {
	var all []Refinement
	for _, l := range c.profile(h).layers {
		if l.path == "" && l.ends.IsZero() {
			continue
		}
		what := l.criteria.String()
		if l.path == "" {
			what = "the whole file"
		}
		if !l.ends.IsZero() {
			what += ", file until " + l.ends.Format(time.RFC3339)
		}
		at := l.doc.at(l.doc.place(l.path).key, Fault{})
		all = append(all, Refinement{File: l.doc.file, Line: at.Line, Criteria: what, Holds: l.holds(a)})
	}
	return all
}

// sources are what a set of layers, and what always holds, was read from, special ones first.
func (p *profile) sources(set uint64, main *document) []source {
	var all []source
	for i, l := range slices.Backward(p.layers) {
		if set&(1<<i) != 0 {
			all = append(all, source{l.doc, l.path})
		}
	}
	for _, f := range slices.Backward(p.files) {
		layered := slices.ContainsFunc(p.layers, func(l *layer) bool { return l.path == "" && l.doc == f.doc })
		if !layered {
			all = append(all, source{doc: f.doc})
		}
	}
	return append(all, source{doc: main})
}

// list gives the settings of a draft that was read from these sources.
func (d *draft) list(from []source) []Setting {
	var all []Setting
	stacked := false
	for _, k := range keys {
		table, name, _ := strings.Cut(k.Name, ".")
		switch {
		case !k.standsIn(inWhen):
		case table == "wait" && !stacked:
			stacked = true
			for _, e := range d.stack {
				all = append(all, e.list()...)
			}
		case table == "wait" || name == "":
		default:
			s := Setting{Key: k.Name, Value: k.Default}
			for _, in := range from {
				if path := pathIn(in.path, k.Name); in.doc.has(path) {
					s.File, s.Line = in.doc.file, in.doc.line(path)
					s.Value = rawText(in.doc.value(path))
					break
				}
			}
			if k.reader.text != nil {
				s.Value = k.reader.text(d)
			}
			all = append(all, s)
		}
	}
	return all
}

// list gives the settings of an entry of the stack.
func (e evaluator) list() []Setting {
	var all []Setting
	for _, k := range keys {
		name, ok := strings.CutPrefix(k.Name, "wait.")
		if !ok || name == "mime" || k.reader.text == nil {
			continue
		}
		s := Setting{Key: fmt.Sprintf("wait[%s].%s", strconv.Quote(e.Name), name), Value: k.reader.text(&draft{entry: e})}
		for at := &e; at != nil && at.doc != nil; at = at.base {
			if path := under(at.path, name); at.doc.has(path) {
				s.File, s.Line = at.doc.file, at.doc.line(path)
				break
			}
		}
		all = append(all, s)
	}
	return all
}

// value is what stands at path.
func (d *document) value(path string) any {
	var v any = d.root
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "\x1f"), "\x1f") {
		i, err := strconv.Atoi(strings.TrimPrefix(part, "#"))
		switch list := v.(type) {
		case map[string]any:
			v = list[part]
		case []map[string]any:
			if err != nil || i >= len(list) {
				return nil
			}
			v = list[i]
		case []any:
			if err != nil || i >= len(list) {
				return nil
			}
			v = list[i]
		}
	}
	return v
}

// rawText is a decoded value as TOML would write it on one line.
func rawText(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = rawText(e)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case []map[string]any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = rawText(e)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, name+" = "+rawText(v[name]))
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case time.Time:
		return v.Format(time.RFC3339)
	}
	return show(v)
}
