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
// race detector: it would find nothing in them.
func TestWhatRunsWithoutTheRaceDetectorHasOneGoroutine(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(path.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	all := repository(t)
	serial, slow := listed(t, string(text), "SERIAL"), listed(t, string(text), "SERIAL_SLOW")
	for _, f := range all.files {
		if slices.Contains(serial, f.room) && (startsGoroutine(f.File) || worksInParallel(f)) {
			t.Errorf("%s starts a goroutine: remove %s from SERIAL in the Makefile", f.name, f.room)
		}
		if !f.test || !slices.Contains(slow, f.room) {
			continue
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && isSlow(fn) && startsGoroutine(fn) {
				t.Errorf("%s: %s is slow and starts a goroutine: remove %s from SERIAL_SLOW in the Makefile",
					f.name, fn.Name.Name, f.room)
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
		return im.path == module+"/archive/parallel" || im.path == "net/http/httptest"
	})
}

// isSlow reports whether a test belongs to the second tier.
func isSlow(fn *ast.FuncDecl) (found bool) {
	ast.Inspect(fn, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			name, is := s.X.(*ast.Ident)
			found = found || is && name.Name == "slow" && (s.Sel.Name == "Test" || s.Sel.Name == "FirstTier")
		}
		return !found
	})
	return found
}
