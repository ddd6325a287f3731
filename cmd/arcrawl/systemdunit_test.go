package main

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/frontier"
)

// unitSetting returns the value of a setting in a unit file. It fails the test if there is none, or more than one.
func unitSetting(t *testing.T, unit, key string) string {
	t.Helper()
	var values []string
	for line := range strings.Lines(unit) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), key+"="); ok {
			values = append(values, value)
		}
	}
	if len(values) != 1 {
		t.Fatalf("the unit has %q for %s, want one value", values, key)
	}
	return values[0]
}

// restarts reports whether systemd starts a service again after it ended with an exit code, or by a signal. The unit
// must have Restart=on-failure. systemd.service(5) has the rules: 0 and the signals HUP, INT, TERM and PIPE are a clean
// end, which is not a failure; a code in RestartPreventExitStatus prevents the restart.
func restarts(t *testing.T, unit string, code int, by syscall.Signal) bool {
	t.Helper()
	if how := unitSetting(t, unit, "Restart"); how != "on-failure" {
		t.Fatalf("Restart=%s: this test knows on-failure only", how)
	}
	for _, key := range []string{"\nSuccessExitStatus=", "\nRestartForceExitStatus="} {
		if strings.Contains(unit, key) {
			t.Fatalf("this test does not know %s", strings.TrimSpace(key))
		}
	}
	if by != 0 {
		return !slices.Contains([]syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGPIPE}, by)
	}
	prevented := strings.Fields(unitSetting(t, unit, "RestartPreventExitStatus"))
	return code != 0 && !slices.Contains(prevented, strconv.Itoa(code))
}

// A fault that can pass by itself must lead to a restart. A fault that needs a person must not: the daemon would
// repeat it forever, and status would say "activating" and not "failed".
func TestWhatSystemdDoesWhenTheDaemonEnds(t *testing.T) {
	t.Parallel()
	unit := readText(t, "../../packaging/systemd/arcrawl.service")
	wrap := func(err error) error { return fmt.Errorf("open frontier /state: %w", err) }
	for _, c := range []struct {
		name  string
		err   error
		code  int
		again bool
	}{
		{"a stop", nil, cli.ExitOK, false},
		{"a wrong command line", cli.Usage(fs.ErrInvalid), cli.ExitUsage, false},
		{"damage in the store", wrap(frontier.ErrCorrupt), cli.ExitDamaged, false},
		{"a store of a later version", wrap(frontier.ErrVersion), cli.ExitDamaged, false},
		{"a broken main file", config.Faults{{}}, cli.ExitConfig, false},
		{"too few files or threads", daemon.LimitError{Err: fs.ErrInvalid}, cli.ExitConfig, false},
		{"another process that has the store", wrap(frontier.ErrLocked), cli.ExitBusy, true},
		{"a folder that is not there yet", daemon.FolderError{Err: fs.ErrNotExist}, cli.ExitFolder, true},
		{"a full disk", wrap(&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}), cli.ExitDisk, true},
		{"a quota", wrap(syscall.EDQUOT), cli.ExitDisk, true},
		{"a failing disk", wrap(syscall.EIO), cli.ExitDisk, true},
		{"a disk that was mounted read-only after an error", wrap(syscall.EROFS), cli.ExitDisk, true},
		{"too little space at the start", daemon.DiskError{Err: fs.ErrInvalid}, cli.ExitDisk, true},
		{"too few file descriptors", wrap(syscall.EMFILE), cli.ExitFailure, true},
		{"any other error", fs.ErrInvalid, cli.ExitFailure, true},
	} {
		code := cli.ExitOK
		if c.err != nil {
			code = cli.ExitCode(c.err)
		}
		if code != c.code || restarts(t, unit, code, 0) != c.again {
			t.Errorf("%s: exit code %d, started again: %t; want %d and %t",
				c.name, code, restarts(t, unit, code, 0), c.code, c.again)
		}
	}
	const goFatal = 2 // of the Go runtime: a panic, or an error that it cannot handle
	if !restarts(t, unit, goFatal, 0) {
		t.Error("a crash of the program is final")
	}
	for by, again := range map[syscall.Signal]bool{
		syscall.SIGKILL: true, // short of memory
		syscall.SIGABRT: true, // the watchdog
		syscall.SIGBUS:  true,
		syscall.SIGSEGV: true,
		syscall.SIGTERM: false, // systemctl stop
	} {
		if restarts(t, unit, 0, by) != again {
			t.Errorf("killed by %s: started again: %t, want %t", by, !again, again)
		}
	}
	if limit := unitSetting(t, unit, "StartLimitIntervalSec"); limit != "0" {
		t.Errorf("StartLimitIntervalSec=%s; systemd must not give up while a disk is full", limit)
	}
	if wait := unitSetting(t, unit, "RestartSec"); wait != "30s" {
		t.Errorf("RestartSec=%s, but docs/operating.md says 30 seconds", wait)
	}
}
