package smalldisk

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// MountQuota mounts a file system of 2 GB until the end of the test, and returns a folder in it with a quota ("300M").
// It skips the test where that is not allowed. The file system is btrfs: its quotas hold for root too. The folder does
// not copy on write, as the manual advises.
func MountQuota(t testing.TB, size string) (dir string) {
	t.Helper()
	image, top := filepath.Join(t.TempDir(), "image"), t.TempDir()
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, 2<<30); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(top, "limited")
	skip := func(err error) {
		if err != nil {
			t.Skipf("no file system with quotas: %v; install btrfs-progs, and run this test as root, outside of a container", err)
		}
	}
	skip(run("mkfs.btrfs", "--quiet", image))
	skip(run("mount", "-o", "loop", image, top))
	t.Cleanup(func() {
		if err := unix.Unmount(top, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	skip(run("btrfs", "quota", "enable", top))
	skip(run("btrfs", "subvolume", "create", dir))
	skip(run("chattr", "+C", dir))
	skip(SetQuota(dir, size))
	return dir
}

// SetQuota changes how much a folder of [MountQuota] may hold. While the quota is used up, btrfs may refuse the change
// itself until it has written that files were removed.
func SetQuota(dir, size string) (err error) {
	for range 30 {
		if err = run("btrfs", "qgroup", "limit", size, dir); err == nil {
			return nil
		}
		err = errors.Join(err, run("btrfs", "filesystem", "sync", dir))
		time.Sleep(time.Second)
	}
	return err
}

func run(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w %s", name, err, out)
	}
	return nil
}
