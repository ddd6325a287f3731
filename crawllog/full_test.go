//go:build linux

package crawllog_test

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// TestFullDiskLeavesWholeLines simulates a disk that fills up in the middle of a line by a limit of the file size, in a
// process of its own.
func TestFullDiskLeavesWholeLines(t *testing.T) {
	t.Parallel()
	const variable = "CRAWLLOG_TEST_FULL_DISK"
	if os.Getenv(variable) == "" {
		child := exec.Command(os.Args[0], "-test.run=^TestFullDiskLeavesWholeLines$", "-test.v")
		child.Env = append(os.Environ(), variable+"="+filepath.Join(t.TempDir(), "crawl.log"))
		if out, err := child.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	path := os.Getenv(variable)
	w := open(t, path)
	write(t, w, numbered(1, 0))
	info, err := os.Stat(path)
	must(t, err)
	var limit syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	narrow := limit
	narrow.Cur = uint64(info.Size()) + 50
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &narrow))
	for range 2 {
		if err := w.Write(numbered(2, 0)); !errors.Is(err, syscall.EFBIG) {
			t.Fatalf("a line that does not fit: %v, want %v", err, syscall.EFBIG)
		}
		if got := numbersIn(t, path); got != "1" {
			t.Fatalf("lines %s after it, want 1", got)
		}
	}
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	write(t, w, numbered(3, 0))
	if got := numbersIn(t, path); got != "1 3" {
		t.Fatalf("lines %s after space was freed, want 1 3", got)
	}
}
