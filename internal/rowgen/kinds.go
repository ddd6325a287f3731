package main

import (
	"fmt"
	"strings"
)

// stored is a part of a field as it is stored.
type stored struct{ name, typ string }

// kind says how the fields of a type are converted. In the expressions %s is the value to be converted.
type kind struct {
	row  string // the type in a row
	to   string // value to row
	from string // row to value
	fail bool   // from returns an error too

	line     []string // the types in an export, one for each name
	toLine   string
	fromLine string
	omit     string // how an export leaves out the zero value
}

const text = "cbor.ByteString"

// kinds has the types that fields may have. Types that consist of several stored parts are in composites too.
var kinds = map[string]kind{
	"int":   {row: "int", to: "%s", from: "%s", line: []string{"int"}, toLine: "%s", fromLine: "%s"},
	"int64": {row: "int64", to: "%s", from: "%s", line: []string{"int64"}, toLine: "%s", fromLine: "%s"},
	"bool":  {row: "bool", to: "%s", from: "%s", line: []string{"bool"}, toLine: "%s", fromLine: "%s"},
	"uint64": {
		row: "uint64", to: "%s", from: "%s",
		line: []string{"jsonBits"}, toLine: "jsonBits(%s)", fromLine: "uint64(%s)",
	},
	"float64": {
		row: "float64", to: "finite(%s)", from: "%s",
		line: []string{"float64"}, toLine: "finite(%s)", fromLine: "%s",
	},
	"string": {
		row: text, to: "bounded(%s)", from: "string(%s)",
		line: []string{"jsonText"}, toLine: "jsonText(%s)", fromLine: "string(%s)",
	},
	"time.Time": {
		row: "int64", to: "micros(%s)", from: "fromMicros(%s)",
		line: []string{"time.Time"}, toLine: "%s.UTC()", fromLine: "%s.UTC()", omit: "omitzero",
	},
	"time.Duration": {
		row: "int64", to: "int64(%s)", from: "time.Duration(%s)",
		line: []string{"jsonDuration"}, toLine: "jsonDuration(%s)", fromLine: "time.Duration(%s)",
	},
	"uri.URI": {
		row: text, to: "cbor.ByteString(%s.String())",
		line: []string{"uri.URI"}, toLine: "%s", fromLine: "%s",
	},
	"uri.HopPath": {
		row: text, to: "bounded(string(%s))", from: "uri.HopPath(%s)",
		line: []string{"jsonText"}, toLine: "jsonText(%s)", fromLine: "uri.HopPath(%s)",
	},
	"digest.Digest": {
		row: text, to: "sumBytes(%s)", from: "parseSum(%s)", fail: true,
		line: []string{"jsonDigest"}, toLine: "jsonDigest(%s)", fromLine: "digest.Digest(%s)", omit: "omitzero",
	},
	"digest.Origin": {
		row: "*originRow", to: "newOriginRow(%s)", from: "%s.origin()", fail: true,
		line: []string{"originLine"}, toLine: "newOriginLine(%s)", fromLine: "%s.value()", omit: "omitzero",
	},
	"digest.Comparison": {
		line:     []string{"comparisonLine"},
		toLine:   "comparisonLine{\njsonDigest(%s.Sum), jsonBits(%s.Rules), jsonBits(%s.Sketch),\n}",
		fromLine: "digest.Comparison{\nSum: digest.Digest(%s.Sum), Rules: uint64(%s.Rules), Sketch: uint64(%s.Sketch),\n}",
		omit:     "omitzero",
	},
	"evaluators.Ring": {
		row: text, to: "cbor.ByteString(%s.Bytes())", from: "evaluators.RingOf([]byte(%s))",
		line: []string{"[]byte"}, toLine: "%s.Bytes()", fromLine: "evaluators.RingOf(%s)",
	},
	"evaluators.Validators": {line: []string{"jsonText", "jsonText"}, toLine: "jsonText(%s)", fromLine: "string(%s)"},
}

// composites are types that are stored as several fields of a row: the parts, with their types and their names in a
// row.
var composites = map[string][]struct{ part, typ, row string }{
	"digest.Comparison": {
		{"Sum", "digest.Digest", "Comparison"},
		{"Rules", "uint64", "Rules"},
		{"Sketch", "uint64", "Sketch"},
	},
	"evaluators.Validators": {{"ETag", "string", "ETag"}, {"LastModified", "string", "LastModified"}},
}

// storedParts returns the fields of a row that hold a field.
func storedParts(f field) []stored {
	if len(f.keys) == 0 {
		return nil
	}
	parts, composite := composites[f.typ]
	if !composite {
		return []stored{{f.name, kinds[f.typ].row}}
	}
	var list []stored
	for _, p := range parts {
		list = append(list, stored{p.row, kinds[p.typ].row})
	}
	return list
}

// lineParts returns the names in the line struct that hold a field.
func lineParts(f field) []string {
	if len(kinds[f.typ].line) == 1 {
		return []string{f.name}
	}
	var list []string
	for _, p := range composites[f.typ] {
		list = append(list, p.part)
	}
	return list
}

// rowValue returns the expression that makes a stored value of a field.
func rowValue(f field, typ, value string) string {
	if limit, ok := f.option("max"); ok {
		return fmt.Sprintf("cbor.ByteString(%s[:min(len(%s), %s)])", value, value, limit)
	}
	if _, ok := f.option("whole"); ok {
		return "cbor.ByteString(" + value + ")"
	}
	return apply(kinds[typ].to, value)
}

// apply puts a value into an expression.
func apply(expression, value string) string { return strings.ReplaceAll(expression, "%s", value) }
