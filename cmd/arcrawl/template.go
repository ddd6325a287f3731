package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/config"
)

// template writes configuration files that explain themselves: each key stands below what it means, as a comment with its
// default until somebody sets it.
type template struct {
	set  map[string]string // values as TOML, by the name of the key; these are no comments
	hint map[string]string // values that are shown in place of a default
	only func(string) bool // which keys are written
	keys []config.Key      // of the kind of file
	out  *strings.Builder  // what was written
}

func newTemplate(scope string, set map[string]string) *template {
	t := &template{set: set, hint: whenHints(), only: func(string) bool { return true }, out: new(strings.Builder)}
	for _, k := range config.Keys() {
		if k.Scope == scope || k.Scope == "both" {
			t.keys = append(t.keys, k)
		}
	}
	return t
}

// whenHints are examples of the criteria of a refinement.
func whenHints() map[string]string {
	return map[string]string{
		"when.uri": `'/live/'`, "when.mime": `'^text/html.*'`, "when.port": `443`, "when.hop": `["seed", "link"]`, "when.time": `"06:00-23:00"`,
		"when.weekdays": `["mon-fri"]`, "when.until": `2035-12-31`,
	}
}

// commentWidth is how long the lines of comments are.
const commentWidth = 110

// comment writes a text as comment lines.
func (t *template) comment(text string) {
	line := "#"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > commentWidth {
			fmt.Fprintln(t.out, line)
			line = "#"
		}
		line += " " + word
	}
	fmt.Fprintln(t.out, line)
}

// table writes a table with its keys, or nothing if it would have none.
func (t *template) table(of config.Table) {
	var keys []config.Key
	for _, k := range t.keys {
		if strings.HasPrefix(k.Name, of.Name+".") && t.only(k.Name) {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return
	}
	fmt.Fprintln(t.out)
	t.comment(of.Doc)
	listed := slices.ContainsFunc(keys, func(k config.Key) bool { _, ok := t.set[k.Name]; return ok })
	switch {
	case of.List && !listed: // without a comment it would be an entry
		fmt.Fprintf(t.out, "#[[%s]]\n", of.Name)
	case of.List:
		fmt.Fprintf(t.out, "[[%s]]\n", of.Name)
	default:
		fmt.Fprintf(t.out, "[%s]\n", of.Name)
	}
	for _, k := range keys {
		t.key(k, strings.TrimPrefix(k.Name, of.Name+"."))
	}
	if of.Refines {
		t.comment("What it sets, as in the tables above.")
		fmt.Fprintln(t.out, `#wait = [{ mime = '.*', min = "5m" }]`)
	}
}

// key writes a key below its meaning. One that has neither value nor default is left out.
func (t *template) key(k config.Key, name string) {
	value, set := t.set[k.Name]
	if !set {
		value = cmp.Or(t.hint[k.Name], k.Default)
	}
	if value == "" {
		return
	}
	t.comment(k.Doc + " (" + k.Type + ")")
	if !set {
		name = "#" + name
	}
	fmt.Fprintf(t.out, "%s = %s\n", name, value)
}

// parseSet reads KEY=VALUE arguments into values as TOML. The value of a key that takes a text needs no quotes, and that of
// one that takes a list no brackets if there is one element.
func parseSet(args []string) (map[string]string, error) {
	keys := config.Keys()
	set := make(map[string]string, len(args))
	for _, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, fmt.Errorf("%q: want KEY=VALUE, as in storage.warc=/srv/warc", arg)
		}
		i := slices.IndexFunc(keys, func(k config.Key) bool { return k.Name == name && k.Scope != "host" })
		if i < 0 {
			return nil, fmt.Errorf("%q: the main file has no key %s; docs/config.md and arcrawl schema list all", arg, name)
		}
		if table, _, _ := strings.Cut(name, "."); isList(table) {
			return nil, fmt.Errorf("%q: write the [[%s]] tables into the file", arg, table)
		}
		set[name] = toTOML(keys[i], value)
	}
	return set, nil
}

// isList reports whether a table may stand several times.
func isList(name string) bool {
	return slices.ContainsFunc(config.Tables(), func(t config.Table) bool { return t.List && t.Name == name })
}

// toTOML writes a value as TOML, by the type of its key. Whether it is a right one is for config to say.
func toTOML(k config.Key, value string) string {
	shape, err := valueSchema(k.Type)
	if err != nil {
		return quoteTOML(value)
	}
	switch shape["type"] {
	case "string":
		return quoteTOML(value)
	case "array":
		if strings.HasPrefix(strings.TrimSpace(value), "[") {
			return value
		}
		return "[" + quoteTOML(value) + "]"
	}
	return value
}

// quoteTOML writes a text as a basic string of TOML, which those of JSON are too.
func quoteTOML(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil { // a text has none
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}
