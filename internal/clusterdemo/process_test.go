package clusterdemo

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/arcrawl/arcrawl/internal/daemontest"
)

// built is the real program, which the tests share.
var built daemontest.Program

// TestMain runs the tests, and then removes the program.
func TestMain(m *testing.M) {
	code := m.Run()
	built.Remove()
	os.Exit(code)
}

// exitCode runs the program, and returns its exit code and what it prints.
func exitCode(t *testing.T, args ...string) (code int, printed string) {
	t.Helper()
	text, err := exec.Command(built.In(t, t.TempDir()), args...).CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode(), string(text)
	case err != nil:
		t.Fatal(err)
	}
	return 0, string(text)
}
