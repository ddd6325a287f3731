package house_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"
)

// floors lists each room's floor. Imports only ever go down.
var floors = map[string]int{
	"uri": 0, "digest": 0,
	"evaluators": 1,
	"config":     2, "frontier": 2, "fetch": 2, "robots": 2, "discover": 2, "warcout": 2, "dedup": 2, "trust": 2, "traps": 2, "kin": 2, "accounts": 2, "crawllog": 2, "feeds": 2, "websub": 2,
	"crawler": 3, "sim": 3, "archive": 3, "logstats": 3,
	"admin":       4,
	"cmd/arcrawl": 5,
}

// outside are the folders that are not rooms: what is in them may know every room, and no room knows it.
var outside = []string{"internal/", "examples/"}

// Who may do what the others may not.
var (
	mayGo   = []string{"crawler/run.go", "archive/workers.go", "logstats/workers.go", "cmd/arcrawl/", "internal/", "examples/"} // files
	mayNow  = []string{"crawler", "fetch", "cmd/arcrawl", "internal/", "examples/"}
	clock   = []string{"Now", "Since", "Until", "Sleep", "After", "Tick", "NewTimer", "NewTicker", "AfterFunc"}
	expires = []string{"WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause"}
)

// The bounds that keep code readable at a screen.
const (
	maxFunction = 60
	maxFile     = 500
)

var rules = []rule{
	{"floors", "rooms on a floor can be understood, tested and replaced without those above; an import upwards or sideways ends that", floorsOnlyDown},
	{"internal stays inside", "internal/ holds invented worlds for tests and the demo; a room that needs one of them would ship it", internalOnlyForTests},
	{"goroutines", "every goroutine has an owner that waits for it; only the crawler and main have a place to wait", goroutinesAtTheTop},
	{"clock", "time is an argument, so that months can be played in seconds and every decision can be repeated", clockIsAnArgument},
	{"no init", "what runs before main has no order that can be read and no way to fail", noInit},
	{"nothing global is written", "a package variable that changes is an input and an output that no signature shows, and a race besides", nothingGlobal},
	{"length", "a function that does not fit on a screen, or a file that is more than one noun, is not read but searched", lengths},
	{"documentation", "a room is used by those who read only its go doc", documented},
	{"package comment", "go doc of the room has to say what it is for, its states, its life cycle and what always holds", introduced},
	{"no loose ends", "what is left to do stands where work is planned; a test that is skipped says why", noLooseEnds},
	{"doors", "each room touches the outside at one door only; what the program does to disk and network can then be seen from its imports", onlyTheirDoors},
}

// pardons are the breaches that stand. A pardon that has become needless makes the test fail.
var pardons = []pardon{
	{
		"goroutines", "fetch/exchange.go", "AfterFunc",
		"interrupts reading and writing when the context ends; it is called off before the exchange returns",
	},
}

// floorsOnlyDown also finds rooms that have been given no floor.
func floorsOnlyDown(all tree) []breach {
	var found []breach
	for _, f := range all.files {
		if f.test || matches(outside, f.room) {
			continue
		}
		floor, ok := floorOf(f.room)
		if !ok {
			found = append(found, all.at(f.Name, "the folder %s is no room of the house: give it a floor in rules_test.go", f.room))
			continue
		}
		for _, im := range f.imports() {
			dep, ours := strings.CutPrefix(im.path, module+"/")
			below, known := floorOf(dep)
			if ours && known && below >= floor {
				found = append(found, all.at(im.spec, "%s (floor %d) imports %s (floor %d)", f.room, floor, dep, below))
			}
		}
	}
	return found
}

// floorOf finds the floor of a room or of a folder inside one.
func floorOf(room string) (int, bool) {
	for ; room != "." && room != "/"; room = path.Dir(room) {
		if floor, ok := floors[room]; ok {
			return floor, true
		}
	}
	return 0, false
}

func internalOnlyForTests(all tree) []breach {
	var found []breach
	for _, f := range all.files {
		if f.test || matches([]string{"cmd/", "internal/", "examples/"}, f.room) {
			continue
		}
		for _, im := range f.imports() {
			if strings.HasPrefix(im.path, module+"/internal/") {
				found = append(found, all.at(im.spec, "%s imports %s outside a test", f.room, strings.TrimPrefix(im.path, module+"/")))
			}
		}
	}
	return found
}

// goroutinesAtTheTop finds go statements, and the Go methods of sync.WaitGroup, errgroup.Group and their like.
func goroutinesAtTheTop(all tree) []breach {
	return all.inspect(func(f source, n ast.Node) []breach {
		if matches(mayGo, f.name) {
			return nil
		}
		switch n := n.(type) {
		case *ast.GoStmt:
			return []breach{all.at(n, "a goroutine is started here")}
		case *ast.SelectorExpr:
			pkg, name, _ := f.uses(n)
			if pkg == "" && n.Sel.Name == "Go" || pkg == "context" && name == "AfterFunc" {
				return []breach{all.at(n, "%s starts a goroutine here", n.Sel.Name)}
			}
		}
		return nil
	})
}

