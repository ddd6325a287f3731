package curator

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/config/schema"
)

// errByHandKey says that a key cannot be set safely in a file, so that a person must do it.
var errByHandKey = errors.New("cannot set the key safely in the file; edit it by hand")

// describeSeeds returns the text of a host file that describes these seeds and no others, in seeds.about. The file must
// list the seeds.
func describeSeeds(text []byte, seeds []config.NamedSeed) ([]byte, error) {
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
	return setKey(text, "seeds.about", value)
}

// seedTable returns the description of a seed as a table of seeds.about.
func seedTable(s config.NamedSeed) string {
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

// setKey returns the text of a host file with another value of a key, as TOML. The key is named as on the reference
// page: "owner" or "politeness.min_delay". Everything else stays. Keys of [[wait]] and [[when]] cannot be set.
func setKey(text []byte, key, value string) ([]byte, error) {
	e, err := schema.Edit(text, "change")
	if err != nil {
		return nil, err
	}
	path := schema.Path("").Key(key)
	table, name := config.Key{Name: key}.Split()
	setting := name + " = " + value + "\n"
	whole := strings.TrimRight(string(text), "\n")
	if whole != "" {
		whole += "\n"
	}
	e.Lines = strings.SplitAfter(whole, "\n")
	at, end := 0, len(e.Lines)
	switch header := schema.Path("").Child(table); {
	case e.Before.Has(path):
		start := e.Text(0, e.Line(path))
		valueEnds, ok := valueEnd(whole, len(start), name)
		if !ok {
			return nil, errByHandKey
		}
		return keySet(e.Before, start+strings.TrimSuffix(setting, "\n")+whole[valueEnds:], key)
	case table == "":
		for at < end && (strings.TrimSpace(e.Lines[at]) == "" || strings.HasPrefix(e.Lines[at], "#")) && e.Lines[at] != "" {
			at++
		}
		if strings.HasPrefix(e.Text(at, end), "[") {
			setting += "\n"
		}
	case e.Before.Has(header):
		if at = e.Line(header) + 1; !strings.HasPrefix(strings.TrimSpace(e.Lines[at-1]), "["+table+"]") {
			return nil, errByHandKey
		}
	default:
		at, setting = end, "\n["+table+"]\n"+setting
	}
	return keySet(e.Before, e.Text(0, at)+setting+e.Text(at, end), key)
}

// unsetKey returns the text of a host file without a key. A comment behind its value stays. Keys of [[wait]] and
// [[when]] cannot be removed.
func unsetKey(text []byte, key string) ([]byte, error) {
	e, err := schema.Edit(text, "change")
	if err != nil {
		return nil, err
	}
	path := schema.Path("").Key(key)
	if !e.Before.Has(path) {
		return text, nil
	}
	_, name := config.Key{Name: key}.Split()
	whole := strings.TrimRight(string(text), "\n") + "\n"
	start := e.Text(0, e.Line(path))
	end, ok := valueEnd(whole, len(start), name)
	if !ok {
		return nil, errByHandKey
	}
	rest, comment := whole[end:], ""
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		if comment, rest = strings.TrimLeft(rest[:i], " \t"), rest[i+1:]; comment != "" {
			comment += "\n"
		}
	}
	edited := start + comment + rest
	after := schema.Parse([]byte(edited), "the file")
	if len(after.Faults) > 0 || after.Has(path) || !sameBut(e.Before, after, key) {
		return nil, errByHandKey
	}
	return []byte(edited), nil
}

// keySet returns a text if it differs from the one before in one key only.
func keySet(before *schema.Document, text, key string) ([]byte, error) {
	after := schema.Parse([]byte(text), "the file")
	if len(after.Faults) > 0 {
		return nil, fmt.Errorf("%w (%s)", errByHandKey, after.Faults[0])
	}
	if !after.Has(schema.Path("").Key(key)) || !sameBut(before, after, key) {
		return nil, errByHandKey
	}
	return []byte(text), nil
}

// sameBut reports whether two texts set the same except for one key.
func sameBut(before, after *schema.Document, key string) bool {
	return reflect.DeepEqual(without(before.Root, key), without(after.Root, key))
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
