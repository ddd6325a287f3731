package foreign

import (
	"bytes"
	"context"
	"os/exec"
	"testing"
	"time"
)

// Program runs a program that reads archives, and returns what it prints. The error says why it ended, as an
// [exec.ExitError] does. The test is skipped without the program, even where foreign readers are required, because no
// package of npm has it. docs/archive.md says where to get it.
func Program(t testing.TB, name string, args ...string) (out, errs string, err error) {
	t.Helper()
	program, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("NOT RUN: %s is not installed, and npm does not have it; see \"Foreign readers\" in docs/archive.md: %v",
			name, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	var o, e bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &o, &e, time.Second
	err = cmd.Run()
	return o.String(), e.String(), err
}
