package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
)

func TestCommandsUseTheConfigurationThatIsFound(t *testing.T) { // changes folder and environment
	path, dir := configure(t, settled)
	t.Setenv("ARCRAWL_CONFIG", path)
	elsewhere := t.TempDir()
	t.Chdir(elsewhere)
	if code, out, errs := command("check"); code != cli.ExitOK || !strings.HasPrefix(out, path+" is valid") {
		t.Errorf("check with %s: exit code %d, %s%s", "ARCRAWL_CONFIG", code, out, errs)
	}
	if code, _, errs := command("check", "-c", "other.toml"); code != cli.ExitConfig || !strings.Contains(errs, "other.toml") {
		t.Errorf("check of a named file: exit code %d, %s", code, errs)
	}
	t.Setenv("ARCRAWL_CONFIG", "")
	for _, args := range [][]string{{"check"}, {"status"}, {"history", "http://a.example/"}, {"host", "add", "http://a.example/"}} {
		code, _, errs := command(args...)
		if code == cli.ExitOK || !strings.Contains(errs, "ARCRAWL_CONFIG is not set, there is no ./arcrawl.toml and no /etc/arcrawl/arcrawl.toml") {
			t.Errorf("arcrawl %q: exit code %d, %s; want what was tried", args, code, errs)
		}
	}
	t.Chdir(dir)
	if code, out, errs := command("check"); code != cli.ExitOK || !strings.HasPrefix(out, "arcrawl.toml is valid") {
		t.Errorf("check in the folder: exit code %d, %s%s", code, out, errs)
	}
	if _, err := filepath.Abs(path); err != nil {
		t.Fatal(err)
	}
}
