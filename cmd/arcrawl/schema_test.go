package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func TestSchemaAcceptsTheDemo(t *testing.T) {
	code, out, errs := command("schema")
	if code != exitOK || errs != "" {
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
	if err := toml.Unmarshal([]byte(fmt.Sprintf(demoTOML, "127.0.0.1:80", "127.0.0.1:1")), &demo); err != nil {
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

func TestSchemaRefusesUnknownFiles(t *testing.T) {
	if code, _, errs := command("schema", "seeds"); code != exitUsage || !strings.Contains(errs, `invalid argument "seeds"`) {
		t.Errorf("exit code %d, %s", code, errs)
	}
}
