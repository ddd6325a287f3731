package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// field is a field of Entry, Record or History.
type field struct {
	name, typ string
	of        string // the struct that declares it
	keys      []int  // none: it is only exported
	options   []string
	exports   []string // names in an export
}

// option returns what follows an option in the tag of a field: "" for "whole", the limit for "max=LIMIT".
func (f field) option(name string) (value string, ok bool) {
	for _, o := range f.options {
		if before, after, _ := strings.Cut(o, "="); before == name {
			return after, true
		}
	}
	return "", false
}

// rowField is a field of a struct that is stored as a row.
type rowField struct {
	name, typ string
	key       int
	always    bool // stored even if it is zero
}

// declaration holds the declarations of the package.
type declaration struct {
	fields []field
	rows   map[string][]rowField // by the name of the struct
}

// Structs whose codec is generated too. Their fields have tags for the general decoder.
var (
	wholeRows  = []string{"hostRow"}
	nestedRows = []string{"originRow"}    // fields of others
	partRows   = []string{"contenderRow"} // read some fields of a uriRow, without a copy of the row
)

// readPackage reads the declarations from the source of package frontier.
func readPackage(dir string) (declaration, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return declaration{}, err
	}
	structs := map[string]*ast.StructType{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, suffix) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return declaration{}, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if t, ok := n.(*ast.TypeSpec); ok {
				if s, ok := t.Type.(*ast.StructType); ok {
					structs[t.Name.Name] = s
				}
			}
			return true
		})
	}
	d := declaration{rows: map[string][]rowField{}}
	for _, name := range []string{"Record", "History", "Entry"} {
		if err := d.readFields(name, structs[name]); err != nil {
			return declaration{}, err
		}
	}
	for _, name := range slices.Concat(wholeRows, nestedRows, partRows) {
		if err := d.readRow(name, structs[name]); err != nil {
			return declaration{}, err
		}
	}
	return d, d.check()
}

// readFields reads the tagged fields of one struct.
func (d *declaration) readFields(name string, s *ast.StructType) error {
	if s == nil {
		return fmt.Errorf("type %s is missing", name)
	}
	for _, line := range s.Fields.List {
		if len(line.Names) == 0 { // embedded
			continue
		}
		tag := tagOf(line)
		export := tag.Get("export")
		if len(line.Names) != 1 || export == "" {
			return fmt.Errorf("%s.%s: want one field with a tag export on each line", name, line.Names[0])
		}
		f := field{name: line.Names[0].Name, typ: types.ExprString(line.Type), of: name, exports: strings.Fields(export)}
		parts := strings.Split(tag.Get("row"), ",")
		f.options = parts[1:]
		for _, text := range strings.Fields(parts[0]) {
			key, err := strconv.Atoi(text)
			if err != nil {
				return fmt.Errorf("%s.%s: %w", name, f.name, err)
			}
			f.keys = append(f.keys, key)
		}
		d.fields = append(d.fields, f)
	}
	return nil
}

// readRow reads a struct that is stored as a row by its tags for the general decoder.
func (d *declaration) readRow(name string, s *ast.StructType) error {
	if s == nil {
		return fmt.Errorf("type %s is missing", name)
	}
	for _, line := range s.Fields.List {
		parts := strings.Split(tagOf(line).Get("cbor"), ",")
		key, err := strconv.Atoi(parts[0])
		if err != nil || len(line.Names) != 1 {
			return fmt.Errorf("%s: want one field with a tag cbor on each line", name)
		}
		d.rows[name] = append(d.rows[name], rowField{
			name: line.Names[0].Name, typ: types.ExprString(line.Type), key: key, always: !slices.Contains(parts, "omitempty"),
		})
	}
	return nil
}

func tagOf(line *ast.Field) reflect.StructTag {
	if line.Tag == nil {
		return ""
	}
	text, err := strconv.Unquote(line.Tag.Value)
	if err != nil {
		return ""
	}
	return reflect.StructTag(text)
}

// writtenFirst are the keys that the first formats did not write in ascending order. The order of bytes never changes.
// Keys that are not listed follow in ascending order.
var writtenFirst = []int{
	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 31, 40, 30,
	80, 85, 50, 51, 52, 53, 54, 55,
}

// exportedFirst are the names that come first in an export. Others follow in the order of their declaration.
var exportedFirst = []string{"uri", "hops", "via", "seed", "due", "held", "forbidden", "in_progress"}

// uriRow returns the fields of the stored form of a record, in the order in which they are written.
func (d *declaration) uriRow() []rowField {
	var list []rowField
	for _, f := range d.fields {
		for i, s := range storedParts(f) {
			list = append(list, rowField{name: s.name, typ: s.typ, key: f.keys[i], always: f.typ == "uri.URI"})
		}
	}
	rank := func(w rowField) int {
		if i := slices.Index(writtenFirst, w.key); i >= 0 {
			return i
		}
		return len(writtenFirst) + w.key
	}
	slices.SortFunc(list, func(a, b rowField) int { return cmp.Compare(rank(a), rank(b)) })
	return list
}

// exported returns the fields in the order of an export.
func (d *declaration) exported() []field {
	list := slices.Clone(d.fields)
	slices.SortStableFunc(list, func(a, b field) int {
		i, j := slices.Index(exportedFirst, a.exports[0]), slices.Index(exportedFirst, b.exports[0])
		return cmp.Compare(uint(i), uint(j)) // -1, for not listed, is larger than all
	})
	return list
}

// check makes sure that every key and name is used once, and that parts of rows agree with the whole.
func (d *declaration) check() error {
	var errs []error
	names := map[string]bool{}
	for _, f := range d.fields {
		if kinds[f.typ].line == nil {
			errs = append(errs, fmt.Errorf("%s.%s: rowgen does not know the type %s", f.of, f.name, f.typ))
		} else if want := len(storedParts(f)); len(f.keys) != want {
			errs = append(errs, fmt.Errorf("%s.%s: %d keys, want %d", f.of, f.name, len(f.keys), want))
		}
		for _, name := range f.exports {
			if names[name] {
				errs = append(errs, fmt.Errorf("%s.%s: the name %s is used twice", f.of, f.name, name))
			}
			names[name] = true
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	whole, keys := d.uriRow(), map[int]bool{}
	for _, w := range whole {
		if keys[w.key] {
			errs = append(errs, fmt.Errorf("%s: the key %d is used twice", w.name, w.key))
		}
		keys[w.key] = true
	}
	for _, name := range partRows {
		for _, part := range d.rows[name] {
			if !slices.Contains(whole, part) {
				errs = append(errs, fmt.Errorf("%s.%s: uriRow has no such field", name, part.name))
			}
		}
	}
	return errors.Join(errs...)
}
