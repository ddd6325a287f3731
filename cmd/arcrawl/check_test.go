package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/demosite"
)

// TestCheckPrintsItsFaultsAsJSON reads faults as a script does, for example before a commit.
func TestCheckPrintsItsFaultsAsJSON(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "arcrawl.toml")
	read := func(want int) (c checkResult) {
		t.Helper()
		out, _ := ending(t, want, "check", "--json", "--config", path)
		if err := json.Unmarshal([]byte(out), &c); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		return c
	}
	head := "[operator]\nname = \"Library\"\ncontact = \"https://library.example/\"\n"
	daemontest.WriteFile(t, path, head+"[politeness]\nmin_delai = \"2s\"\nvalence = 99\n")
	if c := read(cli.ExitConfig); c.Usable || len(c.Faults) != 2 || c.Faults[0].Line != 5 || c.Faults[0].Key != "politeness.min_delai" || c.Faults[0].Remedy == "" {
		t.Errorf("two faults became %+v", c)
	}
	daemontest.WriteFile(t, path, head+"[politeness]\nmin_delay = \"10ms\"\n[change]\nscrub_css = [\"#x\"]\n[seeds]\nuris = [\"http://a.example/\"]\n")
	if c := read(cli.ExitOK); !c.Usable || c.Seeds != 1 || c.Digest == "" || len(c.Warnings) == 0 {
		t.Errorf("the result for a short delay is %+v, want usable with a warning", c)
	}
}

func TestSchemaAcceptsTheDemo(t *testing.T) {
	code, out, errs := command("init", "--schema", "main")
	if code != cli.ExitOK || errs != "" {
		t.Fatalf("exit code %d, %s", code, errs)
	}
	text, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("main.json", text); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("main.json")
	if err != nil {
		t.Fatal(err)
	}
	var demo map[string]any
	if err := toml.Unmarshal(demosite.Config("127.0.0.1:80", "127.0.0.1:1", "127.0.0.1:2", "engine"), &demo); err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(demo)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(doc); err != nil {
		t.Error(err)
	}
}
