package curator

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestAFullDiskAndAFolderThatMayNotBeWrittenLoseNothing saves into a small file system that is full, and then into one
// that is read-only.
func TestAFullDiskAndAFolderThatMayNotBeWrittenLoseNothing(t *testing.T) {
	t.Parallel()
	w := newEditor(t)
	dir := w.Config.HostsDir
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("this test mounts a small file system, which this user may not do: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	if err := os.WriteFile(filepath.Join(dir, news), []byte(newsText), 0o640); err != nil {
		t.Fatal(err)
	}
	o := opened(t, w, news)
	o.Text += "# more\n" + strings.Repeat("# a line of a comment\n", 500)
	if err := os.WriteFile(filepath.Join(dir, "full"), make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the file system is not full: %v", err)
	}
	if _, err := w.Save(o); err == nil || !strings.Contains(err.Error(), "free some space on the disk and save again") || w.onDisk(news) != newsText {
		t.Errorf("on a full disk: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("on a full disk these files are left: %v, %v", left, err)
	}
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	for _, o.Remove = range []bool{false, true} {
		if _, err := w.Save(o); err == nil || !strings.Contains(err.Error(), "ReadWritePaths=") || w.onDisk(news) != newsText {
			t.Errorf("in a folder that may not be written: %v", err)
		}
	}
}
