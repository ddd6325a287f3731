package faultdisk

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
)

// ErrorPath is a branch in our source that is taken if an operation on files has failed: the operation itself, a write
// to the store, or a function of the same packages that does one of them.
type ErrorPath struct {
	Room string // the folder of its package
	Func string // the function that has it
	Text string // the call that may fail, such as "f.Sync"
	File string // with the folder
	Line int    // of the first statement of the branch
	Col  int
}

// String returns the path without its line, so that it stays the same when other lines change.
func (p ErrorPath) String() string { return p.Room + " " + p.Func + ": " + p.Text }

// ErrorPaths lists the error paths of packages of this module, which is in the folder root. An error that is returned
// without a condition has no branch; the branch of the caller is listed.
func ErrorPaths(root string, rooms ...string) ([]ErrorPath, error) {
	packages, err := load(root, rooms)
	if err != nil {
		return nil, err
	}
	failing := failingFunctions(packages)
	var found []ErrorPath
	for _, p := range packages {
		for fn := range p.functions {
			b := branches{source: p, name: fn.Name.Name, failing: failing, cause: map[types.Object]string{}}
			ast.Inspect(fn.Body, b.visit)
			found = append(found, b.found...)
		}
	}
	return found, nil
}

// functions calls yield with each function that has a body.
func (p source) functions(yield func(*ast.FuncDecl) bool) {
	for _, f := range p.files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && !yield(fn) {
				return
			}
		}
	}
}

// failingFunctions returns the functions that return an error and operate on files, also by calling one that does.
func failingFunctions(packages []source) map[string]bool {
	failing := map[string]bool{}
	for before := -1; before < len(failing); {
		before = len(failing)
		for _, p := range packages {
			for fn := range p.functions {
				f := p.info.Defs[fn.Name].(*types.Func)
				if returnsError(f) && p.operation(fn.Body, failing) != "" {
					failing[f.FullName()] = true
				}
			}
		}
	}
	return failing
}

func isError(t types.Type) bool { return t != nil && t.String() == "error" }

func returnsError(f *types.Func) bool {
	for v := range f.Signature().Results().Variables() {
		if isError(v.Type()) {
			return true
		}
	}
	return false
}

// storeWrites are the methods of Badger that write.
var storeWrites = []string{"Update", "Commit", "Flush", "Sync"}

// operation returns the first call in a piece of source that operates on files, or "".
func (p source) operation(n ast.Node, failing map[string]bool) (text string) {
	ast.Inspect(n, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || text != "" {
			return text == ""
		}
		_, is := siteOf(call, p.info)
		name := ast.Unparen(call.Fun)
		if sel, ok := name.(*ast.SelectorExpr); ok {
			name = sel.Sel
		}
		id, _ := name.(*ast.Ident)
		if f, ok := p.info.Uses[id].(*types.Func); ok && !is {
			full := f.Origin().FullName()
			is = failing[full] || strings.Contains(full, "dgraph-io/badger/v4.") && slices.Contains(storeWrites, f.Name())
		}
		if is {
			text = types.ExprString(call.Fun)
		}
		return !is
	})
	return text
}

// branches finds the error paths of a function.
type branches struct {
	source
	name    string
	failing map[string]bool
	cause   map[types.Object]string // the operation from which a variable has its error; "" if it is not one
	found   []ErrorPath
}

// visit reads the source of the function in its order.
func (b *branches) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		b.assign(n)
	case *ast.IfStmt:
		b.assign(n.Init)
		otherwise, _ := n.Else.(*ast.BlockStmt)
		b.check(n.Cond, n.Body.List, otherwise)
	case *ast.SwitchStmt:
		b.assign(n.Init)
		for _, s := range n.Body.List {
			c := s.(*ast.CaseClause)
			for _, cond := range c.List {
				b.check(cond, c.Body, nil)
			}
		}
	}
	return true
}

// assign notes from which operations variables have their errors.
func (b *branches) assign(s ast.Stmt) {
	a, ok := s.(*ast.AssignStmt)
	if !ok {
		return
	}
	for i, name := range a.Lhs {
		o := b.variable(name)
		if o == nil || !isError(o.Type()) {
			continue
		}
		value := a.Rhs[min(i, len(a.Rhs)-1)]
		if text := b.operation(value, b.failing); text != "" || !b.mentions(value, o) {
			b.cause[o] = text
		}
	}
}

// variable returns the variable that an expression is, or nil.
func (b *branches) variable(e ast.Expr) types.Object {
	id, ok := e.(*ast.Ident)
	if !ok {
		return nil
	}
	if o := b.info.Defs[id]; o != nil {
		return o
	}
	return b.info.Uses[id]
}

// mentions reports whether a value contains a variable, as errors.Join(err, other) does.
func (b *branches) mentions(value ast.Expr, o types.Object) bool {
	found := false
	ast.Inspect(value, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && b.info.Uses[id] == o
		return true
	})
	return found
}

// check adds the branch that is taken if a condition says that there is an error.
func (b *branches) check(cond ast.Expr, then []ast.Stmt, otherwise *ast.BlockStmt) {
	c, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	switch {
	case !ok:
	case c.Op == token.LAND:
		b.check(c.X, then, nil)
		b.check(c.Y, then, nil)
	case !isError(b.info.TypeOf(c.X)) || types.ExprString(c.Y) != "nil":
	case c.Op == token.NEQ:
		b.add(c.X, then)
	case c.Op == token.EQL && otherwise != nil:
		b.add(c.X, otherwise.List)
	}
}

func (b *branches) add(failed ast.Expr, body []ast.Stmt) {
	text := b.operation(failed, b.failing)
	if o := b.variable(failed); o != nil {
		text = b.cause[o]
	}
	if text == "" || len(body) == 0 {
		return
	}
	at := b.fset.Position(body[0].Pos())
	b.found = append(b.found, ErrorPath{
		Room: b.room, Func: b.name, Text: text,
		File: b.room + "/" + filepath.Base(at.Filename), Line: at.Line, Col: at.Column,
	})
}
