package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/config"
)

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema [main|host]",
		Short: "Print the JSON Schema of the configuration files",
		Long: `schema prints a JSON Schema (draft 7) of the main file, or of the host files. Editors complete and explain keys by it, for
example with taplo and this first line of the file:

  #:schema ./arcrawl.schema.json

It knows each key, its type and its bounds. What hangs together between keys and files only arcrawl check can tell.`,
		Example: `  arcrawl schema > arcrawl.schema.json
  arcrawl schema host > hosts.d/host.schema.json`,
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"main", "host"},
		RunE: func(cmd *cobra.Command, args []string) error {
			scope := "main"
			if len(args) == 1 {
				scope = args[0]
			}
			s, err := fileSchema(scope)
			if err != nil {
				return err
			}
			e := json.NewEncoder(cmd.OutOrStdout())
			e.SetEscapeHTML(false)
			e.SetIndent("", "  ")
			return e.Encode(s)
		},
	}
}

// schema is a JSON Schema.
type schema map[string]any

// closed is the schema of a table that has these keys and no others.
func closed(doc string, keys schema, required []string) schema {
	s := schema{"type": "object", "additionalProperties": false, "properties": keys}
	if doc != "" {
		s["description"] = doc
	}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// fileSchema is the schema of "main" or "host" files.
func fileSchema(scope string) (schema, error) {
	tables := schema{}
	var wanted []string
	keysOf := func(prefix string) (schema, []string, error) {
		keys, required := schema{}, []string(nil)
		for _, k := range config.Keys() {
			table, name, inTable := strings.Cut(k.Name, ".")
			if !inTable {
				table, name = "", k.Name
			}
			if table != prefix || k.Scope != scope && k.Scope != "both" {
				continue
			}
			s, err := keySchema(k)
			if err != nil {
				return nil, nil, err
			}
			keys[name] = s
			if inTable && k.Default == "" {
				required = append(required, name)
			}
		}
		return keys, required, nil
	}
	for _, t := range config.Tables() {
		keys, required, err := keysOf(t.Name)
		if err != nil {
			return nil, err
		}
		switch {
		case len(keys) == 0: // not in such a file
		case t.List:
			if t.Refines { // it has criteria, of which none is required, and tables of its own
				required = nil
				addRefined(keys, tables)
			}
			tables[t.Name] = schema{"type": "array", "description": t.Doc, "items": closed("", keys, required)}
		default:
			tables[t.Name] = closed(t.Doc, keys, required)
			if len(required) > 0 {
				wanted = append(wanted, t.Name)
			}
		}
	}
	top, _, err := keysOf("")
	if err != nil {
		return nil, err
	}
	for name, s := range top {
		tables[name] = s
	}
	s := closed("", tables, wanted)
	s["$schema"] = "http://json-schema.org/draft-07/schema#"
	s["title"] = "arcrawl, " + scope + " file"
	return s, nil
}

// addRefined puts the tables that a refinement may have among its criteria.
func addRefined(keys, tables schema) {
	for _, t := range config.Tables() {
		if of, ok := tables[t.Name]; ok && t.Refinable {
			keys[t.Name] = of
		}
	}
}

// keySchema is the schema of one key.
func keySchema(k config.Key) (schema, error) {
	s, err := valueSchema(k.Type)
	if err != nil {
		return nil, fmt.Errorf("the key %s: %w", k.Name, err)
	}
	s["description"] = k.Doc
	if k.Default != "" {
		s["default"] = defaultJSON(k.Default)
	}
	if k.Default == `""` {
		delete(s, "minLength") // it may be empty
	}
	return s, nil
}

// The syntax of durations and sizes. A duration has at least one of its units, and so two characters.
const (
	durationPattern = `([0-9]+y)?([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?`
	sizePattern     = `^[0-9]+([kKMGT]?B|[KMGT]iB)$`
)

// valueSchema turns what a key says of its type into a schema.
func valueSchema(kind string) (schema, error) {
	sort, rest, _ := strings.Cut(kind, ", ")
	text := schema{"type": "string", "minLength": 1}
	switch {
	case sort == "duration":
		return schema{"type": "string", "minLength": 2, "pattern": "^" + durationPattern + "$"}, nil
	case kind == "text, may be empty":
		return schema{"type": "string"}, nil
	case sort == "size":
		return schema{"type": "string", "pattern": sizePattern}, nil
	case sort == "whole number":
		return bounded("integer", rest)
	case sort == "number":
		return bounded("number", rest)
	case kind == "true or false":
		return schema{"type": "boolean"}, nil
	case sort == "time of day":
		return schema{"type": "string", "pattern": `^\s*[0-2][0-9]:[0-5][0-9]\s*-\s*[0-2][0-9]:[0-5][0-9]\s*$`}, nil
	case kind == "date or time": // which editors hand over as a text
		return schema{"type": "string", "pattern": `^[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt ][0-9]{2}:[0-9]{2}.*)?$`}, nil
	case kind == "text", kind == "regular expression", sort == "host name":
		return text, nil
	case strings.HasPrefix(kind, "list of tables with "):
		keys, names := schema{}, strings.Split(strings.TrimPrefix(kind, "list of tables with "), " and ")
		for _, name := range names {
			keys[name] = text
		}
		return schema{"type": "array", "items": closed("", keys, names)}, nil
	case strings.HasPrefix(kind, "list of "):
		return schema{"type": "array", "items": text}, nil
	case strings.HasPrefix(kind, `"`):
		return choices(kind), nil
	}
	return nil, fmt.Errorf("%q is a type without a schema", kind)
}

// bounded is a number from "1 to 9".
func bounded(kind, bounds string) (schema, error) {
	low, high, _ := strings.Cut(bounds, " to ")
	for _, n := range []string{low, high} {
		if _, err := strconv.ParseFloat(n, 64); err != nil {
			return nil, fmt.Errorf("bounds of a number: %w", err)
		}
	}
	return schema{"type": kind, "minimum": json.Number(low), "maximum": json.Number(high)}, nil
}

// choices is one of the words in quotes. A last one that is followed by "and a duration" begins one.
func choices(kind string) schema {
	rest, period := strings.CutSuffix(kind, " and a duration")
	var words []string
	for i, part := range strings.Split(rest, `"`) {
		if i%2 == 1 {
			words = append(words, part)
		}
	}
	if !period {
		return schema{"type": "string", "enum": words}
	}
	last := len(words) - 1
	return schema{"type": "string", "pattern": "^(" + strings.Join(words[:last], "|") + "|" + words[last] + " " + durationPattern + ")$"}
}

// defaultJSON is a default, which is written as TOML, as JSON. Numbers, truth values, plain strings and empty lists are the
// same in both.
func defaultJSON(s string) json.RawMessage {
	if text, literal := strings.CutPrefix(s, "'"); literal {
		s = quoteTOML(strings.TrimSuffix(text, "'"))
	}
	if !json.Valid([]byte(s)) {
		s = quoteTOML(s)
	}
	return json.RawMessage(s)
}
