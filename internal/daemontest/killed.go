package daemontest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/internal/smalldisk"
)

// Damages holds what can happen to the log of the memory table of a killed daemon, by name.
// Badger opens the store after each.
var Damages = map[string]func(t *testing.T, mem string){
	"deleted": func(t *testing.T, mem string) {
		t.Helper()
		if err := os.Remove(mem); err != nil {
			t.Fatal(err)
		}
	},
	"zeroed": func(t *testing.T, mem string) {
		t.Helper()
		info, err := os.Stat(mem)
		if err != nil {
			t.Fatal(err)
		}
		Write(t, mem, strings.Repeat("\x00", int(info.Size())))
	},
	"intact": func(*testing.T, string) {},
}

// Killed returns a copy of the folder of the daemon as a kill would leave it now, with a damage.
func (l *Life) Killed(t *testing.T, damage func(t *testing.T, mem string)) (dir string) {
	t.Helper()
	dir = t.TempDir()
	err := filepath.WalkDir(l.Dir, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(l.Dir, path)
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == "hosts.d":
			return filepath.SkipDir
		case e.IsDir():
			return os.MkdirAll(filepath.Join(dir, name), 0o750)
		case !e.Type().IsRegular():
			return nil
		}
		name = strings.TrimSuffix(name, ".open") // the daemon that starts after the kill finishes its WARC files
		return smalldisk.CopyFile(filepath.Join(dir, name), path)
	})
	if err != nil {
		t.Fatal(err)
	}
	logs, err := filepath.Glob(filepath.Join(dir, "state", "*.mem"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("no log of a memory table (%v)", err)
	}
	for _, mem := range logs {
		if info, err := os.Stat(mem); err == nil && info.Size() > 0 { // others are held in reserve
			damage(t, mem)
		}
	}
	return dir
}
