package curator

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/uri"
)

// FuzzList reads arbitrary seed lists. Each entry must have a canonical URI and texts that may be shown, each fault a
// place in the list, a problem and a remedy.
func FuzzList(f *testing.F) {
	for _, text := range []string{
		"https://a.example/\n# why\n\thttp://b.example\r\nmailto:x\n", "uri,title\nhttps://a.example/,\"a \"\"b\"\"\"\n,x\n",
		"\xef\xbb\xbfURL;Labels;Collection;Target;Until\nhttp://a.example/;x|y;z;90 %;2026-12-31\nhttp://b.example/;;;2;x\n",
		"seed\townner\n", "uri,uri\n", "uri,note\nhttp://a.example/,\"two\r\nlines", "PK\x03\x04", "\xff\xfeh\x00", "uri,title\nhttp://a.example/,a\u202eb\xff\n",
		"uri\nhttp://a.example/,1,2\n", "\"uri\",\"target\"\nhttp://a.example/,\"0,5\"\n", "",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		l := readList(text)
		lines := 1 + bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r"))
		if len(l.Faults) > min(l.Faulty, 1000) || l.Faulty > 0 && len(l.Faults) == 0 || len(l.Entries) > lines {
			t.Fatalf("%d entries, %d faults of %d", len(l.Entries), len(l.Faults), l.Faulty)
		}
		for _, e := range l.Entries {
			u, err := uri.Parse(e.Text)
			title, _ := config.CheckTitle(e.Title)
			note, _ := config.CheckNote(e.Note)
			if err != nil || u.String() != e.Text || title+note != "" || e.Line < 1 || e.Line > lines || e.Target < 0 || e.Target > 1 {
				t.Errorf("entry %+v, %v, %s %s", e, err, title, note)
			}
			for _, name := range append(append(e.Labels, e.Collections...), e.Owners...) {
				if problem, _ := config.CheckName(name); problem != "" {
					t.Errorf("the name %q %s", name, problem)
				}
			}
		}
		for _, x := range l.Faults {
			if x.Line < 1 || x.Line > lines || x.Column < 1 || x.Problem == "" || x.Remedy == "" || len(x.Value) > 90 {
				t.Errorf("fault %+v", x)
			}
			if utf8.Valid(text) && (!utf8.ValidString(x.String()) || strings.ContainsRune(x.String(), '\n')) {
				t.Errorf("the fault is shown as %q", x)
			}
		}
	})
}
