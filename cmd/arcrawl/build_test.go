package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// TestMain removes the program that tests of real processes share.
func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
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
