package smalldisk_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/arcrawl/arcrawl/internal/smalldisk"
)

// A store writes a table while its folder is copied, and then names it in its manifest. The copy must not hold the
// half of the table together with the manifest that names it, although no file appears or disappears meanwhile. The
// copier waits at a pipe between the two.
func TestACopyIsOfOneMoment(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	table, pipe, manifest := filepath.Join(from, "1.sst"), filepath.Join(from, "2.pipe"), filepath.Join(from, "MANIFEST")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(table, "half....")
	write(manifest, "no table\n")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	copied := make(chan error, 1)
	go func() { copied <- smalldisk.CopyFS(to, from) }()
	open := func() {
		f, err := os.OpenFile(pipe, os.O_RDWR, 0) // does not wait for a reader
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { f.Close() }) // the next attempt to copy does not wait
	}
	for done := false; !done; { // until the copier has copied the half
		text, _ := os.ReadFile(filepath.Join(to, "1.sst"))
		done = string(text) == "half...."
	}
	write(table, "complete")
	write(manifest, "no table\ntable 1\n")
	open()
	if err := <-copied; err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(to, "1.sst"))
	if err != nil || string(got) != "complete" {
		t.Errorf("the copy of the table is %q (%v) next to a manifest that names it, want all of it", got, err)
	}
}
