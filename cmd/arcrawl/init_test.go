package main

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"

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
	code, out, errs := command("init", dir)
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

// TestTheDefaultsThatInitShowsAreTheDefaults removes the comment signs. The settings stay the same.
func TestTheDefaultsThatInitShowsAreTheDefaults(t *testing.T) {
	dir := t.TempDir()
	if code, _, errs := command(append([]string{"init", dir}, filledIn...)...); code != cli.ExitOK {
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
	a.Change.Rules, b.Change.Rules = nil, nil // compiled from the other fields
	a.Change.Seen, b.Change.Seen = nil, nil
	if diff := cmp.Diff(a, b, opaque); diff != "" {
		t.Errorf("settings of a host (-default +shown):\n%s", diff)
	}
	if diff := cmp.Diff(plain.Crawl, taken.Crawl) + cmp.Diff(plain.WARC, taken.WARC) + cmp.Diff(plain.Storage.MinFree, taken.Storage.MinFree); diff != "" {
		t.Errorf("settings of the crawl (-default +shown):\n%s", diff)
	}
	if len(a.Wait) != 1 || reflect.TypeOf(a.Wait[0].Rule) != reflect.TypeFor[evaluators.Learned]() {
		t.Errorf("a new crawl has the waits %v, want one entry with the rule learned", a.Wait)
	}
}

func TestInitWritesSetValues(t *testing.T) {
	for _, c := range []struct {
		set  []string
		code int
		want string // in the file, or in the message
	}{
		{[]string{`operator.name=Ville de "Québec" \ <a>`}, cli.ExitOK, "\nname = \"Ville de \\\"Québec\\\" \\\\ <a>\"\n"},
		{[]string{"crawl.workers=7"}, cli.ExitOK, "\nworkers = 7\n"},
		{[]string{"crawl.grace=5m"}, cli.ExitOK, "\ngrace = \"5m\"\n"},
		{[]string{"log.extra_info=true"}, cli.ExitOK, "\nextra_info = true\n"},
		{[]string{"seeds.uris=https://a.example/"}, cli.ExitOK, "\nuris = [\"https://a.example/\"]\n"},
		{[]string{`seeds.uris=["https://a.example/", "https://b.example/"]`}, cli.ExitOK, "\nuris = [\"https://a.example/\", \"https://b.example/\"]\n"},
		{[]string{"crawl.workers"}, cli.ExitUsage, "want KEY=VALUE"},
		{[]string{"crawl.workerz=7"}, cli.ExitUsage, "has no key crawl.workerz"},
		{[]string{"host=a.example"}, cli.ExitUsage, "has no key host"},
		{[]string{"wait.min=7m"}, cli.ExitUsage, "write the [[wait]] tables into the file"},
	} {
		path := filepath.Join(t.TempDir(), "arcrawl.toml")
		args := []string{"init", filepath.Dir(path)}
		for _, s := range c.set {
			args = append(args, "--set", s)
		}
		code, _, got := command(args...)
		if code == cli.ExitOK {
			got = readText(t, path)
			if err := toml.Unmarshal([]byte(got), new(map[string]any)); err != nil {
				t.Errorf("%v: %v", c.set, err)
			}
		}
		if code != c.code || !strings.Contains(got, c.want) {
			t.Errorf("%v: exit code %d, want %d and %q in\n%s", c.set, code, c.code, c.want, got)
		}
	}
}

func TestHostAddWritesValidFiles(t *testing.T) {
	dir := t.TempDir()
	main := filepath.Join(dir, "arcrawl.toml")
	add := func(args ...string) (int, string, string) {
		return command(append([]string{"seeds", "add", "-c", main}, args...)...)
	}
	if code, _, errs := add("https://www.a.example/"); code != cli.ExitFolder || !strings.Contains(errs, "arcrawl init") {
		t.Errorf("without a main file: exit code %d, %s", code, errs)
	}
	if code, _, errs := command(append([]string{"init", dir}, filledIn...)...); code != cli.ExitOK {
		t.Fatal(errs)
	}
	hosts := filepath.Join(dir, "hosts.d")
	uris := []string{"https://www.a.example/", "http://b.example:8080/x", "https://WWW.a.example/sport/#top", "http://[::1]:81/"}
	code, out, errs := add(uris...)
	if want := "wrote " + hosts + "/www.a.example.toml\nwrote " + hosts + "/b.example_8080.toml\nwrote " + hosts + "/__1__81.toml\n"; code != cli.ExitOK || !strings.HasPrefix(out, want+"if crawled before: ") {
		t.Errorf("exit code %d, %s%s\nwant\n%s", code, out, errs, want)
	}
	a := readText(t, filepath.Join(hosts, "www.a.example.toml"))
	if !strings.Contains(a, `uris = ["https://www.a.example/", "https://www.a.example/sport/"]`) || strings.Contains(a, "\nhost =") {
		t.Errorf("the file of a plain host:\n%s", a)
	}
	if b := readText(t, filepath.Join(hosts, "b.example_8080.toml")); !strings.Contains(b, "\nhost = \"b.example:8080\"\n") {
		t.Errorf("the file of a host with a port:\n%s", b)
	}
	if code, out, errs := command("check", "-c", main); code != cli.ExitOK || strings.Count(errs, "warning") != 1 || !strings.Contains(out, "4 seeds") {
		t.Errorf("check: exit code %d, %s%s", code, out, errs)
	}
	daemontest.WriteFile(t, filepath.Join(hosts, "www.a.example.toml"), commented.ReplaceAllString(a, "$1"))
	if code, _, errs := command("check", "-c", main); code != cli.ExitOK {
		t.Errorf("check of the file without its comment signs: exit code %d, %s", code, errs)
	}
	if code, out, errs := add("https://www.a.example/"); code != cli.ExitOK || !strings.Contains(out, "was not changed") {
		t.Errorf("the same host again: exit code %d, %s%s", code, out, errs)
	}
	for _, wrong := range []string{"www.c.example", "ftp://c.example/", "https://"} {
		if code, _, errs := add(wrong); code != cli.ExitUsage || !strings.Contains(errs, wrong) {
			t.Errorf("%s: exit code %d, %s", wrong, code, errs)
		}
	}
}

func TestHostAddReportsOtherFaults(t *testing.T) {
	dir := t.TempDir()
	main := filepath.Join(dir, "arcrawl.toml")
	if code, _, errs := command("init", dir); code != cli.ExitOK {
		t.Fatal(errs)
	}
	code, out, errs := command("seeds", "add", "-c", main, "https://a.example/")
	if code != cli.ExitConfig || out != "" || !strings.Contains(errs, "operator.contact") {
		t.Errorf("a main file with faults: exit code %d, %s%s", code, out, errs)
	}
	elsewhere := filepath.Join(t.TempDir(), "of hosts")
	if err := os.Mkdir(elsewhere, 0o700); err != nil {
		t.Fatal(err)
	}
	daemontest.WriteFile(t, main, strings.Replace(daemontest.Settled, "[storage]\n", "[storage]\nhosts = "+config.Quote(elsewhere)+"\n", 1))
	if code, _, errs := command("seeds", "add", "-c", main, "https://b.example/"); code != cli.ExitOK || !exists(filepath.Join(elsewhere, "b.example.toml")) {
		t.Errorf("the folder of the configuration: exit code %d, %s", code, errs)
	}
	if code, _, errs := command("seeds", "add", "-c", main, "--dir", filepath.Join(dir, "hosts.d"), "https://d.example/"); code != cli.ExitFolder || !strings.Contains(errs, "storage.hosts") {
		t.Errorf("a folder that is not read: exit code %d, %s", code, errs)
	}
	if code, _, errs := command("seeds", "add", "-c", main, "--dir", elsewhere, "https://c.example/"); code != cli.ExitOK {
		t.Errorf("the folder that is read: exit code %d, %s", code, errs)
	}
}
