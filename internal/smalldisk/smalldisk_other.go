//go:build !linux

// Package smalldisk mounts small file systems for tests of full disks, on Linux only.
package smalldisk

import "testing"

// Mount skips the test.
func Mount(t testing.TB, _ string) (dir string) {
	t.Helper()
	t.Skip("a small file system is mounted on Linux only")
	return ""
}
