package house_test

import (
	"go/ast"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unracedGoroutines are the files of packages without the race detector that start goroutines, each with the reason why
// the detector need not watch them.
var unracedGoroutines = map[string]string{
	"cmd/arcrawl/main.go":    "it waits for a signal; what the daemon starts is watched in daemon, crawler and admin",
	"cmd/arcrawl/profile.go": "it serves profiles, which nobody else reads",
	"lab/sim/workers.go":     "each worker plays hosts of its own",

	"internal/benchcrawl/bare.go":    "it measures processes, with each exchange on its own",
	"internal/benchcrawl/process.go": "it watches a process",
	"internal/benchcrawl/server.go":  "it serves pages that do not change",
	"internal/demosite/serve.go":     "it serves a site that is a function of the time",
}

// TestWhatRunsWithoutTheRaceDetectorHasOneGoroutine checks the packages in the Makefile whose tests run without the
// race detector, and the tests that say they have one goroutine: it would find nothing in them.
func TestWhatRunsWithoutTheRaceDetectorHasOneGoroutine(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(path.Join(root, "Makefile"))
	must(t, err)
	unraced, pardons := listed(t, string(text), "UNRACED"), maps.Clone(unracedGoroutines)
	for _, f := range repository(t).files {
		if !f.test && slices.Contains(unraced, f.room) && startsGoroutine(f.File) {
			if _, ok := pardons[f.name]; !ok {
				t.Errorf("%s starts a goroutine: remove %s from UNRACED in the Makefile", f.name, f.room)
			}
			delete(pardons, f.name)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.test && saysOneGoroutine(fn) && startsGoroutine(fn) {
				t.Errorf("%s: %s starts a goroutine, so the race detector should run it in full: use slow.Test",
					f.name, fn.Name.Name)
			}
		}
	}
	for name := range pardons {
		t.Errorf("%s starts no goroutine, or its package is not in UNRACED: remove it from unracedGoroutines", name)
	}
}

// listed returns the packages in a variable of the Makefile. A list may have several lines.
func listed(t *testing.T, makefile, variable string) (rooms []string) {
	t.Helper()
	m := regexp.MustCompile(`(?m)^` + variable + `\s*:=(.*)$`).FindStringSubmatch(strings.ReplaceAll(makefile, "\\\n", ""))
	if m == nil || len(strings.Fields(m[1])) == 0 {
		t.Fatalf("the Makefile has no list %s", variable)
	}
	for room := range strings.FieldsSeq(m[1]) {
		rooms = append(rooms, strings.TrimPrefix(room, "./"))
	}
	return rooms
}

// startsGoroutine reports whether code has a go statement, or a call like working.Go(f).
func startsGoroutine(code ast.Node) (found bool) {
	ast.Inspect(code, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.SelectorExpr:
			found = found || n.Sel.Name == "Go"
		}
		return !found
	})
	return found
}

// saysOneGoroutine reports whether a test avoids the race detector because it has one goroutine.
func saysOneGoroutine(fn *ast.FuncDecl) (found bool) {
	ast.Inspect(fn, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			name, is := s.X.(*ast.Ident)
			found = found || is && name.Name == "slow" && (s.Sel.Name == "Reduced" || s.Sel.Name == "OneGoroutine")
		}
		return !found
	})
	return found
}
