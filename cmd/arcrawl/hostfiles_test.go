package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

func TestHostsAndSeedsAreListedAddedAndRemoved(t *testing.T) {
	t.Parallel()
	path, dir := daemontest.Configure(t, strings.Replace(daemontest.Settled, "uris = [\"http://127.0.0.1:9/\"]", "", 1))
	must := func(args ...string) string {
		t.Helper()
		code, out, errs := command(append(args, "-c", path)...)
		if code != cli.ExitOK {
			t.Fatalf("arcrawl %q: exit code %d, %s%s", args, code, out, errs)
		}
		return out
	}
	must("seeds", "add", "https://www.news.example/", "https://bücher.example/")
	file := filepath.Join(dir, "hosts.d", "www.news.example.toml")
	before := readText(t, file)
	if out := must("seeds", "add", "https://www.news.example/sport/"); !strings.Contains(out, "added 1 seed to "+file) {
		t.Errorf("a second seed of a known host: %s", out)
	}
	if after := readText(t, file); strings.Count(after, "\n#") < strings.Count(before, "\n#") || !strings.Contains(after, "sport") {
		t.Errorf("the file after the second seed:\n%s", after)
	}
	if out := must("seeds", "add", "https://www.news.example/sport/"); !strings.Contains(out, "was not changed") {
		t.Errorf("a seed that is listed already: %s", out)
	}
	if out := must("host", "list", "--files"); !strings.Contains(out, "www.news.example") || !strings.Contains(out, "2 seeds") ||
		!strings.Contains(out, "bücher.example (xn--bcher-kva.example)") {
		t.Errorf("host list:\n%s", out)
	}
	if out := must("seeds", "list"); strings.Count(out, "\n") != 3 || !strings.Contains(out, "https://www.news.example/sport/") ||
		!strings.Contains(out, "bücher.example") {
		t.Errorf("seeds list:\n%s", out)
	}
	if out := must("host", "edit", "--print", "www.news.example"); out != readText(t, file) {
		t.Errorf("host show:\n%s", out)
	}
	must("seeds", "remove", "https://www.news.example/sport/")
	if out := must("seeds", "list"); strings.Contains(out, "sport") {
		t.Errorf("seeds list after the removal:\n%s", out)
	}
	must("seeds", "remove", "www.news.example")
	if _, err := os.Stat(file); err == nil {
		t.Error("the removed file is still there")
	}
	if out := must("host", "list", "--files"); !strings.Contains(out, "removed") {
		t.Errorf("host list after the removal:\n%s", out)
	}
	for _, args := range [][]string{
		{"host", "edit", "--print", "www.news.example"},
		{"seeds", "remove", "nobody.example"},
		{"seeds", "remove", "https://nobody.example/"},
		{"frontier", "list", "--count", "--host", "a.example", "--host", "b.example"},
	} {
		if code, _, errs := command(append(args, "-c", path)...); code != cli.ExitUsage {
			t.Errorf("arcrawl %q: exit code %d, %s", args, code, errs)
		}
	}
}

// A site without its scheme, and a command without a daemon, are answered with what to do.
func TestFirstSlipsAreAnsweredWithARemedy(t *testing.T) {
	t.Parallel()
	path, _ := daemontest.Configure(t, daemontest.Settled)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"seeds", "add", "www.other.example"}, `"www.other.example" does not begin with http:// or https://; write for example https://www.other.example/`},
		{[]string{"seeds", "add", "://"}, "write for example https://www.news.example/"},
		{[]string{"status", "--watch"}, "start it with: arcrawl run --config " + path},
	} {
		if code, _, errs := command(append(c.args, "-c", path)...); code == cli.ExitOK || !strings.Contains(errs, c.want) {
			t.Errorf("arcrawl %q: exit code %d, %s; want %q", c.args, code, errs, c.want)
		}
	}
}

// exists reports whether there is a file.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
