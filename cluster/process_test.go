package cluster

import (
	"os"
	"testing"

	"github.com/arcrawl/arcrawl/internal/daemontest"
)

// built is the real program, which tests of nodes as processes share: these are killed, frozen, cut off and taken
// over from.
var built daemontest.Program

// TestMain runs the tests, and then removes the program.
func TestMain(m *testing.M) {
	code := m.Run()
	built.Remove()
	os.Exit(code)
}
