package keep_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/arcrawl/arcrawl/archive/keep"
)

// Root deletes the first file. The daemon, which is another user, can lock files afterwards.
func TestTheLockFileOfRootBelongsToTheDaemon(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	const daemon = 12345
	if err := os.Chown(folder, daemon, daemon); err != nil {
		t.Skipf("run this test as root: %v", err)
	}
	unlock, err := keep.Lock(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(folder, "offload.lock"))
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || s.Uid != daemon || s.Gid != daemon {
		t.Errorf("the owner of the lock file is %+v, want the owner of its folder, %d", info.Sys(), daemon)
	}
}
