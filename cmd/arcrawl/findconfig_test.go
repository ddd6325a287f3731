package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTheConfigurationIsLookedFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, env string
		files     []string
		want      string
		tried     bool
	}{
		{name: "nothing", tried: true},
		{name: "in the folder", files: []string{"arcrawl.toml", "/etc/arcrawl/arcrawl.toml"}, want: "arcrawl.toml"},
		{name: "of the package", files: []string{"/etc/arcrawl/arcrawl.toml"}, want: "/etc/arcrawl/arcrawl.toml"},
		{name: "named", env: "/srv/a.toml", files: []string{"arcrawl.toml", "/srv/a.toml"}, want: "/srv/a.toml"},
		{name: "named, but missing", env: "/srv/a.toml", files: []string{"arcrawl.toml"}, want: "/srv/a.toml"},
		{name: "a folder", env: "/srv", files: []string{"/srv/arcrawl.toml"}, want: "/srv/arcrawl.toml"},
	} {
		f := configFinder{
			env:    func(string) (string, bool) { return c.env, c.env != "" },
			exists: func(path string) bool { return slices.Contains(c.files, path) },
		}
		if got := f.find(); got != c.want || (f.tried != "") != c.tried {
			t.Errorf("%s: found %q, tried %q; want %q", c.name, got, f.tried, c.want)
		}
	}
}

func TestCommandsUseTheConfigurationThatIsFound(t *testing.T) { // changes folder and environment
	path, dir := configure(t, settled)
	t.Setenv(configVariable, path)
	elsewhere := t.TempDir()
	t.Chdir(elsewhere)
	if code, out, errs := command("check"); code != exitOK || !strings.HasPrefix(out, path+" is valid") {
		t.Errorf("check with %s: exit code %d, %s%s", configVariable, code, out, errs)
	}
	if code, _, errs := command("check", "-c", "other.toml"); code != exitConfig || !strings.Contains(errs, "other.toml") {
		t.Errorf("check of a named file: exit code %d, %s", code, errs)
	}
	t.Setenv(configVariable, "")
	for _, args := range [][]string{{"check"}, {"status"}, {"history", "http://a.example/"}, {"host", "add", "http://a.example/"}} {
		code, _, errs := command(args...)
		if code == exitOK || !strings.Contains(errs, "ARCRAWL_CONFIG is not set, there is no ./arcrawl.toml and no /etc/arcrawl/arcrawl.toml") {
			t.Errorf("arcrawl %q: exit code %d, %s; want what was tried", args, code, errs)
		}
	}
	t.Chdir(dir)
	if code, out, errs := command("check"); code != exitOK || !strings.HasPrefix(out, "arcrawl.toml is valid") {
		t.Errorf("check in the folder: exit code %d, %s%s", code, out, errs)
	}
	if _, err := filepath.Abs(path); err != nil {
		t.Fatal(err)
	}
}
