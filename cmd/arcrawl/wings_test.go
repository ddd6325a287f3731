package main

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/internal/slow"
)

// moduleRoot is the folder of the module.
const moduleRoot = "../.."

// deletable are the wings that can be deleted today. internal/house lists what ties the others in.
var deletable = []string{"fleet", "cluster", "lab", "render", "curator", "noise", "reports", "messages", "archive"}

// remaining are the libraries of the core that are in the folder of a wing, and stay when it is deleted. The wings
// curator and noise import the wing archive, so they are deleted before it.
var remaining = []string{"archive/index", "archive/warc"}

// TestAWingCanBeDeleted deletes wings and their lines in cmd/arcrawl/wings.go from a copy of the source, one after the
// other. The rest must build each time, and in the end crawl the demo. The tests of the core are compiled without any
// wing. They do not run: what compiles without wings is the same program with them.
func TestAWingCanBeDeleted(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	copied := copySource(t)
	for _, wing := range deletable {
		deleteWing(t, copied, wing)
		cutLines(t, filepath.Join(copied, "cmd/arcrawl/wings.go"), wing)
		goIn(t, copied, "vet", "-assign", "./cmd/arcrawl") // compiles what it imports, and links nothing
	}
	goIn(t, copied, "build", "-o", "arcrawl", "./cmd/arcrawl")
	core := slices.DeleteFunc(strings.Fields(goIn(t, copied, "list", "-e", "./...")), func(p string) bool {
		return strings.Contains(p, "/cmd/arcrawl") || strings.Contains(p, "/internal/") // which try wings too
	})
	goIn(t, copied, append([]string{"vet", "-assign"}, core...)...)
	demo := exec.Command(filepath.Join(copied, "arcrawl"), "demo", "--for", "4s", "--dir", t.TempDir())
	if out, err := demo.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("visits")) {
		t.Errorf("the demo of the program without %s: %v\n%s", strings.Join(deletable, " and "), err, out)
	}
}

// deleteWing deletes the folder of a wing but what remains.
func deleteWing(t *testing.T, copied, wing string) {
	t.Helper()
	list, err := os.ReadDir(filepath.Join(copied, wing))
	for _, e := range list {
		if name := wing + "/" + e.Name(); err == nil && !slices.Contains(remaining, name) {
			err = os.RemoveAll(filepath.Join(copied, name))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// goIn runs the go command in a folder, and returns its output. Nothing that it compiles has the name of this folder in
// it, so that it is compiled once for all copies.
func goIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-trimpath")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// copySource copies the module without pictures, and returns the folder of the copy.
func copySource(t *testing.T) string {
	t.Helper()
	to := t.TempDir()
	all, err := exec.Command("git", "-C", moduleRoot, "ls-files", "-z").Output()
	if err != nil {
		t.Fatalf("list the files of the repository: %v", err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(all), "\x00"), "\x00") {
		if strings.HasPrefix(name, "docs/pictures/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(moduleRoot, name))
		if os.IsNotExist(err) {
			continue // deleted and not committed yet
		}
		file := filepath.Join(to, name)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(file), 0o750)
		}
		if err == nil {
			err = os.WriteFile(file, text, 0o640)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// cutLines removes the import of a wing from a file, and each element of a list that names the wing.
func cutLines(t *testing.T, file, wing string) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	elements := 0
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			n.Specs = slices.DeleteFunc(n.Specs, func(s ast.Spec) bool {
				spec, ok := s.(*ast.ImportSpec)
				return ok && spec.Path.Value == strconv.Quote("github.com/arcrawl/arcrawl/"+wing)
			})
		case *ast.CompositeLit:
			before := len(n.Elts)
			n.Elts = slices.DeleteFunc(n.Elts, func(e ast.Expr) bool {
				_, is := e.(*ast.CompositeLit)
				return is && namesPackage(e, wing)
			})
			elements += before - len(n.Elts)
		}
		return true
	})
	if elements != 1 {
		t.Fatalf("%s has %d elements for the wing %s, want one", file, elements, wing)
	}
	var text bytes.Buffer
	if err := format.Node(&text, fset, f); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text.Bytes(), 0o640); err != nil {
		t.Fatal(err)
	}
}

// namesPackage reports whether an expression names something of a package.
func namesPackage(e ast.Expr, pkg string) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			x, ok := s.X.(*ast.Ident)
			found = found || ok && x.Name == pkg
		}
		return true
	})
	return found
}
