package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/config/schema"
)

// ErrByHandKey says that a key cannot be set safely in a file, so that a person must do it.
var ErrByHandKey = errors.New("cannot set the key safely in the file; edit it by hand")

// editing is the text of a file while it is changed, line by line.
type editing struct {
	before *schema.Document
	lines  []string
}

// edit begins to change a text. what is what cannot be done to a file with faults.
func edit(text []byte, what string) (*editing, error) {
	before := schema.Parse(text, "the file")
	if len(before.Faults) > 0 {
		return nil, fmt.Errorf("cannot %s a file with faults: %s", what, before.Faults[0])
	}
	return &editing{before, strings.SplitAfter(string(text), "\n")}, nil
}

// line returns the index of the line of a key or table.
func (e *editing) line(p schema.Path) int { return e.before.AtKey(p, schema.Fault{}).Line - 1 }

// text returns the lines from one to another as a text.
func (e *editing) text(from, to int) string { return strings.Join(e.lines[from:to], "") }

// addTo adds elements to a list of texts, except those that it has. It returns them if the file does not have the list.
func (e *editing) addTo(list schema.Path, elements []string) (added, missing []string, ok bool) {
	known := map[string]bool{}
	for _, s := range listedTexts(e.before.Value(list)) {
		known[s] = true
	}
	added = slices.DeleteFunc(slices.Clone(elements), func(s string) bool { return known[s] })
	switch {
	case !e.before.Has(list):
		return added, added, true
	case len(added) == 0:
		return nil, nil, true
	}
	return added, nil, extend(e.lines, e.line(list), added)
}

// SetSeeds returns the text of a host file that describes these seeds and no others, in seeds.about. The file must
// list the seeds.
func SetSeeds(text []byte, seeds []NamedSeed) ([]byte, error) {
	var b strings.Builder
	for _, s := range seeds {
		fmt.Fprintf(&b, "  %s,\n", seedTable(s))
	}
	value := "[]"
	if b.Len() > 0 {
		value = "[\n" + b.String() + "]"
	}
	if !schema.Parse(text, "the file").Has(schema.Path("").Key("seeds.about")) && len(seeds) == 0 {
		return text, nil
	}
	return SetKey(text, "seeds.about", value)
}

// seedTable returns the description of a seed as a table of seeds.about.
func seedTable(s NamedSeed) string {
	var all []string
	for _, column := range []struct {
		key   string
		value any
	}{
		{"uri", s.URI.String()},
		{"title", s.Title},
		{"labels", s.Labels},
		{"collections", s.Collections},
		{"owner", strings.Join(s.Owners, ", ")},
		{"note", s.Note},
	} {
		if v := schema.TOML(column.value); v != `""` && v != "[]" {
			all = append(all, column.key+" = "+v)
		}
	}
	return "{ " + strings.Join(all, ", ") + " }"
}

// SetKey returns the text of a host file with another value of a key, as TOML. The key is named as on the reference
// page: "owner" or "politeness.min_delay". Everything else stays. Keys of [[wait]] and [[when]] cannot be set.
func SetKey(text []byte, key, value string) ([]byte, error) {
	e, err := edit(text, "change")
	if err != nil {
		return nil, err
	}
	path := schema.Path("").Key(key)
	table, name := Key{Name: key}.Split()
	setting := name + " = " + value + "\n"
	whole := strings.TrimRight(string(text), "\n")
	if whole != "" {
		whole += "\n"
	}
	e.lines = strings.SplitAfter(whole, "\n")
	at, end := 0, len(e.lines)
	switch header := schema.Path("").Child(table); {
	case e.before.Has(path):
		start := e.text(0, e.line(path))
		valueEnds, ok := valueEnd(whole, len(start), name)
		if !ok {
			return nil, ErrByHandKey
		}
		return e.set(start+strings.TrimSuffix(setting, "\n")+whole[valueEnds:], key)
	case table == "":
		for at < end && (strings.TrimSpace(e.lines[at]) == "" || strings.HasPrefix(e.lines[at], "#")) && e.lines[at] != "" {
			at++
		}
		if strings.HasPrefix(e.text(at, end), "[") {
			setting += "\n"
		}
	case e.before.Has(header):
		if at = e.line(header) + 1; !strings.HasPrefix(strings.TrimSpace(e.lines[at-1]), "["+table+"]") {
			return nil, ErrByHandKey
		}
	default:
		at, setting = end, "\n["+table+"]\n"+setting
	}
	return e.set(e.text(0, at)+setting+e.text(at, end), key)
}

