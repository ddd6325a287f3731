package house_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// outside are the folders that are not rooms: what is in them may know every room, and no room knows it.
var outside = []string{"internal/", "examples/"}

// Who may do what the others may not.
var (
	mayGo = []string{ // files, and folders with a slash
		"crawler/run.go",
		"archive/",
		"fleet/ask.go",
		"curator/pack_run.go", "curator/changes_run.go", "curator/fronts_run.go",
		"reports/read.go",
		"lab/sim/workers.go", "daemon/background.go", "render/",
		"cmd/arcrawl/",
		"cluster/",
		"internal/",
		"examples/",
	}
	mayNow = []string{
		"archive",
		"crawler",
		"aspects/noise",
		"crawler/whatif",
		"fetch",
		"daemon/",
		"cluster/",
		"render/",
		"cmd/",
		"lab/",
		"messages",
		"noise",
		"reports",
		"internal/",
		"examples/",
	}
	clock = []string{
		"Now", "Since", "Until", "Sleep", "After", "Tick", "NewTimer", "NewTicker", "AfterFunc",
	}
	expires = []string{"WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause"}

	// These get the clock of the daemon, although they may wait by the real one.
	clocked = []string{ // files
		"daemon/hubs.go",
		"messages/mailer.go",
		"daemon/recorder.go",
		"archive/sealed.go",
		"curator/changes_run.go",
		"daemon/store.go",
		"messages/webhook.go",
	}
)

// The bounds that keep code readable at a screen.
const (
	maxFunction = 60
	maxFile     = 500
)

var rules = []rule{
	{"internal stays inside", "internal/ holds invented worlds for tests and the demo, and a few basics; a room that needs one of the worlds would ship it", internalOnlyForTests},
	{"goroutines", "every goroutine has an owner that waits for it; only the crawler and main have a place to wait", goroutinesAtTheTop},
	{"clock", "time is an argument, so that months can be played in seconds and every decision can be repeated", clockIsAnArgument},
	{"no init", "what runs before main has no visible order and cannot return an error", noInit},
	{"nothing global is written", "a package variable that changes is an input and an output that no signature shows, and a data race", nothingGlobal},
	{"length", "nobody reads a function that does not fit on a screen, or a file that holds more than one noun; they only search it", lengths},
	{"documentation", "many users of a room read only its go doc", documented},
	{"package comment", "go doc of the room says what it is for, its states, its life cycle and its invariants", introduced},
	{"no loose ends", "what is left to do belongs where work is planned; a test that is skipped says why", noLooseEnds},
	{"plain English", "most readers have English as a second language; a phrase that has to be read twice stops all of them", plainEnglish},
	{"wings plug in", "the core can be read, built and tested without a wing, and a wing can be deleted without a change of the core", wingsPlugIn},
	{"few imports", "who reads a package has to know those that it imports; nobody holds more than twenty in the head", importsAreFew},
	{"packages are things", "a package with one user and few lines is a name to learn and no boundary; it is a file of its user", packagesAreThings},
	{"doors", "each room touches the outside at one door only; what the program does to disk and network can then be seen from its imports", onlyTheirDoors},
}

// pardons are the permitted breaches. A pardon without a breach makes the test fail.
var pardons = []pardon{
	{"clock", "admin/git.go", "WithTimeout", "ends git, which may wait forever for a lock or a broken disk"},
	{
		"clock", "curator/changes_run.go", "NewTimer",
		"waits as long as a comparison took, so that comparisons leave half of a processor to the crawl",
	},
	{
		"goroutines", "frontier/reserve.go", "goroutine",
		"waits for Badger to close, which never returns while the disk fails; the process ends then",
	},
	{
		"goroutines", "fetch/exchange.go", "AfterFunc",
		"interrupts reading and writing when the context ends; it is called off before the exchange returns",
	},
	{
		"goroutines", "fetch/proxy.go", "AfterFunc",
		"interrupts the exchange with a proxy when the context ends; it is called off before the function returns",
	},
	{
		"goroutines", "messages/send.go", "AfterFunc",
		"ends the exchange with a mail server when the context ends; it is called off before the exchange returns",
	},
}

func internalOnlyForTests(all tree) []breach {
	var found []breach
	for _, f := range all.files {
		if f.test || matches([]string{"cmd/", "internal/", "examples/"}, f.room) {
			continue
		}
		for _, im := range f.imports() {
			dep := strings.TrimPrefix(im.path, module+"/")
			if strings.HasPrefix(dep, "internal/") && !slices.Contains(basics, dep) {
				found = append(found, all.at(im.spec, "%s imports %s outside a test", f.room, dep))
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
		pkg, name, _ := f.uses(n)
		if slices.Contains(clocked, f.name) && pkg == "time" && (name == "Now" || name == "Since" || name == "Until") {
			return []breach{all.at(n, "time.%s asks another clock than the daemon's", name)}
		}
		if matches(mayNow, f.room) {
			return nil
		}
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
