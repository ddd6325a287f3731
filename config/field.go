package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// draft is what the keys of one file are read into. A host file has no config; keys of the main file never reach it.
type draft struct {
	config   *Config
	settings *Settings
	hosts    string    // folder of the host files
	host     uri.Host  // as the key host says
	until    time.Time // of the whole host file; zero is for ever
	seeds    []seed
	when     criteria  // of the [[when]] being read
	whens    []*layer  // the [[when]] of the file
	sources  []seed    // feeds and sitemaps
	entry    evaluator // the [[wait]] entry being read
	entries  []evaluator
	shadowed []evaluator // entries that those of this file can shadow
	stack    []evaluator // the entries of this file and of those that it stands over
	plain    evaluator   // the default of each wait key
}

// over is a draft that begins with the settings of d.
func (d *draft) over() draft {
	settings := *d.settings
	return draft{settings: &settings, plain: d.plain, shadowed: d.stack, stack: d.stack}
}

// seed is a seed and where it stands.
type seed struct {
	uri uri.URI
	at  field
}

// field is one value of a file on its way into the draft.
type field struct {
	doc   *document
	name  string // of the key
	path  string // of the value
	value any
}

// fault reports the value as wrong.
func (f field) fault(problem, remedy string) {
	f.doc.bad[f.path] = true
	f.doc.fault(f.finding(problem, remedy))
}

// warn reports the value as odd.
func (f field) warn(problem, remedy string) { f.doc.warn(f.finding(problem, remedy)) }

func (f field) finding(problem, remedy string) Fault {
	return f.doc.at(f.doc.place(f.path).value, Fault{Key: f.name, Value: show(f.value), Problem: problem, Remedy: remedy})
}

func (f field) wrongType(want, remedy string) {
	f.fault("is "+typeName(f.value)+", not "+want, remedy)
}

// unquoted is the advice to write the value without its quotes if that is all that is wrong, else what is wanted.
func (f field) unquoted(wanted string) string {
	s, ok := f.value.(string)
	if _, err := strconv.ParseFloat(s, 64); ok && (err == nil || s == "true" || s == "false") {
		return "write " + s + " without quotes"
	}
	return "write " + wanted
}

func typeName(v any) string {
	switch v.(type) {
	case string:
		return "a text"
	case bool:
		return "true or false"
	case int64, float64:
		return "a number"
	case time.Time:
		return "a date or time"
	case []any:
		return "a list"
	case []map[string]any:
		return "a list of tables"
	}
	return "a table"
}

// text is the value as a text; wanted says what to write where it is none.
func (f field) text(wanted string) (string, bool) {
	s, ok := f.value.(string)
	if !ok {
		f.wrongType("a text", "write "+wanted)
	}
	return s, ok
}

// quantity is the value as a text with a unit, of which three are suggested where the value is a bare number.
func (f field) quantity(wanted string, units [3]string) (string, bool) {
	if n, ok := f.value.(int64); ok && n >= 0 {
		f.fault("has no unit", fmt.Sprintf(`write "%d%s", "%d%s" or "%d%s"`, n, units[0], n, units[1], n, units[2]))
		return "", false
	}
	if _, ok := f.value.(float64); ok {
		f.fault("has no unit", "write "+wanted)
		return "", false
	}
	return f.text(wanted)
}

// texts hands each element of a list of texts to each.
func (f field) texts(wanted string, each func(e field, s string)) {
	list, ok := f.value.([]any)
	if !ok {
		remedy := "write a list in brackets, " + wanted
		if s, isText := f.value.(string); isText {
			remedy = "write [" + clip(strconv.Quote(s)) + "]"
		}
		f.wrongType("a list", remedy)
		return
	}
	for i, v := range list {
		e := field{doc: f.doc, name: f.name, path: element(f.path, i), value: v}
		if s, ok := e.text(wanted); ok {
			each(e, s)
		}
	}
}

