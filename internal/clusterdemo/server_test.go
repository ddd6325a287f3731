package clusterdemo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheNewestServerIsFound looks for PostgreSQL where there is none, an old one, and several.
func TestTheNewestServerIsFound(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	dir := t.TempDir()
	find := func() (string, string, error) { return findServerIn(filepath.Join(dir, "*", "bin")) }
	add := func(version string) {
		bin := filepath.Join(dir, version, "bin")
		if err := os.MkdirAll(bin, 0o750); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"initdb", "postgres"} {
			text := "#!/bin/sh\necho 'postgres (PostgreSQL) " + version + " (Debian " + version + "-1)'\n"
			if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, _, err := find(); !errors.Is(err, errNoServer) || !strings.Contains(err.Error(), "apt install postgresql") {
		t.Errorf("without PostgreSQL: %v", err)
	}
	add("9.6.24")
	add("14.9")
	if _, _, err := find(); !errors.Is(err, errNoServer) {
		t.Errorf("with old ones: %v", err)
	}
	add("15.14")
	add("17beta1")
	if bin, version, err := find(); err != nil || version != "17beta1" || bin != filepath.Join(dir, "17beta1", "bin") {
		t.Errorf("with new ones: %s, %s, %v", bin, version, err)
	}
}
