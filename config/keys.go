package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/config/schema"
)

// Key and Table are short names for the types of package schema.
type (
	Key   = schema.Key
	Table = schema.Table
	key   = schema.Of[draft]
)

// The files that may set a key.
const (
	InMain = schema.InMain
	InHost = schema.InHost
	InBoth = schema.InBoth
)

// whenTable is the name of the table of refinements.
const whenTable = "when"

// catalog holds all keys and tables of a configuration, of this package and of the owners of sections.
type catalog struct {
	keys     []key
	tables   []Table
	sections []schema.Section
}

// newCatalog returns the keys of this package and of sections.
func newCatalog(sections []schema.Section) *catalog {
	c := &catalog{tables: slices.Clone(tables), sections: sections}
	c.keys = slices.Concat(
		perFile(fileKeys), perFile(aboutKeys), operatorKeys, uploadKeys, crawlKeys, adminKeys, politenessKeys, waitKeys,
		changeKeys, fetchKeys, loginKeys, networkKeys, scopeKeys, perFile(sourceKeys), renderKeys, perFile(seedKeys),
		perFile(whenKeys),
	)
	for i, s := range sections {
		c.addTables(s.Tables)
		for _, k := range s.Keys {
			c.addKey(k, i)
		}
	}
	d := c.newDraft(new(Config))
	for i, k := range c.keys {
		if k.Show != nil && !k.Required && k.Table() != whenTable {
			c.keys[i].Default = k.Show(d)
		}
	}
	for i, t := range c.tables {
		c.tables[i].Refines, c.tables[i].Refinable = t.Name == whenTable, c.in(t, schema.InWhen)
	}
	return c
}

// perFile marks keys that no [[when]] can set.
func perFile(keys []key) []key {
	out := slices.Clone(keys)
	for i := range out {
		out[i].PerFile = true
	}
	return out
}

// addTables adds the tables of a section, each after the one that it names.
func (c *catalog) addTables(added []Table) {
	for _, t := range added {
		at := slices.IndexFunc(c.tables, func(before Table) bool { return before.Name == t.After })
		c.tables = slices.Insert(c.tables, at+1, t)
	}
}

// addKey adds a key of the i-th section after the last key of its table, or else of the table before.
func (c *catalog) addKey(k schema.Of[any], i int) {
	added := key{Key: k.Key, Required: k.Required}
	added.Read = func(f schema.Field, d *draft) { k.Read(f, d.own(i)) }
	if k.Show != nil {
		added.Show = func(d *draft) string { return k.Show(&d.settings.Own[i]) }
	}
	at := -1
	for table := k.Table(); at < 0 && table != ""; table = c.before(table) {
		for j, other := range c.keys {
			if other.Table() == table {
				at = j
			}
		}
	}
	c.keys = slices.Insert(c.keys, at+1, added)
}

// before returns the name of the table before another one.
func (c *catalog) before(name string) string {
	i := slices.IndexFunc(c.tables, func(t Table) bool { return t.Name == name })
	if i <= 0 {
		return ""
	}
	return c.tables[i-1].Name
}

// coreCatalog has the keys of this package and of the aspects.
var coreCatalog = newCatalog(aspectSections())

// Keys returns all keys, table by table. [Load] reads files with the same table.
func Keys() []Key {
	out := make([]Key, len(coreCatalog.keys))
	for i, k := range coreCatalog.keys {
		out[i] = k.Key
	}
	return out
}

// Tables returns all tables in the order of the reference page.
func Tables() []Table { return slices.Clone(coreCatalog.tables) }

func (c *catalog) table(name string) (Table, bool) {
	i := slices.IndexFunc(c.tables, func(t Table) bool { return t.Name == name })
	if i < 0 {
		return Table{}, false
	}
	return c.tables[i], true
}

func (c *catalog) key(name string) (key, bool) {
	i := slices.IndexFunc(c.keys, func(k key) bool { return k.Name == name })
	if i < 0 {
		return key{}, false
	}
	return c.keys[i], true
}

// names returns the names of a table's keys, without the name of the table.
func (c *catalog) names(table string) []string {
	var names []string
	for _, k := range c.keys {
		if name, ok := strings.CutPrefix(k.Name, table+"."); ok {
			names = append(names, name)
		}
	}
	return names
}

// in reports whether any of the table's keys may be set in a scope.
func (c *catalog) in(t Table, scope string) bool {
	return slices.ContainsFunc(c.keys, func(k key) bool { return strings.HasPrefix(k.Name, t.Name+".") && k.In(scope) })
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
