package schema_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
)

func TestTypeString(t *testing.T) {
	t.Parallel()
	mime := schema.Column{Name: "mime", Type: schema.Type{Kind: schema.Regex}}
	for want, typ := range map[string]schema.Type{
		"text":                               {},
		"text, may be empty":                 {Optional: true},
		`"on", "auto" or "off"`:              {Choices: []string{"on", "auto", "off"}},
		`"all" or "once per" and a duration`: {Choices: []string{"all", "once per"}, Every: true},
		"whole number, 0 to 1000000":         {Kind: schema.Whole, Max: 1e6},
		"number, 0.01 to 0.99":               {Kind: schema.Number, Min: 0.01, Max: 0.99},
		"duration, 1ms to 3650d":             schema.DurationType(time.Millisecond, schema.Longest),
		"size, 1KiB to 1GB":                  schema.SizeType(1024, 1e9),
		"list of URIs":                       schema.ListType("URIs"),
		"list of tables with mime and mime":  {Kind: schema.Tables, Columns: []schema.Column{mime, mime}},
	} {
		if got := typ.String(); got != want {
			t.Errorf("%+v is %q, want %q", typ, got, want)
		}
	}
}

func TestReadDurationKeepsBounds(t *testing.T) {
	t.Parallel()
	typ := schema.DurationType(time.Second, time.Hour)
	for text, want := range map[string]string{
		"1s": "", "1h": "", "1m30s": "",
		"999ms":  `f.toml:1:7: k: "999ms" is too short; minimum: "1s"`,
		"1h1ms":  `f.toml:1:7: k: "1h1ms" is too long; maximum: "1h"`,
		"1 hour": `f.toml:1:7: k: "1 hour" is not a duration; write a duration such as "90s", "12h" or "28d"`,
	} {
		doc := schema.Parse([]byte("k =   \""+text+"\""), "f.toml")
		f := schema.Field{Doc: doc, Name: "k", Path: schema.Path("").Key("k"), Value: doc.Root["k"]}
		_, ok := typ.ReadDuration(f)
		got := ""
		if len(doc.Faults) > 0 {
			got = doc.Faults[0].String()
		}
		if got != want || ok != (want == "") {
			t.Errorf("%q: accepted %t, %s; want %s", text, ok, got, want)
		}
	}
}
