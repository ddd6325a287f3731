// Package smalldisk mounts small file systems for tests of full disks, and copies the folders of stores without the
// empty parts of their files.
package smalldisk

import (
	"testing"

	"golang.org/x/sys/unix"
)

// Mount mounts a file system of a given size, as "220m", until the end of the test, and returns its folder. It skips
// the test where that is not allowed.
func Mount(t testing.TB, size string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("a small file system cannot be mounted: %v; run this test as root, outside of a container", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}
