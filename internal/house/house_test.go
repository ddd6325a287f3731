package house_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// module is the import path of the root folder.
const module = "github.com/arcrawl/arcrawl"

// rule is one law of the house.
type rule struct {
	name string
	why  string // what would go wrong without it; printed with every breach
	find func(tree) []breach
}

// breach is a place where a rule is broken.
type breach struct {
	pos  token.Position
	what string
}

func (b breach) String() string { return fmt.Sprintf("%s:%d: %s", b.pos.Filename, b.pos.Line, b.what) }

// tree is the source of all rooms.
type tree struct {
	fset  *token.FileSet
	files []source
}

// source is one parsed Go file.
type source struct {
	*ast.File
	name string // path from the root, with slashes: "frontier/claim.go"
	room string // its folder: "frontier", "cmd/arcrawl"
	text string
	test bool
}

// TestTheHouseRules applies every rule to the whole repository.
func TestTheHouseRules(t *testing.T) {
	t.Parallel()
	all := repository(t)
	if len(all.files) < 20 {
		t.Fatalf("found only %d Go files from %s: this test looks at the wrong folder", len(all.files), root)
	}
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			breaches, idle := forgive(r, r.find(all))
			for _, b := range breaches {
				t.Error(b)
			}
			for _, p := range idle {
				t.Errorf("%s needs no pardon any more for %q: remove it from rules_test.go", p.file, p.what)
			}
			if len(breaches) > 0 {
				t.Logf("why this is a rule: %s", r.why)
			}
		})
	}
}

// pardon permits one breach, for a reason.
type pardon struct {
	rule, file, what string // what is part of the breach's text
	reason           string
}

// forgive removes the breaches that have a pardon, and lists the pardons that match no breach.
func forgive(r rule, breaches []breach) (left []breach, idle []pardon) {
	for _, p := range pardons {
		if p.rule != r.name {
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(breaches), func(b breach) bool {
			return b.pos.Filename == p.file && strings.Contains(b.what, p.what)
		})
		if len(rest) == len(breaches) {
			idle = append(idle, p)
		}
		breaches = rest
	}
	return breaches, idle
}

// root is the folder of the module, seen from this one.
const root = "../.."

// repository returns the source of all rooms. It is parsed once for all tests, which do not change it.
func repository(t *testing.T) tree {
	t.Helper()
	all, err := parsed()
	must(t, err)
	return all
}

var parsed = sync.OnceValues(parseRepository)

// parseRepository parses every Go file below the root, except in folders that the go command skips too.
func parseRepository() (tree, error) {
	all := tree{fset: token.NewFileSet()}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && file != root {
			hidden := strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_")
			if hidden || slices.Contains([]string{"testdata", "node_modules", "bin", "work"}, d.Name()) {
				return filepath.SkipDir
			}
		}
		if d.IsDir() || path.Ext(file) != ".go" {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		return all.add(filepath.ToSlash(name), string(text))
	})
	return all, err
}

// add parses one file into the tree.
func (all *tree) add(name, text string) error {
	file, err := parser.ParseFile(all.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("parse %s: %w", name, err)
	}
	all.files = append(all.files, source{File: file, name: name, room: path.Dir(name), text: text, test: strings.HasSuffix(name, "_test.go")})
	return nil
}

// at returns a breach at the position of a node.
func (all tree) at(n ast.Node, format string, args ...any) breach {
	return breach{pos: all.fset.Position(n.Pos()), what: fmt.Sprintf(format, args...)}
}

// inspect walks through all code that is not a test, and collects the breaches that see returns for each node.
func (all tree) inspect(see func(f source, n ast.Node) []breach) []breach {
	var found []breach
	for _, f := range all.files {
		if f.test {
			continue
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			if n != nil {
				found = append(found, see(f, n)...)
			}
			return true
		})
	}
	return found
}

// rooms lists the folders that have code other than tests.
func (all tree) rooms() []string {
	var list []string
	for _, f := range all.files {
		if !f.test && !slices.Contains(list, f.room) {
			list = append(list, f.room)
		}
	}
	return list
}

// imported is the path of an import, and its name in the file.
type imported struct {
	spec *ast.ImportSpec
	path string
	name string // the last element of the path, unless the file names it; a version suffix is skipped
}

func (f source) imports() []imported {
	var list []imported
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the compiler will say so
		}
		name := path.Base(p)
		if v, ok := strings.CutPrefix(name, "v"); ok {
			if _, err := strconv.Atoi(v); err == nil {
				name = path.Base(path.Dir(p))
			}
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		list = append(list, imported{spec: spec, path: p, name: name})
	}
	return list
}

// uses reports whether a node names something of another package, such as time.Now. It resolves the file's own name for
// that package.
func (f source) uses(n ast.Node) (pkg, name string, ok bool) {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return "", "", false
	}
	x, ok := sel.X.(*ast.Ident)
	if !ok {
		return "", "", false
	}
	for _, im := range f.imports() {
		if im.name == x.Name {
			return im.path, sel.Sel.Name, true
		}
	}
	return "", "", false
}

// matches reports whether a room or file is on a list. An entry that ends in a slash covers everything below it.
func matches(list []string, name string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		if strings.HasSuffix(entry, "/") {
			return strings.HasPrefix(name+"/", entry)
		}
		return entry == name
	})
}

// check resolves the names of one room. Imports are not loaded. Names of other packages stay unknown, which is enough
// to recognize package variables.
func (all tree) check(room string) (*types.Package, *types.Info, []source) {
	var files []source
	var parsed []*ast.File
	for _, f := range all.files {
		if f.room == room && !f.test {
			files, parsed = append(files, f), append(parsed, f.File)
		}
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: unknown{}, Error: func(error) {}}
	pkg, _ := conf.Check(module+"/"+room, all.fset, parsed, info) // errors are expected: see above
	return pkg, info, files
}

// unknown is the importer that loads no package except unsafe.
type unknown struct{}

func (unknown) Import(p string) (*types.Package, error) {
	if p == "unsafe" {
		return importer.Default().Import(p)
	}
	return nil, errors.New("not loaded")
}
