package config

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/uri"
)

// draft holds what the keys of one file set.
type draft struct {
	cat       *catalog
	copied    uint64  // the sections of the settings that are the draft's own, one bit for each
	config    *Config // of a host file, it is one that nobody reads
	folder    string  // of the main file; "" for a host file, which may not name files
	settings  *Settings
	host      uri.Host        // the key host
	until     time.Time       // end of the whole host file; zero = none
	site      Site            // the keys about the host, but its owner
	owner     string          // the key owner
	seedSites []seedSite      // the key seeds.about
	seeds     []seed          // the key seeds.uris
	when      schema.Criteria // of the [[when]] being read
	whens     []*layer        // the [[when]] of the file
	entry     entry           // the [[wait]] being read
	entries   []entry         // the [[wait]] of the file
	shadowed  []entry         // entries that the file's own can shadow
	stack     []entry         // entries of this file and of the files below it
	plain     entry           // the default of each key of a [[wait]]

	subscription  Subscription // the [[subscription]] being read
	subscriptions []writtenSubscription
}

// seed is a seed and its position.
type seed struct {
	uri uri.URI
	at  schema.Field
}

// newDraft returns the draft of a main file that sets nothing. It sets c to the defaults.
func (cat *catalog) newDraft(c *Config) *draft {
	path := c.Path
	*c = defaultConfig()
	c.Path, c.cat = path, cat
	settings := cat.defaultSettings()
	plain := entry{Options: evaluators.DefaultOptions()}
	return &draft{
		cat: cat, config: c, folder: filepath.Dir(path), settings: &settings, plain: plain, entry: plain,
		subscription: newSubscription(),
	}
}

// over returns a draft that starts with the settings of d.
func (d *draft) over() *draft {
	settings := *d.settings
	return &draft{
		cat: d.cat, config: &d.cat.unread, settings: &settings, plain: d.plain, shadowed: d.stack, stack: d.stack,
	}
}

// own returns the value of the i-th section. The first time it makes a copy: d shares the value with the draft that it
// starts with.
func (d *draft) own(i int) any {
	if d.copied&(1<<i) == 0 {
		d.settings.Own = slices.Clone(d.settings.Own)
		d.settings.Own[i] = d.cat.sections[i].Clone(d.settings.Own[i])
		d.copied |= 1 << i
	}
	return d.settings.Own[i]
}

// vars returns the keys of a group with the variables of the draft.
func (d *draft) vars(group int) []schema.Var {
	if section := group - len(groups); section >= 0 {
		return d.cat.sections[section].Keys(d.settings.Own[section]).Vars
	}
	return groups[group](d)
}

// owned yields the keys of the sections that are the draft's own. Those that it shares were checked before, and stay.
func (d *draft) owned(yield func(schema.Owned) bool) {
	for i, s := range d.cat.sections {
		if d.copied&(1<<i) != 0 && !yield(s.Keys(d.settings.Own[i])) {
			return
		}
	}
}

// shown returns the values of keys as TOML. It is "" for values that are shown as the file writes them.
func (d *draft) shown() func(k key) string {
	known := map[int][]schema.Var{}
	return func(k key) string {
		if known[k.group] == nil {
			known[k.group] = d.vars(k.group)
		}
		if show := known[k.group][k.number].Show; show != nil {
			return show()
		}
		return ""
	}
}

// finish builds the stack and checks the sections after all keys of a file, or of the [[when]] at path, are read.
func (d *draft) finish(doc *schema.Document, path schema.Path) {
	d.stack = append(slices.Clone(d.entries), d.stack...)
	d.settings.Wait = stack(d.stack)
	d.settings.Network.Check(doc, path)
	d.settings.Way = d.settings.Network.Way(d.settings.Way)
	d.checkTLS(doc, path)
	for own := range d.owned {
		if own.Check != nil {
			own.Check(doc, path)
		}
	}
	d.warnRendered(doc, path)
}

