package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/uri"
)

// Setting is the value of one key for a visit, and its origin.
type Setting struct {
	Key   string `json:"key"`            // "politeness.min_delay"; keys of the stack are `wait["^text/.*$"].min`
	Value string `json:"value"`          // as TOML
	File  string `json:"file,omitempty"` // "" for a default
	Line  int    `json:"line,omitempty"`
}

// Origin returns where the value is set: file:line or "default".
func (s Setting) Origin() string {
	if s.File == "" {
		return "default"
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}

// Refinement is a [[when]], or a host file that expires, and whether it applies to a visit.
type Refinement struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Criteria string `json:"criteria"`
	Holds    bool   `json:"holds"`
}

// Effective returns all settings of a visit in the order of the reference page, each with its origin. The entries of
// the stack are in the order in which they are tried.
func (c *Config) Effective(a About) []Setting { return c.effective(a.URI.Host(), a) }

// EffectiveHost returns all settings of a host as a whole, as [Config.ForHost] does.
func (c *Config) EffectiveHost(h uri.Host, now time.Time) []Setting {
	return c.effective(h, About{Now: now})
}

func (c *Config) effective(h uri.Host, a About) []Setting {
	p := c.profile(h)
	set := p.inForce(a)
	return p.combine(set).list(p.sources(set, c.doc))
}

// UsesProxy reports whether any host may be reached through a proxy, at any time.
func (c *Config) UsesProxy(name string) bool {
	return c.Anywhere(func(s *Settings) bool { return s.Network.Proxy == name }, func(tables map[string]any) bool {
		table, _ := tables["network"].(map[string]any)
		return table["proxy"] == name
	})
}

// Anywhere reports whether something holds for the settings of any file, or for the tables of any refinement.
func (c *Config) Anywhere(settings func(*Settings) bool, tables func(map[string]any) bool) bool {
	holds := func(p *profile) bool {
		layer := func(l *layer) bool { return tables(l.values) }
		return settings(p.base.settings) || slices.ContainsFunc(p.layers, layer)
	}
	return holds(c.main) || slices.ContainsFunc(slices.Collect(maps.Values(c.hosts)), holds)
}

// Origin returns where the value of a key is set for a visit: file:line or "default". The key is written as on the
// reference page, "scope.max_hops". Keys of [[wait]] have no single origin.
func (c *Config) Origin(a About, key string) string {
	p := c.profile(a.URI.Host())
	if at, set := first(p.sources(p.inForce(a), c.doc), key); set {
		return at.Doc.Origin(at.Path)
	}
	return "default"
}

// first returns a key of the first source that sets it.
func first(from []source, name string) (at schema.Field, set bool) {
	for _, src := range from {
		if at, set = src.doc.Setting(src.path, name); set {
			return at, true
		}
	}
	return at, false
}

// Refinements returns all refinements and expiring files that can affect a host, and whether they apply to a visit.
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
		at := l.doc.AtKey(l.path, Fault{})
		all = append(all, Refinement{File: at.File, Line: at.Line, Criteria: what, Holds: l.applies(a)})
	}
	return all
}

// sources returns what a set of layers, and the settings below them, were read from. Special sources come first.
func (p *profile) sources(set uint64, main *schema.Document) []source {
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

// list returns the settings of a draft that was read from these sources.
func (d *draft) list(from []source) []Setting {
	var all []Setting
	stacked, shown := false, d.shown()
	for _, k := range d.cat.keys {
		table, _ := k.Split()
		switch {
		case !k.In(schema.InWhen):
		case table == "wait" && !stacked:
			stacked = true
			for _, e := range d.stack {
				all = append(all, e.list()...)
			}
		case table == "wait" || table == "":
		default:
			all = append(all, k.setting(shown(k), from))
		}
	}
	return all
}

// setting returns the value and the origin of a key. shown is "" for a value that is shown as the file writes it.
func (k key) setting(shown string, from []source) Setting {
	s := Setting{Key: k.Name, Value: k.Default}
	if at, set := first(from, k.Name); set {
		s.File, s.Line, s.Value = at.Doc.File, at.Doc.Line(at.Path), schema.TOML(at.Value)
	}
	s.Value = cmp.Or(shown, s.Value)
	return s
}

// list returns the settings of an entry of the stack.
func (e *entry) list() []Setting {
	var all []Setting
	for _, k := range (&draft{entry: *e}).waitKeys() {
		name := strings.TrimPrefix(k.Name, "wait.")
		if name == "mime" {
			continue
		}
		s := Setting{Key: fmt.Sprintf("wait[%s].%s", strconv.Quote(e.Name), name), Value: k.Show()}
		s.File, s.Line = e.place(name)
		all = append(all, s)
	}
	return all
}

// place returns the file and the line that set a field of the entry; "" if none did.
func (e *entry) place(name string) (file string, line int) {
	for at := e; at != nil && at.doc != nil; at = at.base {
		if path := at.path.Child(name); at.doc.Has(path) {
			return at.doc.File, at.doc.Line(path)
		}
		if at.base == nil && at.ruleOf != nil && (name == "rule" || name == "capture_target" || name == "every") {
			return at.ruleOf.place(name)
		}
	}
	return "", 0
}