// UnsetKey returns the text of a host file without a key. A comment behind its value stays. Keys of [[wait]] and
// [[when]] cannot be removed.
func UnsetKey(text []byte, key string) ([]byte, error) {
	e, err := edit(text, "change")
	if err != nil {
		return nil, err
	}
	path := schema.Path("").Key(key)
	if !e.before.Has(path) {
		return text, nil
	}
	_, name := Key{Name: key}.Split()
	whole := strings.TrimRight(string(text), "\n") + "\n"
	start := e.text(0, e.line(path))
	end, ok := valueEnd(whole, len(start), name)
	if !ok {
		return nil, ErrByHandKey
	}
	rest, comment := whole[end:], ""
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		if comment, rest = strings.TrimLeft(rest[:i], " \t"), rest[i+1:]; comment != "" {
			comment += "\n"
		}
	}
	edited := start + comment + rest
	after := schema.Parse([]byte(edited), "the file")
	if len(after.Faults) > 0 || after.Has(path) || !e.sameBut(after, key) {
		return nil, ErrByHandKey
	}
	return []byte(edited), nil
}

// set returns a text if it differs from the one before in one key only.
func (e *editing) set(text, key string) ([]byte, error) {
	after := schema.Parse([]byte(text), "the file")
	if len(after.Faults) > 0 {
		return nil, fmt.Errorf("%w (%s)", ErrByHandKey, after.Faults[0])
	}
	if !after.Has(schema.Path("").Key(key)) || !e.sameBut(after, key) {
		return nil, ErrByHandKey
	}
	return []byte(text), nil
}

// sameBut reports whether another text sets the same except for one key.
func (e *editing) sameBut(after *schema.Document, key string) bool {
	return reflect.DeepEqual(without(e.before.Root, key), without(after.Root, key))
}

// without returns the values of a document without one key, and without its table if nothing else is in it.
func without(root map[string]any, key string) map[string]any {
	table, name, inTable := strings.Cut(key, ".")
	all := map[string]any{}
	for k, v := range root {
		if m, ok := v.(map[string]any); ok && inTable && k == table {
			rest := without(m, name)
			if len(rest) > 0 {
				all[k] = rest
			}
			continue
		}
		if k != key {
			all[k] = v
		}
	}
	return all
}

// valueEnd returns where the value of a key ends whose line begins at an offset. It reports false for texts of
// several lines, and for lists with comments, which would be lost.
func valueEnd(text string, at int, name string) (end int, ok bool) {
	line := strings.TrimLeft(text[at:], " \t")
	if !strings.HasPrefix(line, name) {
		return 0, false // a dotted or quoted key
	}
	equal := strings.IndexByte(text[at:], '=')
	depth, quote := 0, byte(0)
	for i := at + equal + 1; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0:
			if c == '\\' && quote == '"' {
				i++
			} else if c == quote {
				quote = 0
			}
		case strings.HasPrefix(text[i:], `'''`) || strings.HasPrefix(text[i:], `"""`):
			return 0, false
		case c == '"' || c == '\'':
			quote = c
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth == 0 {
				return i + 1, true
			}
		case c == '#' && depth > 0:
			return 0, false
		case (c == '\n' || c == '#') && depth == 0:
			return at + len(strings.TrimRight(text[at:i], " \t\r")), true
		}
	}
	return len(text), depth == 0 && quote == 0
}
