package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/config/schema"
)

// Key is one key of the configuration files.
type Key struct {
	Name    string      // table and key, "politeness.min_delay"; "wait.…" is a key of each [[wait]]
	Type    schema.Type // the accepted values
	Default string      // as TOML; "" if there is none
	Scope   string      // files that may set it: [InMain], [InHost] or [InBoth]
	Doc     string      // its meaning
	Secret  bool        // its value must not be published
}

// The files that may set a key.
const (
	InMain = "main"
	InHost = "host"
	InBoth = "both"
)

// The places of a key in a [[when]].
const (
	inWhen     = "when"      // of a host file
	inMainWhen = "main when" // of the main file
)

// In reports whether a file may set the key. scope is [InMain] or [InHost].
func (k Key) In(scope string) bool {
	table, _, inTable := strings.Cut(k.Name, ".")
	if scope == inWhen || scope == inMainWhen {
		perFile := !inTable || table == whenTable || table == "seeds" || k.Name == "feeds.uris" || k.Name == "feeds.sitemaps"
		return !perFile && (k.Scope == InBoth || k.Scope == InHost && scope == inWhen)
	}
	return k.Scope == InBoth || k.Scope == scope
}

// Table is a table of the configuration files. The name of a [Key] begins with its table.
type Table struct {
	Name string // "politeness"
	List bool   // it may appear several times: [[wait]]
	Doc  string // what its keys have in common

	Refines   bool // it is [[when]]: next to its keys it holds Refinable tables
	Refinable bool // it may appear in a [[when]]
}

// Keys returns all keys, table by table. [Load] reads files with the same table.
func Keys() []Key {
	out := make([]Key, len(keys))
	for i, k := range keys {
		out[i] = k.Key
	}
	return out
}

// Tables returns all tables in the order of the reference page.
func Tables() []Table {
	out := slices.Clone(tables)
	for i := range out {
		out[i].Refines = out[i].Name == whenTable
		out[i].Refinable = out[i].in(inWhen)
	}
	return out
}

// whenTable is the name of the table of refinements.
const whenTable = "when"

// key is a Key together with the functions that read and show its value.
type key struct {
	Key
	required bool
	read     func(f schema.Field, d *draft)
	// show returns the value in a draft as TOML. It is nil for lists, whose entries are shown as the file writes them.
	show func(d *draft) string
}

// keys lists the keys of all tables.
var keys = withDefaults(slices.Concat(
	fileKeys, aboutKeys, operatorKeys, uploadKeys, crawlKeys, adminKeys, politenessKeys, waitKeys, changeKeys, fetchKeys,
	loginKeys, networkKeys, scopeKeys, feedsKeys, renderKeys, seedKeys, whenKeys,
))

// withDefaults fills in [Key].Default with the values of a configuration that no file has changed.
func withDefaults(keys []key) []key {
	d := newDraft(new(Config))
	for i, k := range keys {
		if k.show != nil && !k.required && !strings.HasPrefix(k.Name, whenTable+".") {
			keys[i].Default = k.show(d)
		}
	}
	return keys
}

func findTable(name string) (Table, bool) {
	i := slices.IndexFunc(tables, func(t Table) bool { return t.Name == name })
	if i < 0 {
		return Table{}, false
	}
	return tables[i], true
}

func findKey(name string) (key, bool) {
	i := slices.IndexFunc(keys, func(k key) bool { return k.Name == name })
	if i < 0 {
		return key{}, false
	}
	return keys[i], true
}

// keys returns the names of the table's keys, without the name of the table.
func (t Table) keys() []string {
	var names []string
	for _, k := range keys {
		if name, ok := strings.CutPrefix(k.Name, t.Name+"."); ok {
			names = append(names, name)
		}
	}
	return names
}

// in reports whether any of the table's keys may be set in a scope.
func (t Table) in(scope string) bool {
	return slices.ContainsFunc(keys, func(k key) bool { return strings.HasPrefix(k.Name, t.Name+".") && k.In(scope) })
}

// brackets returns the table's header: "[fetch]" or "[[wait]]".
func (t Table) brackets() string {
	if t.List {
		return "[[" + t.Name + "]]"
	}
	return "[" + t.Name + "]"
}

// misplaced returns the fault of a key or table in a scope where it may not be set.
func misplaced(name, table, scope string) schema.Fault {
	f := schema.Fault{Key: name, Problem: "is allowed only in the main file", Remedy: "move it there"}
	if table == "" {
		table, _, _ = strings.Cut(name, ".")
	}
	if t, ok := findTable(table); (scope == inWhen || scope == inMainWhen) && ok && t.in(InHost) {
		f.Problem, f.Remedy = "is not allowed in a [[when]]", "move it out of the [[when]]"
	}
	return f
}

// unknownKey returns the fault of a key that its table does not have, with a suggestion.
func unknownKey(table, name string) schema.Fault {
	f := schema.Fault{Key: schema.Clip(table + "." + name), Problem: "unknown key"}
	t, _ := findTable(table)
	words := t.keys()
	for _, other := range tables {
		if table == whenTable && other.in(inWhen) {
			words = append(words, other.Name)
		}
	}
	if _, whole := findKey(name); whole && !slices.Contains(words, name) {
		f.Problem = "is a key of the whole file, but is below the table [" + table + "]"
		f.Remedy = "move it above the first table"
		return f
	}
	all := fmt.Sprintf("the keys of [%s] are %s", table, strings.Join(t.keys(), ", "))
	f.Remedy = suggestion(name, words, "keys", all)
	return f
}

// unknownTable returns the fault of an unknown name outside all tables, with a suggestion.
func unknownTable(name string, v any, scope string) schema.Fault {
	f := schema.Fault{Key: schema.Clip(name), Problem: "unknown key"}
	switch v.(type) {
	case map[string]any, []map[string]any:
		f.Problem = "unknown table"
	}
	var names []string
	for _, t := range tables {
		if t.in(scope) {
			names = append(names, t.Name)
		}
	}
	f.Remedy = suggestion(name, names, "tables", "the tables here are "+strings.Join(names, ", "))
	return f
}

// suggestion returns the remedy for a name that is not one of words: the table it belongs to, or the most similar
// word, or all words.
func suggestion(name string, words []string, noun, all string) string {
	near, ok := schema.Nearest(name, words)
	if owners := ownersOf(name); owners != "" {
		return "it belongs to " + owners
	} else if ok && strings.ToLower(name) == near {
		return fmt.Sprintf("%s are lower case: write %q", noun, near)
	} else if ok {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return all
}

// ownersOf returns the headers of the tables that have a key of this name.
func ownersOf(name string) string {
	var owners []string
	for _, t := range tables {
		if slices.Contains(t.keys(), name) {
			owners = append(owners, t.brackets())
		}
	}
	return strings.Join(owners, " or ")
}