// read takes every value of the file into the draft.
func (doc *document) read(d *draft, where string) {
	for _, name := range slices.Sorted(maps.Keys(doc.root)) {
		v := doc.root[name]
		if t, ok := findTable(name); ok {
			doc.readTable(t, "", v, d, where)
		} else if k, ok := findKey(name); ok {
			doc.readKey(k, under("", name), v, d, where)
		} else {
			doc.fault(doc.at(doc.place(under("", name)).key, unknownTable(name, v, where)))
		}
	}
}

// readTable reads a table that stands at the top of the file, or in the [[when]] at parent.
func (doc *document) readTable(t table, parent string, v any, d *draft, where string) {
	path := under(parent, t.name)
	at := field{doc: doc, name: t.name, path: path, value: v}
	if !t.standsIn(where) {
		doc.fault(doc.at(doc.place(path).key, misplaced(t.name, t.name, where)))
		return
	}
	if t.list {
		tables, ok := listOfTables(v)
		if !ok {
			at.wrongType("a list of tables", "write [["+t.name+"]]")
			return
		}
		for i, m := range tables {
			if t.name == whenTable {
				doc.readWhen(element(path, i), m, d, where)
			} else {
				doc.readEntry(element(path, i), m, d, where)
			}
		}
		return
	}
	m, ok := v.(map[string]any)
	if !ok {
		at.wrongType("a table", "write ["+t.name+"] and its keys below")
		return
	}
	doc.readKeys(t.name, path, m, d, where)
}

func listOfTables(v any) ([]map[string]any, bool) {
	if tables, ok := v.([]map[string]any); ok {
		return tables, true
	}
	list, ok := v.([]any)
	if !ok {
		return nil, false
	}
	var tables []map[string]any
	for _, e := range list {
		m, ok := e.(map[string]any)
		if !ok {
			return nil, false
		}
		tables = append(tables, m)
	}
	return tables, true
}

func (doc *document) readKeys(tableName, path string, m map[string]any, d *draft, where string) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		k, ok := findKey(tableName + "." + name)
		if !ok {
			doc.fault(doc.at(doc.place(under(path, name)).key, unknownKey(tableName, name)))
			continue
		}
		doc.readKey(k, under(path, name), m[name], d, where)
	}
}

func (doc *document) readKey(k key, path string, v any, d *draft, where string) {
	if !k.standsIn(where) {
		f := misplaced(k.Name, "", where)
		if k.Scope == inHost {
			f.Problem, f.Remedy = "may stand only in a host file", "remove it"
		}
		doc.fault(doc.at(doc.place(path).key, f))
		return
	}
	k.reader.read(field{doc: doc, name: k.Name, path: path, value: v}, d)
}

func findTable(name string) (table, bool) {
	i := slices.IndexFunc(tables, func(t table) bool { return t.name == name })
	if i < 0 {
		return table{}, false
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

// keys are the keys of a table, without its name.
func (t table) keys() []string {
	var names []string
	for _, k := range keys {
		if name, ok := strings.CutPrefix(k.Name, t.name+"."); ok {
			names = append(names, name)
		}
	}
	return names
}

// standsIn reports whether any of the table's keys may stand in such a file.
func (t table) standsIn(where string) bool {
	return slices.ContainsFunc(keys, func(k key) bool {
		return strings.HasPrefix(k.Name, t.name+".") && k.standsIn(where)
	})
}

// standsIn reports whether the key may stand in such a file, or in a [[when]].
func (k key) standsIn(where string) bool {
	table, _, _ := strings.Cut(k.Name, ".")
	if where == inWhen {
		return k.Scope == inBoth && table != whenTable && table != "seeds" && !slices.Contains([]string{"feeds.uris", "feeds.sitemaps"}, k.Name)
	}
	return k.Scope == inBoth || k.Scope == where
}

// misplaced is a key, or a table, that stands where it may not.
func misplaced(name, table, where string) Fault {
	f := Fault{Key: name, Problem: "may stand only in the main file", Remedy: "move it there"}
	if table == "" {
		table, _, _ = strings.Cut(name, ".")
	}
	if t, ok := findTable(table); where == inWhen && ok && t.standsIn(inHost) {
		f.Problem, f.Remedy = "may not stand in a [[when]]", "move it out of it"
	}
	return f
}
