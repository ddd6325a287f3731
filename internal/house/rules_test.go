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

// floors lists each room's floor. Imports only ever go down. A folder that is not listed belongs to the room above it.
var floors = map[string]int{
	"internal/human": 0, "internal/mediatype": 0, "internal/atomicfile": 0, "internal/textfile": 0, "internal/panics": 0, "internal/pattern": 0, "internal/bloom": 0,
	"evaluators/rate": 0,
	"uri":             1, "digest": 1, "evaluators/capacity": 1,
	"evaluators": 2, "hosts/rows": 2, "discover/text": 2,
	"fetch/h2": 2, "fetch/names": 2, "fetch/proxy": 2, "frontier/shared": 2, "frontier/mirror": 4, "daemon/node": 11, "daemon/pushed": 11, "config/local": 4, "daemon/offload": 14, "frontier/damage": 4, "frontier/backup": 4, "frontier/reserve": 2, "frontier/recent": 2, "frontier/pageout": 2,
	"frontier": 3, "fetch": 3, "warcout": 3, "dedup": 3, "discover": 3, "discover/feeds": 3, "discover/render": 3, "discover/websub": 3,
	"hosts/reputation": 3, "hosts/similar": 3, "hosts/daily": 3, "crawllog": 3, "scope/robots": 3, "scope/traps": 3, "scope/spaces": 3,
	"scope":           4,
	"config/document": 3, "config/about": 2, "config/criteria": 3, "config/caution": 4, "config/value": 4, "config/domain": 3, "config/reach": 4, "config/rendering": 3, "config/request": 4, "config": 5, "config/reference": 6, "config/patch": 6, "config/heritrix": 6,
	"crawllog/stats": 5, "archive/warc": 5, "archive/parallel": 5, "archive/sortedlines": 5,
	"crawllog/stats/table": 6,
	"config/network":       4, "crawler/proxies": 6, "crawler/answer": 4, "hosts/cookies": 3,
	"crawler/attempt": 8, "crawler/resolved": 6, "crawler/policy": 6, "crawler/wall": 6, "crawler/history": 6, "crawler/demand": 6, "crawler/uplink": 6, "crawler/optional": 6, "crawler/faults": 7, "crawler/untrap": 6, "crawler/feedread": 6, "archive/index": 6, "archive/fixity": 6, "archive/survey": 6,
	"crawler/whatif": 7, "crawler/rescope": 7, "crawler/clock": 7, "crawler/evict": 7, "crawler/pause": 7, "crawler/space": 6, "crawler/compare": 7, "crawler/midfetch": 6, "crawler/trapped": 7, "crawler/payload": 7, "crawler/request": 7, "crawler/dating": 7, "crawler/rendered": 7, "crawler/rebuild": 7, "crawler/heal": 7, "archive/depend": 7, "digest/trial": 7, "sim": 7, "archive": 7, "archive/excerpt": 8,
	"crawler": 8, "archive/verify": 8, "sim/prime": 8, "sim/table": 8, "daemon/provenance": 9,
	"admin/audit": 8, "admin/api": 9, "admin/alarm": 10, "admin/days": 10, "admin/recent": 10, "admin/series": 10, "admin/fleet": 10, "admin/outbox": 11, "admin/names": 10, "admin/labels": 8, "admin/seedlist": 7, "admin/collection": 11, "admin/captures": 10, "admin/survey": 11, "admin/mail": 11, "admin/access": 10, "admin/replay": 10, "admin/compare": 11, "admin/versions": 12, "admin/headers": 10, "admin/metrics": 11, "admin/commit": 7, "admin/pack": 13, "admin/ignore": 13, "admin/edit": 13, "admin/record": 13, "admin/once": 13, "admin/shards": 12, "admin/between": 10, "admin/feed": 10, "admin/whynot": 10, "admin/traplist": 10, "admin/noise": 10,
	"daemon/rendering": 10, "daemon/mailer": 12, "daemon/notices": 13, "daemon/socket": 11, "daemon/journal": 1, "daemon/keypair": 11,
	"admin":       14,
	"daemon":      15,
	"daemon/bulk": 16, "cmd/arcrawl/terminal": 16, "cmd/arcrawl/nodes": 16, "cmd/arcrawl/clusterdemo": 16,
	"cmd/arcrawl": 17,
}

// basics are the packages of internal/ that every room may use. They know no room.
var basics = []string{"internal/human", "internal/mediatype", "internal/atomicfile", "internal/textfile", "internal/panics", "internal/pattern", "internal/bloom"}

// outside are the folders that are not rooms: what is in them may know every room, and no room knows it.
var outside = []string{"internal/", "examples/"}

// Who may do what the others may not.
var (
	mayGo   = []string{"crawler/run.go", "archive/parallel/", "admin/fleet/", "admin/pack/run.go", "crawllog/stats/workers.go", "sim/workers.go", "daemon/background.go", "daemon/rendering/", "discover/render/", "cmd/arcrawl/", "internal/", "examples/"} // files
	mayNow  = []string{"admin/commit", "crawler", "crawler/compare", "crawler/whatif", "fetch", "fetch/names", "daemon", "daemon/mailer", "daemon/node", "daemon/pushed", "daemon/socket", "daemon/rendering", "discover/render", "cmd/arcrawl", "cmd/arcrawl/nodes", "cmd/arcrawl/clusterdemo", "internal/", "examples/"}
	clock   = []string{"Now", "Since", "Until", "Sleep", "After", "Tick", "NewTimer", "NewTicker", "AfterFunc"}
	expires = []string{"WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause"}

	// These get the clock of the daemon, although they may wait by the real one.
	clocked = []string{"daemon/hubs.go", "daemon/mailer/mailer.go", "daemon/recorder.go", "daemon/sealed.go", "daemon/store.go", "daemon/notices/webhook.go"} // files
)

// The bounds that keep code readable at a screen.
const (
	maxFunction = 60
	maxFile     = 500
)

var rules = []rule{
	{"floors", "a room can be understood, tested and replaced without the rooms above; an import upwards or sideways ends that", floorsOnlyDown},
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
	{"doors", "each room touches the outside at one door only; what the program does to disk and network can then be seen from its imports", onlyTheirDoors},
}

// pardons are the permitted breaches. A pardon without a breach makes the test fail.
var pardons = []pardon{
	{
		"goroutines", "fetch/exchange.go", "AfterFunc",
		"interrupts reading and writing when the context ends; it is called off before the exchange returns",
	},
	{
		"goroutines", "fetch/proxy/proxy.go", "AfterFunc",
		"interrupts the exchange with a proxy when the context ends; it is called off before the function returns",
	},
	{
		"goroutines", "admin/mail/send.go", "AfterFunc",
		"ends the exchange with a mail server when the context ends; it is called off before the exchange returns",
	},
}

// floorsOnlyDown also finds rooms that have been given no floor.
func floorsOnlyDown(all tree) []breach {
	var found []breach
	for _, f := range all.files {
		if f.test || matches(outside, f.room) && !slices.Contains(basics, f.room) {
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
