package value_test

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config/document"
	"github.com/arcrawl/arcrawl/config/value"
)

func TestTypeString(t *testing.T) {
	t.Parallel()
	mime := value.Column{Name: "mime", Type: value.Type{Kind: value.Regex}}
	for want, typ := range map[string]value.Type{
		"text":                               {},
		"text, may be empty":                 {Optional: true},
		`"on", "auto" or "off"`:              {Choices: []string{"on", "auto", "off"}},
		`"all" or "once per" and a duration`: {Choices: []string{"all", "once per"}, Every: true},
		"whole number, 0 to 1000000":         {Kind: value.Whole, Max: 1e6},
		"number, 0.01 to 0.99":               {Kind: value.Number, Min: 0.01, Max: 0.99},
		"duration, 1ms to 3650d":             value.DurationType(time.Millisecond, value.Longest),
		"size, 1KiB to 1GB":                  value.SizeType(1024, 1e9),
		"list of URIs":                       value.ListType("URIs"),
		"list of tables with mime and mime":  {Kind: value.Tables, Columns: []value.Column{mime, mime}},
	} {
		if got := typ.String(); got != want {
			t.Errorf("%+v is %q, want %q", typ, got, want)
		}
	}
}

func TestReadDurationKeepsBounds(t *testing.T) {
	t.Parallel()
	typ := value.DurationType(time.Second, time.Hour)
	for text, want := range map[string]string{
		"1s": "", "1h": "", "1m30s": "",
		"999ms":  `f.toml:1:7: k: "999ms" is too short; minimum: "1s"`,
		"1h1ms":  `f.toml:1:7: k: "1h1ms" is too long; maximum: "1h"`,
		"1 hour": `f.toml:1:7: k: "1 hour" is not a duration; write a duration such as "90s", "12h" or "28d"`,
	} {
		doc := document.Parse([]byte("k =   \""+text+"\""), "f.toml")
		f := document.Field{Doc: doc, Name: "k", Path: document.Path("").Key("k"), Value: doc.Root["k"]}
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