func clockIsAnArgument(all tree) []breach {
	return all.inspect(func(f source, n ast.Node) []breach {
		if matches(mayNow, f.room) {
			return nil
		}
		pkg, name, _ := f.uses(n)
		if pkg == "time" && slices.Contains(clock, name) || pkg == "context" && slices.Contains(expires, name) {
			return []breach{all.at(n, "%s.%s asks the clock", pkg, name)}
		}
		return nil
	})
}

func noInit(all tree) []breach {
	return all.inspect(func(_ source, n ast.Node) []breach {
		if fn, ok := n.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			return []breach{all.at(n, "func init")}
		}
		return nil
	})
}

// nothingGlobal finds package variables that are assigned to, that have their address taken, or whose type is made to
// be changed (sync, sync/atomic); and assignments to the package variables of others. It does not see a change through
// a method or a function that is handed a slice or map.
func nothingGlobal(all tree) []breach {
	var found []breach
	for _, room := range all.rooms() {
		pkg, info, files := all.check(room)
		for _, f := range files {
			ast.Inspect(f.File, func(n ast.Node) bool {
				for _, x := range written(n) {
					if what := global(f, pkg, info, x); what != "" {
						found = append(found, all.at(x, "the package variable %s is written", what))
					}
				}
				return true
			})
			found = append(found, all.changeable(f)...)
		}
	}
	return found
}

// written lists the expressions that a node changes, or lets others change.
func written(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return []ast.Expr{n.X}
		}
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			return slices.DeleteFunc([]ast.Expr{n.Key, n.Value}, func(x ast.Expr) bool { return x == nil })
		}
	case *ast.CallExpr:
		if fn, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 0 && slices.Contains([]string{"delete", "clear", "copy"}, fn.Name) {
			return n.Args[:1]
		}
	}
	return nil
}

// global names the package variable that an expression is, or is a part of; "" if it is something else.
func global(f source, pkg *types.Package, info *types.Info, x ast.Expr) string {
	for {
		if other, name, ok := f.uses(x); ok && info.Uses[x.(*ast.SelectorExpr).X.(*ast.Ident)] == nil {
			return other + "." + name
		}
		switch e := x.(type) {
		case *ast.ParenExpr:
			x = e.X
		case *ast.SelectorExpr:
			if id, ok := e.X.(*ast.Ident); ok {
				if _, isPkg := info.Uses[id].(*types.PkgName); isPkg {
					return id.Name + "." + e.Sel.Name
				}
			}
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.SliceExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.Ident:
			if v, ok := info.Uses[e].(*types.Var); ok && pkg != nil && v.Parent() == pkg.Scope() {
				return e.Name
			}
			return ""
		default:
			return ""
		}
	}
}

// changeable finds package variables that are declared with a type of sync or sync/atomic.
func (all tree) changeable(f source) []breach {
	var found []breach
	for _, d := range f.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.VAR {
			continue
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			if _, body := n.(*ast.FuncLit); body {
				return false
			}
			if pkg, name, _ := f.uses(n); (pkg == "sync" || pkg == "sync/atomic") && name != "OnceValue" && name != "OnceValues" {
				found = append(found, all.at(n, "a package variable is made to be changed: %s.%s", pkg, name))
			}
			return true
		})
	}
	return found
}

func lengths(all tree) []breach {
	found := all.inspect(func(_ source, n ast.Node) []breach {
		switch n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			first, last := all.fset.Position(n.Pos()).Line, all.fset.Position(n.End()).Line
			if lines := last - first + 1; lines > maxFunction {
				return []breach{all.at(n, "a function of %d lines, more than %d", lines, maxFunction)}
			}
		}
		return nil
	})
	for _, f := range all.files {
		if lines := all.fset.File(f.Pos()).LineCount(); !f.test && lines > maxFile {
			found = append(found, all.at(f.Name, "a file of %d lines, more than %d", lines, maxFile))
		}
	}
	return found
}

// introduced finds rooms without a package comment.
func introduced(all tree) []breach {
	var found []breach
	for _, room := range all.rooms() {
		var first *source
		told := false
		for _, f := range all.files {
			if f.room == room && !f.test {
				told = told || f.Doc != nil
				if first == nil {
					first = &f
				}
			}
		}
		if !told {
			found = append(found, all.at(first.Name, "the package %s has no package comment", room))
		}
	}
	return found
}

var looseEnd = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)

// noLooseEnds reads tests too.
func noLooseEnds(all tree) []breach {
	var found []breach
	for _, f := range all.files {
		for _, group := range f.Comments {
			for _, c := range group.List {
				if word := looseEnd.FindString(c.Text); word != "" {
					found = append(found, all.at(c, "a comment says %s", word))
				}
			}
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) > 0 {
				return true
			}
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && f.test && (sel.Sel.Name == "Skip" || sel.Sel.Name == "SkipNow") {
				found = append(found, all.at(n, "a test is skipped without a word"))
			}
			return true
		})
	}
	return found
}
