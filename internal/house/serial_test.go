package house_test

import (
	"go/ast"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestWhatRunsWithoutTheRaceDetectorHasOneGoroutine checks the packages in the Makefile whose tests run without the
// race detector, and the tests that say they have one goroutine: it would find nothing in them.
func TestWhatRunsWithoutTheRaceDetectorHasOneGoroutine(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(path.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	serial := listed(t, string(text), "SERIAL")
	for _, f := range repository(t).files {
		if slices.Contains(serial, f.room) && (startsGoroutine(f.File) || worksInParallel(f)) {
			t.Errorf("%s starts a goroutine: remove %s from SERIAL in the Makefile", f.name, f.room)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.test && saysOneGoroutine(fn) && startsGoroutine(fn) {
				t.Errorf("%s: %s starts a goroutine, so the race detector should run it in full: use slow.Test or slow.FirstTier",
					f.name, fn.Name.Name)
			}
		}
	}
}

// listed returns the packages in a variable of the Makefile.
func listed(t *testing.T, makefile, variable string) (rooms []string) {
	t.Helper()
	m := regexp.MustCompile(`(?m)^` + variable + `\s*:=(.*)$`).FindStringSubmatch(makefile)
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

// worksInParallel reports whether a file uses a package that starts goroutines for others.
func worksInParallel(f source) bool {
	return slices.ContainsFunc(f.imports(), func(im imported) bool {
		return im.path == module+"/internal/parallel" || im.path == "net/http/httptest"
	})
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
