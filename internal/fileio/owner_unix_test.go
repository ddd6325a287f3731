//go:build unix

package fileio

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A command of root makes files in a folder of another user. They become files of that user; what root put into another
// folder days ago stays root's, and that folder is not gone through.
func TestFilesThatRootMadeBelongToTheOwnerOfTheirFolder(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const nobody = 65534
	dir, began := t.TempDir(), time.Now()
	at := func(name string) string { return filepath.Join(dir, name) }
	longAgo := began.Add(-48 * time.Hour)
	err := errors.Join(
		os.MkdirAll(at("old/deep"), 0o750), os.MkdirAll(at("new"), 0o750), os.Mkdir(at("x"), 0o750),
		os.WriteFile(at("old/file"), nil, 0o600), os.WriteFile(at("old/deep/file"), nil, 0o600),
		os.WriteFile(at("new/file"), nil, 0o600), os.WriteFile(at("file"), nil, 0o600), os.WriteFile(at("x/file"), nil, 0o600),
		os.Chtimes(at("old"), longAgo, longAgo), os.Chown(dir, nobody, nobody),
	)
	if err == nil {
		err = RestoreOwner(dir, "[^x]*", began)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]uint32{
		"old": nobody, "old/file": 0, "old/deep": nobody, "old/deep/file": nobody, "new": nobody, "new/file": nobody,
		"file": nobody, "x": 0, "x/file": 0,
	} {
		info, err := os.Lstat(at(name))
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := info.Sys().(*syscall.Stat_t); !ok || s.Uid != want {
			t.Errorf("%s belongs to %d, want %d", name, s.Uid, want)
		}
	}
}

// Root restores a store: the folder is new, and is the daemon's as the folder that it is in. A link to a folder of root
// changes nothing.
func TestAFolderThatRootMadeBelongsToTheOwnerOfItsParent(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const nobody = 65534
	dir, system, began := t.TempDir(), t.TempDir(), time.Now()
	state, link := filepath.Join(dir, "state"), filepath.Join(dir, "link")
	file := filepath.Join(state, "file")
	err := errors.Join(os.Chown(dir, nobody, nobody), os.Mkdir(state, 0o750), os.WriteFile(file, nil, 0o600),
		os.Symlink(system, link), RestoreOwner(state, "*", began), RestoreOwner(link, "*", began))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]uint32{state: nobody, file: nobody, system: 0} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := info.Sys().(*syscall.Stat_t); !ok || s.Uid != want {
			t.Errorf("%s belongs to %d, want %d", name, s.Uid, want)
		}
	}
}
