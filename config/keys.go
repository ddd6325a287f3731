package config

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/arcrawl/arcrawl/aspects/articles"
	"github.com/arcrawl/arcrawl/aspects/feeds"
	"github.com/arcrawl/arcrawl/aspects/login"
	"github.com/arcrawl/arcrawl/aspects/misfortune"
	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/aspects/robots"
	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/config/schema"
)

// Key and Table are short names for the types of package schema.
type (
	Key   = schema.Key
	Table = schema.Table
)

// The files that may set a key.
const (
	InMain = schema.InMain
	InHost = schema.InHost
	InBoth = schema.InBoth
)

// whenTable is the name of the table of refinements.
const whenTable = "when"

// groups return the keys of this package with the variables of a draft.
var groups = []func(*draft) []schema.Var{
	(*draft).fileKeys, (*draft).aboutKeys, (*draft).operatorKeys, (*draft).uploadKeys, (*draft).fixityKeys,
	(*draft).crawlKeys,
	(*draft).adminKeys, (*draft).reachKeys, (*draft).subscriptionKeys,
	(*draft).politenessKeys, (*draft).waitKeys, (*draft).midfetchKeys,
	(*draft).fetchKeys, (*draft).dedupKeys, (*draft).networkKeys, (*draft).scopeKeys,
	(*draft).renderKeys, (*draft).seedKeys, (*draft).whenKeys,
}

// key is a key in a catalog.
type key struct {
	Key
	group  int // of [groups], or a section if it is more
	number int // in its group
}

// catalog holds all keys and tables of a configuration, of this package and of the owners of sections.
type catalog struct {
	keys     []key
	tables   []Table
	sections []schema.Section
	places   map[string]int // in keys
	unread   Config         // of the drafts of host files: keys of the main file cannot reach the real one
}

// newCatalog returns the keys of this package and of sections.
func newCatalog(sections []schema.Section) *catalog {
	c := &catalog{tables: slices.Clone(tables), sections: sections, places: map[string]int{}}
	d := c.newDraft(new(Config))
	for _, s := range sections {
		for _, t := range s.Keys(s.Make()).Tables {
			at := slices.IndexFunc(c.tables, func(before Table) bool { return before.Name == t.After })
			c.tables = slices.Insert(c.tables, at+1, t)
		}
	}
	for group := range len(groups) + len(sections) {
		for i, v := range d.vars(group) {
			if table, _ := v.Split(); v.Show != nil && !v.Required && table != whenTable {
				v.Default = v.Show()
			}
			c.add(key{v.Key, group, i})
		}
	}
	for i, k := range c.keys {
		c.places[k.Name] = i
	}
	for i, t := range c.tables {
		c.tables[i].Refines, c.tables[i].Refinable = t.Name == whenTable, c.in(t, schema.InWhen)
	}
	return c
}

// moments returns the keys whose values are moments.
func (c *catalog) moments() []key {
	return slices.DeleteFunc(slices.Clone(c.keys), func(k key) bool { return k.Type.Kind != schema.Moment })
}

// perFile marks keys that no [[when]] can set.
func perFile(keys []schema.Var) []schema.Var {
	for i := range keys {
		keys[i].PerFile = true
	}
	return keys
}

// add adds a key. The key of a section comes after the last key of its table, or else of the table before.
func (c *catalog) add(k key) {
	at := len(c.keys)
	if k.group >= len(groups) {
		table, _ := k.Split()
		t, _ := c.table(table)
		for i, other := range c.keys {
			if name, _ := other.Split(); name == t.Name || name == t.After {
				at = i + 1
			}
		}
	}
	c.keys = slices.Insert(c.keys, at, k)
}

// coreCatalog has the keys of this package and of the aspects. Not each command needs it, and it takes milliseconds.
var coreCatalog = sync.OnceValue(func() *catalog { return newCatalog(aspectSections()) })

// Keys returns all keys, table by table. [Load] reads files with the same table.
func Keys() []Key {
	keys := coreCatalog().keys
	out := make([]Key, len(keys))
	for i, k := range keys {
		out[i] = k.Key
	}
	return out
}

// Tables returns all tables in the order of the reference page.
func Tables() []Table { return slices.Clone(coreCatalog().tables) }

func (c *catalog) table(name string) (Table, bool) {
	i := slices.IndexFunc(c.tables, func(t Table) bool { return t.Name == name })
	if i < 0 {
		return Table{}, false
	}
	return c.tables[i], true
}

