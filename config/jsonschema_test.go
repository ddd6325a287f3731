package config_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/arcrawl/arcrawl/config"
)

// commented matches a key or table that is a comment.
var commented = regexp.MustCompile(`(?m)^#([a-z_]+ = |\[)`)

// compiled returns the compiled schema of a kind of file.
func compiled(t *testing.T, scope string) *jsonschema.Schema {
	t.Helper()
	text, err := config.Schema(scope)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(scope+".json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(scope + ".json") // validates it against the meta-schema
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	var doc map[string]any
	if err := toml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return s.Validate(plainValues(doc))
}

// plain converts decoded TOML into decoded JSON.
func plainValues(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, e := range v {
			out[name] = plainValues(e)
		}
		return out
	case []map[string]any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = plainValues(e)
		}
		return out
	case time.Time:
		return v.Format(time.RFC3339)
	}
	return v
}

func TestSchemaAcceptsWrittenFiles(t *testing.T) {
	inOrder := map[string]string{
		"operator.name": `"Library"`, "operator.contact": `"a@library.example"`,
	}
	for name, c := range map[string]struct{ scope, text string }{
		"a new main file":                {"main", config.MainFile(inOrder)},
		"a main file with every key set": {"main", commented.ReplaceAllString(config.MainFile(inOrder), "$1")},
		"a new host file":                {"host", config.NewHostFile("a.example:81", []string{"http://a.example:81/"})},
		"a host file with its keys set":  {"host", commented.ReplaceAllString(config.NewHostFile("a.example", []string{"http://a.example/"}), "$1")},
	} {
		if err := validate(t, compiled(t, c.scope), c.text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSchemaAndCheckAgree has lines that both accept, or both refuse.
func TestSchemaAndCheckAgree(t *testing.T) {
	main, host := compiled(t, "main"), compiled(t, "host")
	for _, c := range []struct {
		text string
		ok   bool
	}{
		{"crawl.workers = 1", true},
		{"crawl.workers = 0", false},
		{"crawl.workers = 10001", false},
		{"crawl.workers = 1.5", false},
		{"crawl.workers = \"1\"", false},
		{"crawl.workerz = 1", false},
		{"crawlz.workers = 1", false},
		{"workers = 1", false},
		{"crawl.grace = \"1m30s\"", true},
		{"crawl.grace = \"1.5m\"", false},
		{"crawl.grace = \"30s1m\"", false},
		{"crawl.grace = \"\"", false},
		{"crawl.grace = 90", false},
		{"storage.min_free = \"500MB\"", true},
		{"storage.min_free = \"500mb\"", false},
		{"storage.min_free = \"1.5GB\"", false},
		{"log.extra_info = true", true},
		{"log.extra_info = \"true\"", false},
		{"politeness.delay_factor = 3", true},
		{"politeness.delay_factor = -1", false},
		{"change.mode = \"text\"", true},
		{"change.mode = \"fuzzy\"", false},
		{"change.keep_scrubbed = \"once per 7d\"", true},
		{"change.keep_scrubbed = \"once per week\"", false},
		{"change.keep_scrubbed = \"twice\"", false},
		{"midfetch.by_type = [{ mime = '^image/.*', decide_by = \"either\" }]", true},
		{"midfetch.by_type = [{ mime = '^image/.*' }]", false},
		{"midfetch.by_type = [{ mime = '^image/.*', decide_by = \"either\", x = 1 }]", false},
		{"feeds.implied_by = [{ feed = \"https://a.example/f\", pages = [\"https://a.example/\"] }]", true},
		{"feeds.implied_by = [{ feed = \"https://a.example/f\", pages = \"https://a.example/\" }]", false},
		{"seeds.uris = [\"https://a.example/\"]", true},
		{"seeds.uris = \"https://a.example/\"", false},
		{"seeds.uris = [5]", false},
		{"[[wait]]\nmime = '.*'\nmin = \"5m\"", true},
		{"[[wait]]\nmin = \"5m\"", false},
		{"[wait]\nmime = '.*'", false},
		{"host = \"a.example\"", false},
		{"until = 2026-12-01", false},
		{"[[when]]\nuri = '/live/'\nuntil = 2026-12-01\n[when.politeness]\nmin_delay = \"5s\"", true},
		{"[[when]]\ntime = \"22:00-06:00\"\nweekdays = [\"mon-fri\"]\nwait = [{ mime = '.*', min = \"5m\" }]", true},
		{"[[when]]\ntime = \"morning\"\nscope.max_hops = 3", false},
		{"[[when]]\nuri = '/live/'\nuntil = \"soon\"", false},
		{"[[when]]\nuri = '/live/'\nseeds.uris = []", false},
		{"[[when]]\nuri = '/live/'\ncrawl.workers = 5", false},
		{"[[when]]\nuri = '/live/'\nmin_delay = \"5s\"", false},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "arcrawl.toml")
		text := "operator.name = \"Library\"\noperator.contact = \"a@library.example\"\n" + c.text + "\n"
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, checked := config.Load(path)
		valid := validate(t, main, text)
		if (checked == nil) != c.ok || (valid == nil) != c.ok {
			t.Errorf("%s: want it accepted: %t\ncheck: %v\nschema: %v", c.text, c.ok, checked, valid)
		}
	}
	if err := validate(t, main, "[operator]\nname = \"Library\"\n"); err == nil {
		t.Error("a main file without operator.contact is accepted")
	}
	for text, ok := range map[string]bool{
		"host = \"a.example\"": true, "scope.max_hops = 3": true, "until = 2026-12-01T10:00:00": true, "crawl.workers = 5": false, "": true,
	} {
		if err := validate(t, host, text); (err == nil) != ok {
			t.Errorf("in a host file, %q: %v; want it accepted: %t", text, err, ok)
		}
	}
}

// TestSchemaRefusesUnknownKeys uses the broken configurations with an unknown key or table. A schema cannot detect many
// of the other faults.
func TestSchemaRefusesUnknownKeys(t *testing.T) {
	main := compiled(t, "main")
	files, err := filepath.Glob("testdata/bad/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	refused := 0
	for _, file := range files {
		want, err := os.ReadFile(strings.TrimSuffix(file, ".toml") + ".want")
		if err != nil || !strings.Contains(string(want), "unknown key") && !strings.Contains(string(want), "unknown table") {
			continue
		}
		var doc map[string]any
		if _, err := toml.DecodeFile(file, &doc); err != nil {
			continue
		}
		refused++
		if err := main.Validate(plainValues(doc)); err == nil {
			t.Errorf("%s is accepted, but arcrawl check refuses it: %s", filepath.Base(file), want)
		}
	}
	if refused == 0 {
		t.Error("no file with an unknown key was found: this test looks at the wrong folder")
	}
}
