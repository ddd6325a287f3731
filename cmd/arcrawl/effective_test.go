package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

func TestEffectiveShowsSettingsAndTheirFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "arcrawl.toml")
	if err := os.Mkdir(filepath.Join(dir, "hosts.d"), 0o750); err != nil {
		t.Fatal(err)
	}
	daemontest.WriteFile(t, path, "operator.name = \"Library\"\noperator.contact = \"a@library.example\"\npoliteness.min_delay = \"3s\"\n")
	daemontest.WriteFile(t, filepath.Join(dir, "hosts.d", "news.example.toml"),
		"[[when]]\nuri = \"/live/\"\ntime = \"06:00-23:00\"\n[when.politeness]\nmin_delay = \"1s\"\n")
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"a host", []string{"www.news.example"}, cli.ExitOK, "= \"3s\" "},
		{"its origin", []string{"www.news.example", "--set"}, cli.ExitOK, "= \"3s\"  arcrawl.toml:3"},
		{"a URI by day", []string{"www.news.example", "https://www.news.example/live/", "--at", "2026-12-01T06:00:00Z", "--set"}, cli.ExitOK, "= \"1s\"  hosts.d/news.example.toml:5"},
		{"a URI by night", []string{"https://www.news.example/live/", "--at", "2026-12-01T05:59:59Z", "--set"}, cli.ExitOK, "does not apply  hosts.d/news.example.toml:1"},
		{"JSON", []string{"www.news.example", "--set", "--json"}, cli.ExitOK, `"line": 3`},
		{"a URI of another host", []string{"www.news.example", "https://other.example/"}, cli.ExitUsage, "is not on the host www.news.example"},
		{"no time", []string{"www.news.example", "--at", "noon"}, cli.ExitUsage, "is not a time with offset"},
	} {
		code, out, errs := command(append([]string{"effective", "-c", path}, c.args...)...)
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%s: exit code %d, %s%s; want %d and %q", c.name, code, out, errs, c.code, c.want)
		}
	}
}
