package fileio_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/arcrawl/arcrawl/internal/fileio"
)

// checkFolder fails unless the folder holds one file, named name, with the given content.
func checkFolder(t *testing.T, dir, name, content string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != name {
		t.Errorf("the folder holds %v, %v; want %s alone", entries, err, name)
	}
	if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != content {
		t.Errorf("%s holds %q, %v; want %q", name, got, err, content)
	}
}

func TestWriteReplacesTheWholeFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "a.json")
	for _, content := range []string{"a long first version", "short", ""} {
		if err := fileio.Write(name, []byte(content), 0o640); err != nil {
			t.Fatal(err)
		}
		checkFolder(t, dir, "a.json", content)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm()&^0o640 != 0 {
		t.Errorf("the mode is %v, %v; want at most 0640", info.Mode(), err)
	}
}

func TestWriteLeavesNothingWhenItFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := fileio.Write(filepath.Join(dir, "missing", "a"), nil, 0o640); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a folder that does not exist: %v", err)
	}
	name := filepath.Join(dir, "folder")
	if err := os.Mkdir(name, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := fileio.Write(name, []byte("x"), 0o640); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v; want no hidden file", entries, err)
	}
}

func TestNewNeverReplacesAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "a.warc.gz")
	for i, content := range []string{"first", "second"} {
		f, err := fileio.Create(name, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Discard()
		if _, err := f.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
		if err := f.New(); errors.Is(err, fs.ErrExist) != (i > 0) {
			t.Errorf("the %s file: %v", content, err)
		}
	}
	checkFolder(t, dir, "a.warc.gz", "first")
}

func TestADiscardedFileNeverAppears(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := fileio.Create(filepath.Join(dir, "a"), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	f.Discard()
	f.Discard()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("the folder holds %v, %v; want it empty", entries, err)
	}
}
