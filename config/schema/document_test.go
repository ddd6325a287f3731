package schema_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/config/schema"
)

func TestPositions(t *testing.T) {
	t.Parallel()
	d := schema.Parse([]byte("\ufeff[a]\nb = [\"x\", \"y\"]\n[[c]]\nd = { e = 1,  f = 2 }\n[[c]]\n\"g.h\" = \"é\" # é\n"), "f.toml")
	if len(d.Faults) > 0 {
		t.Fatal(d.Faults)
	}
	root := schema.Path("")
	got := map[string][4]int{}
	for name, path := range map[string]schema.Path{
		"table":               root.Key("a"),
		"list":                root.Key("a.b"),
		"element":             root.Key("a.b").Element(1),
		"inline table":        root.Key("c").Element(0).Key("d.f"),
		"quoted key":          root.Key("c").Element(1).Child("g.h"),
		"key that is not set": root.Key("a.b.x"),
		"unknown table":       root.Key("x"),
	} {
		key, value := d.AtKey(path, schema.Fault{}), d.AtValue(path, schema.Fault{})
		got[name] = [4]int{key.Line, key.Column, value.Line, value.Column}
	}
	want := map[string][4]int{
		"table":               {1, 2, 1, 2},
		"list":                {2, 1, 2, 5},
		"element":             {2, 11, 2, 11},
		"inline table":        {4, 15, 4, 19},
		"quoted key":          {6, 1, 6, 9},
		"key that is not set": {2, 1, 2, 5},
		"unknown table":       {1, 1, 1, 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("line and column of key and value (-want +got):\n%s", diff)
	}
	if d.Has(root.Key("a.b.x")) || !d.Has(root.Key("a.b")) {
		t.Error("Has reports a key that is not set, or misses one")
	}
	if v := d.Value(root.Key("c").Element(1).Child("g.h")); v != "é" {
		t.Errorf("the value of the quoted key is %v", v)
	}
}
