package faultdisk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Site is a place in our source that opens, writes, syncs, names or removes files.
type Site struct {
	Room string // the folder of its package
	Func string // the function that has it
	Text string // what it calls, such as "f.disk.Sync"
	File string // with the folder
	Line int
	By   []string // the system calls that it may make; nil = any
}

// String returns the site without its line, so that it stays the same when other lines change.
func (s Site) String() string { return s.Room + " " + s.Func + ": " + s.Text }

// Makes reports whether the site has made a call.
func (s Site) Makes(c Call) bool {
	return (s.By == nil || slices.Contains(s.By, c.Name)) && slices.Contains(c.Stack, fmt.Sprintf("%s:%d", s.File, s.Line))
}

// functions are the functions of packages that are sites, and the calls by which they do what they are called for.
var functions = map[string][]string{
	"os.Open": {"openat"}, "os.OpenFile": {"openat"}, "os.Create": {"openat"}, "os.CreateTemp": {"openat"},
	"os.ReadFile": {"openat"}, "os.ReadDir": {"openat"}, "os.WriteFile": nil,
	"os.Rename": {"renameat"}, "os.Remove": {"unlinkat"}, "os.RemoveAll": {"unlinkat"}, "os.Link": {"linkat"},
	"os.Mkdir": {"mkdirat"}, "os.MkdirAll": {"mkdirat"}, "os.Truncate": nil, "os.Chmod": {"fchmodat"},
	"os.Chown": {"fchownat"}, "io.Copy": {"write", "pwrite64", "copy_file_range"},
	"unix.Open": {"openat"}, "unix.Fdatasync": {"fdatasync"}, "unix.Fallocate": {"fallocate"},
	"badger.Open": nil, "z.OpenMmapFile": {"openat"},
}

// methods are the methods of files that are sites.
var methods = map[string][]string{
	"Sync": {"fsync"}, "Truncate": {"ftruncate"}, "Close": {"close"}, "Chmod": {"fchmod"},
	"Write": {"write"}, "WriteString": {"write"}, "WriteAt": {"pwrite64"},
}

// files are the types whose methods are sites.
var files = []string{
	"*os.File", "io.WriterAt", module + "warcout.storage", "*" + module + "internal/fileio.File",
	"*" + module + "internal/fileio.Text", "*github.com/dgraph-io/badger/v4.DB",
}

// Sites lists the sites of packages of this module, which is in the folder root.
func Sites(root string, rooms ...string) ([]Site, error) {
	packages, err := load(root, rooms)
	if err != nil {
		return nil, err
	}
	var found []Site
	for _, p := range packages {
		for _, f := range p.files {
			found = append(found, p.sitesIn(f)...)
		}
	}
	return found, nil
}

// source is the source of a package, without tests.
type source struct {
	room  string
	fset  *token.FileSet
	files []*ast.File
	info  *types.Info
}

// load reads packages of this module and determines their types.
func load(root string, rooms []string) ([]source, error) {
	exported, err := exports(root, rooms)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	open := func(path string) (io.ReadCloser, error) { return os.Open(exported[path]) }
	imports := importer.ForCompiler(fset, "gc", open)
	var found []source
	for _, room := range rooms {
		names, err := filepath.Glob(filepath.Join(root, room, "*.go"))
		if err != nil {
			return nil, err
		}
		p := source{room: room, fset: fset, info: &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{},
			Defs: map[*ast.Ident]types.Object{},
		}}
		for _, name := range names {
			elsewhere := func(end string) bool { return strings.HasSuffix(name, end) }
			if slices.ContainsFunc([]string{"_test.go", "_other.go", "_notlinux.go"}, elsewhere) {
				continue
			}
			f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			p.files = append(p.files, f)
		}
		conf := types.Config{Importer: imports}
		if _, err := conf.Check(module+room, fset, p.files, p.info); err != nil {
			return nil, fmt.Errorf("check %s: %w", room, err)
		}
		found = append(found, p)
	}
	return found, nil
}

// exports returns the files with what packages export, by path.
func exports(root string, rooms []string) (map[string]string, error) {
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export")
	for _, room := range rooms {
		list.Args = append(list.Args, "./"+room)
	}
	list.Dir = root
	var fault bytes.Buffer
	list.Stderr = &fault
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, fault.String())
	}
	found := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, err
		}
		found[p.ImportPath] = p.Export
	}
}

// sitesIn lists the sites of a file.
func (p source) sitesIn(f *ast.File) []Site {
	var found []Site
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			by, is := siteOf(call, p.info)
			if !is {
				return true
			}
			at := p.fset.Position(call.Pos())
			found = append(found, Site{
				Room: p.room, Func: fn.Name.Name, Text: types.ExprString(call.Fun), Line: at.Line, By: by,
				File: p.room + "/" + filepath.Base(at.Filename),
			})
			return true
		})
	}
	return found
}

// siteOf returns the system calls that a call in the source may make. is is false if it is not a site.
func siteOf(call *ast.CallExpr, info *types.Info) (by []string, is bool) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil, false
	}
	if pkg, ok := sel.X.(*ast.Ident); ok {
		if name, ok := info.Uses[pkg].(*types.PkgName); ok {
			if strings.HasSuffix(name.Imported().Path(), "internal/fileio") {
				return nil, !strings.HasSuffix(sel.Sel.Name, "Lock")
			}
			by, is = functions[name.Imported().Name()+"."+sel.Sel.Name]
			if is && name.Imported().Name() == "io" { // into a file
				is = slices.Contains(files, info.TypeOf(call.Args[0]).String()) ||
					info.TypeOf(call.Args[0]).String() == "*io.OffsetWriter"
			}
			return by, is
		}
	}
	by, is = methods[sel.Sel.Name]
	if t := info.TypeOf(sel.X); is && t != nil && slices.Contains(files, t.String()) {
		if strings.HasSuffix(t.String(), "badger/v4.DB") {
			by = nil
		}
		return by, true
	}
	return nil, false
}