// warnRendered warns of texts that cannot decide and of steps that are not done, because no page is rendered.
func (d *draft) warnRendered(doc *schema.Document, path schema.Path) {
	of := Own[noise.Options](d.settings).Of
	if f, set := doc.Setting(path, "change.of"); set && of == noise.OfRendered && !d.settings.Render.On {
		f.Warn("has no effect, because no page is rendered", "set render.pages too")
	}
	if f, set := doc.Setting(path, "render.do"); set && len(d.settings.Render.Do) > 0 && !d.settings.Render.On {
		f.Warn("has no effect, because no page is rendered", "set render.pages too")
	}
}

// fileReader reads the values of one document into a draft.
type fileReader struct {
	doc   *schema.Document
	draft *draft
	scope string               // InMain, InHost, [schema.InWhen] or [schema.InMainWhen]
	vars  map[int][]schema.Var // of the draft, by group
}

func newReader(doc *schema.Document, d *draft, scope string) fileReader {
	return fileReader{doc, d, scope, map[int][]schema.Var{}}
}

// file reads the whole file.
func (r fileReader) file() {
	for _, name := range slices.Sorted(maps.Keys(r.doc.Root)) {
		v := r.doc.Root[name]
		path := schema.Path("").Child(name)
		if t, ok := r.draft.cat.table(name); ok {
			r.table(t, "", v)
		} else if k, ok := r.draft.cat.key(name); ok {
			r.key(k, path, v)
		} else {
			r.doc.AddFault(r.doc.AtKey(path, r.draft.cat.unknownTable(name, v, r.scope)))
		}
	}
}

// table reads a table at the top of the file, or in the [[when]] at parent.
func (r fileReader) table(t Table, parent schema.Path, v any) {
	path := parent.Child(t.Name)
	if !r.draft.cat.in(t, r.scope) {
		r.doc.AddFault(r.doc.AtKey(path, r.draft.cat.misplaced(t.Name, t.Name, r.scope)))
		return
	}
	f := schema.Field{Doc: r.doc, Name: t.Name, Path: path, Value: v}
	if !t.List {
		if m, ok := v.(map[string]any); ok {
			r.keys(t.Name, path, m)
		} else {
			f.WrongType("a table", "write ["+t.Name+"] and its keys below")
		}
		return
	}
	tables, ok := f.Tables("write [[" + t.Name + "]]")
	if !ok {
		return
	}
	for _, e := range tables {
		switch m := e.Value.(map[string]any); t.Name {
		case whenTable:
			r.when(e.Path, m)
		case subscriptionTable:
			r.readSubscription(e.Path, m)
		default:
			r.wait(e.Path, m)
		}
	}
}

// keys reads the keys of a table.
func (r fileReader) keys(table string, path schema.Path, m map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if k, ok := r.draft.cat.key(table + "." + name); ok {
			r.key(k, path.Child(name), m[name])
		} else {
			r.doc.AddFault(r.doc.AtKey(path.Child(name), r.draft.cat.unknownKey(table, name)))
		}
	}
}

// key reads the value of a key.
func (r fileReader) key(k key, path schema.Path, v any) {
	if !k.In(r.scope) {
		f := r.draft.cat.misplaced(k.Name, "", r.scope)
		if k.Scope == InHost {
			f.Problem, f.Remedy = "is allowed only in a host file", "remove it"
			if strings.Contains(k.Name, ".") {
				f.Problem, f.Remedy = f.Problem+", because it would apply to all hosts here", "move it to the file of its host"
			}
		}
		r.doc.AddFault(r.doc.AtKey(path, f))
		return
	}
	if r.vars[k.group] == nil {
		if section := k.group - len(groups); section >= 0 {
			r.draft.own(section)
		}
		r.vars[k.group] = r.draft.vars(k.group)
	}
	r.vars[k.group][k.number].Read(schema.Field{Doc: r.doc, Name: k.Name, Path: path, Value: v})
}
