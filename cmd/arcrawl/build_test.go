package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain runs the tests. In scripts, the command arcrawl is this test binary.
func TestMain(m *testing.M) {
	testscript.Main(cleaner{m}, map[string]func(){"arcrawl": main})
}

// cleaner runs the tests, and then removes the program that tests of real processes share.
type cleaner struct{ *testing.M }

// Run returns the exit code of the tests.
func (c cleaner) Run() int {
	code := c.M.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	return code
}

// built is the program that tests of real processes share. To link it takes some seconds of processor time.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// build returns the real program, without the race detector, in a folder.
func build(t *testing.T, dir string) string {
	t.Helper()
	const name = "arcrawl-under-test"
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "arcrawl-test-"); built.err != nil {
			return
		}
		out, err := exec.Command("go", "build", "-o", filepath.Join(built.dir, name), ".").CombinedOutput()
		if err != nil {
			built.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	binary := filepath.Join(dir, name)
	if err := os.Link(filepath.Join(built.dir, name), binary); err != nil { // another file system
		return filepath.Join(built.dir, name)
	}
	return binary
}
