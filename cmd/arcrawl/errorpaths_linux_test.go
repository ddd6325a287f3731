package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/internal/faultdisk"
	"github.com/arcrawl/arcrawl/internal/slow"
)

// listedPaths lists the error paths that nothing takes, each with the reason.
const listedPaths = "testdata/errorpaths.txt"

// Each error path that follows an operation on files is taken, by the sweep of disk errors or by another test, or is in
// a list with the reason. ARCRAWL_ERROR_PATHS is a folder with what the sweep and the tests have run, as make
// error-paths makes it. Without it, only the list is compared with the source.
func TestErrorPaths(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	paths, err := faultdisk.ErrorPaths("../..", durable...)
	if err != nil {
		t.Fatal(err)
	}
	listed, is := readListed(t, listedPaths), map[string]bool{}
	for _, p := range paths {
		is[p.String()] = true
	}
	for name := range listed {
		if !is[name] {
			t.Errorf("%s is gone: remove it from %s", name, listedPaths)
		}
	}
	dir := os.Getenv("ARCRAWL_ERROR_PATHS")
	if dir == "" {
		return
	}
	sweep, tests := readCoverage(t, filepath.Join(dir, "sweep")), readCoverage(t, filepath.Join(dir, "tests"))
	count := map[string][5]int{}
	for _, p := range paths {
		one, two := sweep.ran(p), tests.ran(p)
		for _, row := range []string{p.Room, "all"} {
			n := count[row]
			for i, counts := range []bool{true, one, two, one || two, one && !two} {
				if counts {
					n[i]++
				}
			}
			count[row] = n
		}
		if !one && !two {
			t.Logf("not taken: %s:%d: %s = %s", p.File, p.Line, p, listed[p.String()])
			if listed[p.String()] == "" {
				t.Errorf("%s:%d: no test takes the error path after %s: have it fail in a test, or add it to %s with the reason",
					p.File, p.Line, p, listedPaths)
			}
		}
	}
	t.Logf("%-16s %5s %8s %8s %8s %11s", "package", "paths", "sweep", "tests", "either", "sweep only")
	for _, row := range append(durable, "all") {
		n := count[row]
		t.Logf("%-16s %5d %8d %8d %8d %11d", row, n[0], n[1], n[2], n[3], n[4])
	}
}

// coverage is which statements of each file were run.
type coverage map[string][]block

// block is a piece of source.
type block struct {
	line, col, endLine, endCol int
	ran                        bool
}

// readCoverage reads what programs have noted in a folder.
func readCoverage(t *testing.T, dir string) coverage {
	t.Helper()
	name := filepath.Join(t.TempDir(), "profile")
	if out, err := exec.Command("go", "tool", "covdata", "textfmt", "-i", dir, "-o", name).CombinedOutput(); err != nil {
		t.Fatalf("go tool covdata: %v\n%s", err, out)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	found := coverage{}
	for line := range strings.Lines(string(text)) {
		file, rest, ok := strings.Cut(strings.TrimPrefix(line, "github.com/arcrawl/arcrawl/"), ":")
		if !ok || strings.HasPrefix(line, "mode") {
			continue
		}
		var b block
		var statements, times int
		_, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &b.line, &b.col, &b.endLine, &b.endCol, &statements, &times)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		b.ran = times > 0
		found[file] = append(found[file], b)
	}
	return found
}

// ran reports whether the beginning of a path was run.
func (c coverage) ran(p faultdisk.ErrorPath) bool {
	for _, b := range c[p.File] {
		begun := b.line < p.Line || b.line == p.Line && b.col <= p.Col
		ended := b.endLine < p.Line || b.endLine == p.Line && b.endCol <= p.Col
		if begun && !ended && b.ran {
			return true
		}
	}
	return false
}
