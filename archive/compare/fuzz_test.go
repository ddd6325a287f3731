package compare

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// misleads reports whether a character can mislead who reads a line.
func misleads(r rune) bool {
	return r != '\t' && r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
}

// FuzzCompare compares arbitrary versions. What is shown must be valid, within its bounds and without characters that
// mislead a reader, and a version does not differ from itself.
func FuzzCompare(f *testing.F) {
	for i, page := range []string{
		"<title>News</title><h1>Ferry  at 7:30</h1><p class=clock>12:01</p><ul><li>item<li>item</ul><pre>a\n b</pre>",
		"<p>a\u202eb\x07<img alt='\u2066'><table><tr><td>1<td>2</table><script>x</script>&lt;p&gt;", "a\r\nb\rc\x00\xff\n\n",
		strings.Repeat("word ", 300) + "<b><i><b>", "{\"a\":1}", "<p", "",
	} {
		f.Add([]byte(page), []byte("<p class=clock>"+page+" at 8:15 "), byte(i), "text/html; charset=utf-8")
		f.Add([]byte(page+"x"), []byte(page), byte(i), "text/plain; charset=utf-16le")
	}
	rules, err := digest.Compile(digest.Spec{Regexes: []string{`at [0-9]:[0-9]+`}, Selectors: []string{"p.clock"}})
	archivetest.Must(f, err)
	entry := index.Entry{URL: "http://news.example/", Timestamp: "20261121090000"}
	f.Fuzz(func(t *testing.T, before, after []byte, kind byte, mime string) {
		p := Pair{entries: [2]index.Entry{entry, entry}}
		p.both = [2]version{{mime, string(before), before, false}, {mime, string(after), after, false}}
		what := Kinds()[int(kind)%len(Kinds())]
		got, err := p.Compare(t.Context(), what, rules)
		if err != nil || len(got.Rows) > maxRows {
			t.Fatalf("%d rows, %v", len(got.Rows), err)
		}
		for _, r := range got.Rows {
			for _, l := range []*api.CompareLine{r.Left, r.Right} {
				if l == nil {
					continue
				}
				for _, part := range l.Parts {
					if !utf8.ValidString(part.Text) || strings.ContainsFunc(part.Text, misleads) || len(part.Text) > 9*maxLine {
						t.Errorf("%s shows the part %q", what, part.Text)
					}
				}
			}
		}
		p.both[1] = p.both[0]
		if same, err := p.Compare(t.Context(), what, rules); err != nil || same.Changed != 0 {
			t.Errorf("%s: a version differs from itself: %+v, %v", what, same, err)
		}
	})
}