func (c *catalog) key(name string) (key, bool) {
	i, ok := c.places[name]
	if !ok {
		return key{}, false
	}
	return c.keys[i], true
}

// names returns the names of a table's keys, without the name of the table.
func (c *catalog) names(table string) []string {
	var names []string
	for _, k := range c.keys {
		if of, name := k.Split(); of == table {
			names = append(names, name)
		}
	}
	return names
}

// in reports whether any of the table's keys may be set in a scope.
func (c *catalog) in(t Table, scope string) bool {
	return slices.ContainsFunc(c.keys, func(k key) bool {
		table, _ := k.Split()
		return table == t.Name && k.In(scope)
	})
}

// brackets returns the table's header: "[fetch]" or "[[wait]]".
func brackets(t Table) string {
	if t.List {
		return "[[" + t.Name + "]]"
	}
	return "[" + t.Name + "]"
}

// misplaced returns the fault of a key or table in a scope where it may not be set.
func (c *catalog) misplaced(name, table, scope string) schema.Fault {
	f := schema.Fault{Key: name, Problem: "is allowed only in the main file", Remedy: "move it there"}
	if scope == schema.InMain {
		f.Problem, f.Remedy = "is allowed only in a host file", "move it to the file of its host, hosts.d/HOST.toml"
	}
	if table == "" {
		table, _, _ = strings.Cut(name, ".")
	}
	t, ok := c.table(table)
	if (scope == schema.InWhen || scope == schema.InMainWhen) && ok && c.in(t, InHost) {
		f.Problem, f.Remedy = "is not allowed in a [[when]]", "move it out of the [[when]]"
	}
	return f
}

// unknownKey returns the fault of a key that its table does not have, with a suggestion.
func (c *catalog) unknownKey(table, name string) schema.Fault {
	f := schema.Fault{Key: schema.Clip(table + "." + name), Problem: "unknown key"}
	words := c.names(table)
	for _, other := range c.tables {
		if table == whenTable && other.Refinable {
			words = append(words, other.Name)
		}
	}
	if _, whole := c.key(name); whole && !slices.Contains(words, name) {
		f.Problem = "is a key of the whole file, but is below the table [" + table + "]"
		f.Remedy = "move it above the first table"
		return f
	}
	all := fmt.Sprintf("the keys of [%s] are %s", table, strings.Join(c.names(table), ", "))
	f.Remedy = c.suggestion(name, words, "keys", all)
	return f
}

// unknownTable returns the fault of an unknown name outside all tables, with a suggestion.
func (c *catalog) unknownTable(name string, v any, scope string) schema.Fault {
	f := schema.Fault{Key: schema.Clip(name), Problem: "unknown key"}
	switch v.(type) {
	case map[string]any, []map[string]any:
		f.Problem = "unknown table"
	}
	var names []string
	for _, t := range c.tables {
		if c.in(t, scope) {
			names = append(names, t.Name)
		}
	}
	f.Remedy = c.suggestion(name, names, "tables", "the tables here are "+strings.Join(names, ", "))
	return f
}

// suggestion returns the remedy for a name that is not one of words: the table it belongs to, or the most similar
// word, or all words.
func (c *catalog) suggestion(name string, words []string, noun, all string) string {
	near, ok := schema.Nearest(name, words)
	if owners := c.ownersOf(name); owners != "" {
		return "it belongs to " + owners
	} else if ok && strings.ToLower(name) == near {
		return fmt.Sprintf("%s are lower case: write %q", noun, near)
	} else if ok {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return all
}

// ownersOf returns the headers of the tables that have a key of this name.
func (c *catalog) ownersOf(name string) string {
	var owners []string
	for _, t := range c.tables {
		if slices.Contains(c.names(t.Name), name) {
			owners = append(owners, brackets(t))
		}
	}
	return strings.Join(owners, " or ")
}

// aspectSections lists the aspects that have keys of their own. A new aspect is one line here.
func aspectSections() []schema.Section {
	return []schema.Section{
		schema.NewSection(robots.DefaultOptions, robots.Keys),
		schema.NewSection(misfortune.DefaultOptions, misfortune.Keys),
		schema.NewSection(spaces.DefaultOptions, spaces.Keys),
		schema.NewSection(feeds.DefaultOptions, feeds.Keys),
		schema.NewSection(articles.DefaultOptions, articles.Keys),
		schema.NewSection(noise.DefaultOptions, noise.Keys),
		schema.NewSection(login.DefaultOptions, login.Keys),
	}
}
