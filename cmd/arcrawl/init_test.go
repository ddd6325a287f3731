package main

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

// commented matches a key or table in a comment.
var commented = regexp.MustCompile(`(?m)^#([a-z_]+ = |\[)`)

// filledIn are the arguments that complete a main file.
var filledIn = []string{"--set", "operator.name=Library", "--set", "operator.contact=a@library.example"}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestInitWritesAFileToFillIn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "crawl")
	path := filepath.Join(dir, "arcrawl.toml")
	code, out, errs := command("init", "--all", dir)
	if code != cli.ExitOK || !strings.HasPrefix(out, "wrote "+path+"\n") || errs != "" {
		t.Fatalf("exit code %d, %s%s", code, out, errs)
	}
	text := readText(t, path)
	for _, k := range config.Keys() {
		table, name, inTable := strings.Cut(k.Name, ".")
		shown := false
		for i, part := range strings.Split(text, "["+table+"]") { // a table has its keys up to the next one
			part, _, _ = strings.Cut(part, "\n[")
			part, _, _ = strings.Cut(part, "\n#[")
			shown = shown || i > 0 && regexp.MustCompile(`(?m)^#?`+name+` = `).MatchString(part)
		}
		if inTable && shown != (k.Scope != "host") {
			t.Errorf("%s, a key of %s files, is listed: %t", k.Name, k.Scope, shown)
		}
	}
	code, _, errs = command("check", "-c", path)
	if code != cli.ExitConfig || strings.Count(errs, "\n") != 2 || !strings.Contains(errs, "operator.name") || !strings.Contains(errs, "operator.contact") {
		t.Errorf("check of what is not filled in: exit code %d, want faults of name and contact alone:\n%s", code, errs)
	}
	for _, field := range []string{"name", "contact"} {
		text = strings.Replace(text, "\n"+field+` = ""`, "\n"+field+` = "https://library.example/"`, 1)
	}
	daemontest.WriteFile(t, path, text)
	if code, out, errs := command("check", "-c", path); code != cli.ExitOK || !strings.Contains(out, "is valid: 0 seeds") {
		t.Errorf("check of what is filled in: exit code %d, %s%s", code, out, errs)
	}
	code, _, errs = command("init", dir)
	if code != cli.ExitFolder || !strings.Contains(errs, "exists already and was not changed") || readText(t, path) != text {
		t.Errorf("a second init: exit code %d, %s", code, errs)
	}
}

// TestInitWritesAFileThatOneCanRead counts the lines of a new main file, and uses it as it is and without # signs.
func TestInitWritesAFileThatOneCanRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "arcrawl.toml")
	code, out, errs := command(append([]string{"init", dir, "--set", "crawl.workers=7"}, filledIn...)...)
	text := readText(t, path)
	if n := strings.Count(text, "\n"); code != cli.ExitOK || n > 36 || !strings.Contains(text, "--all") ||
		!strings.Contains(text, "\nworkers = 7\n") || !strings.Contains(out, "arcrawl run --config "+path+"\n  arcrawl user add") {
		t.Errorf("exit code %d, %d lines, %s%s:\n%s", code, n, out, errs, text)
	}
	for _, text := range []string{text, commented.ReplaceAllString(text, "$1")} {
		daemontest.WriteFile(t, path, text)
		if code, out, errs := command("check", "-c", path); code != cli.ExitOK || !strings.Contains(out, "is valid: 0 seeds") {
			t.Errorf("check: exit code %d, %s%s of\n%s", code, out, errs, text)
		}
	}
}

// TestTheDefaultsThatInitShowsAreTheDefaults removes the comment signs. The settings stay the same.
func TestTheDefaultsThatInitShowsAreTheDefaults(t *testing.T) {
	dir := t.TempDir()
	if code, _, errs := command(append([]string{"init", "--all", dir}, filledIn...)...); code != cli.ExitOK {
		t.Fatal(errs)
	}
	load := func(text string) *config.Config {
		path := filepath.Join(dir, "another.toml")
		daemontest.WriteFile(t, path, text)
		c, err := config.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	shown := readText(t, filepath.Join(dir, "arcrawl.toml"))
	plain, taken := load(shown), load(commented.ReplaceAllString(shown, "$1"))
	opaque := cmp.Comparer(func(a, b *regexp.Regexp) bool {
		return a == b || a != nil && b != nil && a.String() == b.String()
	})
	a, b := plain.ForHost("www.a.example", time.Time{}), taken.ForHost("www.a.example", time.Time{})
	compiled := cmpopts.IgnoreFields(noise.Options{}, "Rules", "Seen") // from the other fields
	if diff := cmp.Diff(a, b, opaque, compiled); diff != "" {
		t.Errorf("settings of a host (-default +shown):\n%s", diff)
	}
	if diff := cmp.Diff(plain.Crawl, taken.Crawl) + cmp.Diff(plain.WARC, taken.WARC) + cmp.Diff(plain.Storage.MinFree, taken.Storage.MinFree); diff != "" {
		t.Errorf("settings of the crawl (-default +shown):\n%s", diff)
	}
	if len(a.Wait) != 1 || reflect.TypeOf(a.Wait[0].Rule) != reflect.TypeFor[evaluators.Learned]() {
		t.Errorf("a new crawl has the waits %v, want one entry with the rule learned", a.Wait)
	}
}
