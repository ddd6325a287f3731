// Package routetest checks tables of routes: of the core, and of what wings add to the API.
package routetest

import (
	"encoding"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/frontier"
)

// OpenAPI compares a file of the package that is tested with the document that describes routes. An addition to the
// document of the core has only paths and schemas. With -update it writes the file. The comments of the types are read
// from Go files of the core, below root, and from those that the patterns own name.
func OpenAPI(t *testing.T, file string, routes []admin.Route, addition, update bool, root string, own ...string) {
	t.Helper()
	var patterns []string
	for _, of := range ofCore {
		patterns = append(patterns, root+of)
	}
	d := describer{t: t, docs: comments(t, append(patterns, own...)), schemas: object{}}
	described := d.describe(routes)
	if addition {
		described = object{"paths": described["paths"], "components": object{"schemas": d.schemas}}
	}
	want, err := json.MarshalIndent(described, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs from the routes; run go test here with -run OpenAPI -update (-routes +file):\n%s", file, diff)
	}
}

// ofCore are patterns of the files with the types of answers. The API may describe a type otherwise than its package.
var ofCore = []string{
	"config/about.go", "config/diff.go", "config/schema/fault.go", "aspects/spaces/*.go", "frontier/operator_*.go",
	"crawler/whatif/*.go", "admin/api/*.go",
}

// object is a JSON object. Its keys are sorted when it is written.
type object map[string]any

// describe returns the OpenAPI document.
func (d describer) describe(routes []admin.Route) object {
	paths := object{}
	for _, r := range routes {
		on, ok := paths[r.Path].(object)
		if !ok {
			on = object{}
			paths[r.Path] = on
		}
		on[strings.ToLower(r.Method)] = d.operation(r)
	}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "arcrawl", "version": "1",
			"description": "Shows and steers a running crawl. Served on the unix socket that admin.socket names, and, if " +
				"admin.listen is set, on that address to those who send a token. Some requests need the role curate or operate, as " +
				"they say; all others need read. " +
				"Durations are numbers of seconds, times are RFC 3339 in UTC, sizes are bytes.",
		},
		"paths": paths,
		"components": object{"schemas": d.schemas, "securitySchemes": object{"token": object{
			"type": "http", "scheme": "bearer", "description": "Not asked for on the unix socket.",
		}}},
		"security": []object{{"token": []string{}}},
	}
}

type describer struct {
	t       *testing.T
	docs    map[string]string // comments by type or field, such as "Status" and "Status.Version"
	schemas object
}

// snakeCase matches the names of fields in JSON.
var snakeCase = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

var inPath = regexp.MustCompile(`\{([a-z]+)\}`)

func (d describer) operation(r admin.Route) object {
	op := object{"summary": r.Doc, "operationId": operationID(r)}
	if r.Role() > access.Read {
		op["description"] = "Needs the role " + r.Role().String() + "."
	}
	var params []object
	for _, p := range r.Params {
		in := "query"
		if strings.Contains(r.Path, "{"+p.Name+"}") {
			in = "path"
		}
		params = append(params, object{
			"name": p.Name, "in": in, "required": in == "path", "description": p.Doc, "schema": object{"type": p.Kind},
		})
	}
	if params != nil {
		op["parameters"] = params
	}
	content := func(t reflect.Type) object {
		return object{"application/json": object{"schema": d.schema(t)}}
	}
	if r.Body != nil {
		op["requestBody"] = object{"content": content(reflect.TypeOf(r.Body))}
	}
	op["responses"] = object{
		"200": object{"description": "Granted.", "content": content(reflect.TypeOf(r.Answer))},
		"default": object{
			"description": "Not granted, and why.", "content": content(reflect.TypeFor[api.Problem]()),
		},
	}
	return op
}

func operationID(r admin.Route) string {
	name := strings.TrimPrefix(inPath.ReplaceAllString(r.Path, "$1"), api.Base+"/")
	return strings.ToLower(r.Method) + "_" + strings.NewReplacer("/", "_", "-", "_").Replace(name)
}

// schema returns the schema of a type. A struct is described once and referred to elsewhere.
func (d describer) schema(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[api.Seconds]():
		return object{"type": "number"}
	case reflect.TypeFor[frontier.Entry]():
		return object{
			"type":        "object",
			"description": "A URI with all that is remembered of it, as a line of arcrawl frontier list --output.",
		}
	case reflect.TypeFor[json.RawMessage]():
		return object{"description": "Any JSON value."}
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	}
	if t.Kind() != reflect.Pointer && t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return object{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.schema(t.Elem())
	case reflect.Slice, reflect.Array:
		return object{"type": "array", "items": d.schema(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": d.schema(t.Elem())}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Struct:
		if _, known := d.schemas[t.Name()]; !known {
			d.schemas[t.Name()] = nil // the type may refer to itself
			d.schemas[t.Name()] = d.fields(t)
		}
		return object{"$ref": "#/components/schemas/" + t.Name()}
	}
	d.t.Fatalf("%s has no schema", t)
	return nil
}

func (d describer) fields(t reflect.Type) object {
	properties := object{}
	var required []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		if f.Anonymous && name == "" { // its fields are fields of t
			own := d.fields(f.Type)
			maps.Copy(properties, own["properties"].(object))
			more, _ := own["required"].([]string)
			required = append(required, more...)
			continue
		}
		if !snakeCase.MatchString(name) {
			d.t.Errorf("%s.%s has the name %q in JSON; write it in lower case, with _ between words", t.Name(), f.Name, name)
		}
		s := d.schema(f.Type)
		if doc := d.docs[t.Name()+"."+f.Name]; doc != "" {
			s["description"] = doc
		}
		properties[name] = s
		if rest != "omitempty" && f.Type.Kind() != reflect.Pointer {
			required = append(required, name)
		}
	}
	out := object{"type": "object", "properties": properties, "description": d.docs[t.Name()]}
	if required != nil {
		out["required"] = required
	}
	return out
}

// comments returns the comments of types and fields in the source.
func comments(t *testing.T, patterns []string) map[string]string {
	t.Helper()
	docs := map[string]string{}
	var files []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range f.Decls {
			g, ok := decl.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, spec := range g.Specs {
				collect(docs, g, spec.(*ast.TypeSpec))
			}
		}
	}
	return docs
}

func collect(docs map[string]string, g *ast.GenDecl, spec *ast.TypeSpec) {
	flat := func(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }
	docs[spec.Name.Name] = flat(g.Doc)
	s, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range s.Fields.List {
		for _, name := range f.Names {
			docs[spec.Name.Name+"."+name.Name] = strings.TrimSpace(flat(f.Doc) + " " + flat(f.Comment))
		}
	}
}
