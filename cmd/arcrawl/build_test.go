package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/faultdisk"
)

// TestMain runs the tests. In scripts, the command arcrawl is this test binary.
func TestMain(m *testing.M) {
	faultdisk.Start()
	testscript.Main(cleaner{m}, map[string]func(){"arcrawl": main})
}

// cleaner runs the tests, and then removes the program that tests of real processes share.
type cleaner struct{ *testing.M }

// Run returns the exit code of the tests.
func (c cleaner) Run() int {
	code := c.M.Run()
	built.Remove()
	return code
}

// built is the real program, which tests of real processes share.
var built daemontest.Program
