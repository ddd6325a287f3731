package config

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/arcrawl/arcrawl/config/schema"
)

// object is a JSON Schema or a part of one.
type object map[string]any

// Schema returns the JSON Schema (draft 7) of main files or host files. scope is [config.InMain] or [config.InHost].
func Schema(scope string) ([]byte, error) {
	tables := object{}
	var wanted []string
	for _, t := range Tables() {
		keys, required := keysOf(t.Name, scope)
		switch {
		case len(keys) == 0: // not allowed in such a file
		case t.List:
			if t.Refines { // none of its criteria is required, and it holds tables
				required = nil
				addRefinable(keys, tables)
			}
			tables[t.Name] = object{"type": "array", "description": t.Doc, "items": closed("", keys, required)}
		default:
			tables[t.Name] = closed(t.Doc, keys, required)
			if len(required) > 0 {
				wanted = append(wanted, t.Name)
			}
		}
	}
	top, _ := keysOf("", scope)
	for name, s := range top {
		tables[name] = s
	}
	s := closed("", tables, wanted)
	s["$schema"] = "http://json-schema.org/draft-07/schema#"
	s["title"] = "arcrawl, " + scope + " file"

	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(s)
	return b.Bytes(), err
}

// closed returns the schema of a table that has these keys and no others.
func closed(doc string, keys object, required []string) object {
	s := object{"type": "object", "additionalProperties": false, "properties": keys}
	if doc != "" {
		s["description"] = doc
	}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// keysOf returns the schemas of a table's keys, and the names of those that are required.
func keysOf(table, scope string) (keys object, required []string) {
	keys = object{}
	for _, k := range Keys() {
		of, name := k.Split()
		if of != table || !k.In(scope) {
			continue
		}
		s := valueSchema(k.Type)
		s["description"] = k.Doc
		if k.Default != "" {
			s["default"] = defaultJSON(k.Default)
		}
		keys[name] = s
		if table != "" && k.Default == "" {
			required = append(required, name)
		}
	}
	return keys, required
}

// addRefinable adds the tables that a refinement may hold to its criteria.
func addRefinable(keys, tables object) {
	for _, t := range Tables() {
		if s, ok := tables[t.Name]; ok && t.Refinable {
			keys[t.Name] = s
		}
	}
}

// The syntax of durations and sizes. A duration has at least one of its units, and so at least two characters.
const (
	durationPattern = `([0-9]+y)?([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?`
	sizePattern     = `^[0-9]+([kKMGT]?B|[KMGT]iB)$`
	periodPattern   = `^\s*[0-2][0-9]:[0-5][0-9]\s*-\s*[0-2][0-9]:[0-5][0-9]\s*$`
	momentPattern   = `^[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt ][0-9]{2}:[0-9]{2}.*)?$`
)

// valueSchema returns the schema of the values of a type.
func valueSchema(t schema.Type) object {
	text := object{"type": "string", "minLength": 1}
	switch t.Kind {
	case schema.Boolean:
		return object{"type": "boolean"}
	case schema.Whole:
		return bounded("integer", t)
	case schema.Number:
		return bounded("number", t)
	case schema.Duration:
		return object{"type": "string", "minLength": 2, "pattern": "^" + durationPattern + "$"}
	case schema.Size:
		return object{"type": "string", "pattern": sizePattern}
	case schema.Period:
		return object{"type": "string", "pattern": periodPattern}
	case schema.Moment: // editors pass dates as texts
		if t.Optional {
			return object{"type": "string", "pattern": "^$|" + momentPattern}
		}
		return object{"type": "string", "pattern": momentPattern}
	case schema.List:
		return object{"type": "array", "items": text}
	case schema.Map:
		return object{"type": "object", "additionalProperties": object{"type": "string"}}
	case schema.Tables:
		columns, names := object{}, []string{}
		for _, c := range t.Columns {
			columns[c.Name] = valueSchema(c.Type)
			if !c.Optional {
				names = append(names, c.Name)
			}
		}
		return object{"type": "array", "items": closed("", columns, names)}
	}
	switch {
	case t.Every:
		last := len(t.Choices) - 1
		words := strings.Join(t.Choices[:last], "|")
		return object{"type": "string", "pattern": "^(" + words + "|" + t.Choices[last] + " " + durationPattern + ")$"}
	case t.OrBoolean:
		return object{"anyOf": []object{{"type": "boolean"}, {"type": "string", "enum": t.Choices}}}
	case t.Choices != nil:
		return object{"type": "string", "enum": t.Choices}
	case t.Optional:
		return object{"type": "string"}
	}
	return text
}

// bounded returns the schema of a number within the bounds of a type.
func bounded(kind string, t schema.Type) object {
	number := func(v float64) json.Number { return json.Number(strconv.FormatFloat(v, 'f', -1, 64)) }
	return object{"type": kind, "minimum": number(t.Min), "maximum": number(t.Max)}
}

// defaultJSON returns a default, which is written as TOML, as JSON. Numbers, booleans, lists and texts in double
// quotes are the same in both.
func defaultJSON(s string) json.RawMessage {
	if text, literal := strings.CutPrefix(s, "'"); literal {
		s = Quote(strings.TrimSuffix(text, "'"))
	}
	if !json.Valid([]byte(s)) {
		s = Quote(s)
	}
	return json.RawMessage(s)
}
