package smalldisk_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/arcrawl/arcrawl/internal/smalldisk"
)

// TestACopyHasTheSameBytesAndTheSameHoles copies a folder with files that are empty, full, and mostly holes.
func TestACopyHasTheSameBytesAndTheSameHoles(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	const size = 64 << 20
	for name, write := range map[string]func(f *os.File) error{
		"empty":      func(*os.File) error { return nil },
		"full":       func(f *os.File) error { _, err := f.Write(bytes.Repeat([]byte("full "), 9999)); return err },
		"a hole":     func(f *os.File) error { return f.Truncate(size) },
		"a begin":    func(f *os.File) error { _, err := f.WriteString("begin"); return err },
		"the middle": func(f *os.File) error { _, err := f.WriteAt([]byte("middle"), size/2); return err },
		"the end":    func(f *os.File) error { _, err := f.WriteAt([]byte("end"), size-3); return err },
	} {
		must(t, os.MkdirAll(filepath.Join(from, "in", name), 0o700))
		f, err := os.Create(filepath.Join(from, "in", name, "file"))
		must(t, err)
		must(t, write(f))
		if name != "empty" && name != "full" {
			must(t, f.Truncate(size))
		}
		must(t, f.Close())
	}
	must(t, smalldisk.CopyFS(to, from))
	copied := 0
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, _ := filepath.Rel(from, path)
		want, _ := os.ReadFile(path)
		got, err := os.ReadFile(filepath.Join(to, name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, want the same %d (%v)", name, len(got), len(want), err)
		}
		if a, b := blocks(t, path), blocks(t, filepath.Join(to, name)); b > a+64 {
			t.Errorf("%s takes %d blocks, its copy %d", name, a, b)
		}
		copied++
		return nil
	})
	if err != nil || copied != 6 {
		t.Errorf("%d files, want 6 (%v)", copied, err)
	}
	if err := smalldisk.CopyFS(to, from); err == nil {
		t.Error("a file was overwritten")
	}
	if err := smalldisk.CopyFS(filepath.Join(to, "none"), filepath.Join(from, "none")); err == nil {
		t.Error("a folder that does not exist was copied")
	}
}

// blocks returns how many blocks of 512 bytes a file takes.
func blocks(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		t.Skip("this system does not say how many blocks a file takes; Linux does")
	}
	return s.Blocks
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
