package config

import (
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/uri"
)

// FuzzRead decodes and reads any text as a main file and as a host file. It is faster than FuzzLoad because it needs no
// files. Reading must not panic, and a text that cannot be decoded must have a fault.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"", "\ufeff[a]\r\nb = 1", "[politeness]\nmin_delay = \"2s\"\nmin_delay = 5", "[[wait]]\nmime = '.*'\nmin = \"5\"\n[wait.x]\n",
		"wait = [{ mime = \".*\", min = \"1h\" }, { mime = 5 }, []]\n", "\"politeness\".'valence' = 0x10", "a = {b = {c = [[{d = 1}]]}}",
		"seeds.uris = ['http://a.example/', \"\"\"\nx\"\"\", 1979-05-27]\nhost = 'a.example:80'", "[fetch]\nallow_networks = [\"::1/128\"]\nmax_body = '1GB'",
		"until = 2026-12-01\n[[when]]\nuri = '/live/'\ntime = \"06:00-23:00\"\nuntil = 2026-12-01T10:00:00\nwait = [{ mime = \".*\", min = \"1m\" }]\n[when.politeness]\nmin_delay = \"1m\"\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, where := range []string{InMain, InHost} {
			d := coreCatalog.newDraft(new(Config))
			d.shadowed = builtIn(d.plain)
			doc := schema.Parse(text, "f.toml")
			if (doc.Root == nil) != (len(doc.Faults) > 0) {
				t.Fatalf("%q: decoded %v, faults %v", text, doc.Root, doc.Faults)
			}
			newReader(doc, d, where).file()
			d.finish(doc, "")
			checkSettings([]source{{doc: doc}}, d)
			if len(doc.Faults) == 0 {
				p := profile{base: d, layers: d.whens}
				p.settings(About{
					URI: uri.FromCanonical("http://a.example/live/"), ContentType: "text/html", Now: time.Unix(1e9, 0),
				})
			}
			for _, fault := range doc.Faults {
				if fault.Line > strings.Count(string(text), "\n")+1 || fault.Problem == "" || fault.Remedy == "" || fault.String() == "" {
					t.Fatalf("%q: fault %#v", text, fault)
				}
			}
		}
	})
}
