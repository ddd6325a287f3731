package captures

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// compared archives two payloads and compares them.
func compared(t *testing.T, mime, before, after, what string, spec digest.Spec) Comparison {
	t.Helper()
	a := archivetest.New(t)
	head := "HTTP/1.1 200 OK\r\nContent-Type: " + mime
	a.Page("http://a.example/", head+"\r\nX-Age: 1", before)
	a.Page("http://a.example/", head+"\r\nX-Age: 2", after)
	return comparedIn(t, a, what, spec)
}

// comparedIn compares the first two captures of an archive.
func comparedIn(t *testing.T, a *archivetest.Archive, what string, spec digest.Spec) Comparison {
	t.Helper()
	l, err := OpenLibrary(t.Context(), a.Dir, Options{}, func(warc.Finding) error { return nil })
	archivetest.Must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	all, err := l.Lookup("http://a.example/", nil)
	if err != nil || len(all) < 2 {
		t.Fatalf("%d captures, %v", len(all), err)
	}
	c, err := Compare(t.Context(), l, all[0], all[1], what, spec)
	archivetest.Must(t, err)
	return c
}

// show writes rows for a test: * before a changed line, - and + before one that is only in one version, { } around a
// part that differs, and < > around a part that a rule hides.
func show(c Comparison) string {
	var b strings.Builder
	line := func(l *CompareLine) string {
		var b strings.Builder
		for _, p := range l.Parts {
			switch {
			case p.Rule > 0:
				fmt.Fprintf(&b, "<%d:%s>", p.Rule, p.Text)
			case p.Differs:
				b.WriteString("{" + p.Text + "}")
			default:
				b.WriteString(p.Text)
			}
		}
		return b.String()
	}
	for _, r := range c.Rows {
		switch r.Kind {
		case "folded":
			fmt.Fprintf(&b, "… %d\n", r.Folded)
		case "same":
			b.WriteString("  " + line(r.Right) + "\n")
		case "changed":
			b.WriteString("* " + line(r.Left) + " | " + line(r.Right) + "\n")
		case "removed":
			b.WriteString("- " + line(r.Left) + "\n")
		case "added":
			b.WriteString("+ " + line(r.Right) + "\n")
		}
	}
	return b.String()
}

const page = "text/html; charset=utf-8"

func TestCompareShowsWhatAReaderSees(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("<li>item\n", 20)
	before := "<title>News</title><style>a{}</style><h1>Ferry  at 7:30</h1><p class=clock>12:01</p>" + long + "<p>The <b>old</b> pier &amp; more<p>gone"
	after := "<title>News</title><style>b{}</style><h1>Ferry at 8:15</h1><p class=clock>14:59</p>" + long + "<p>The <b>new</b> pier &amp; more<p><img alt='a ship'>"
	for _, c := range []struct {
		what, want string
		spec       digest.Spec
		changed    int
	}{
		{Text, "  News\n* Ferry at {7}:{30} | Ferry at {8}:{15}\n* {12}:{01} | {14}:{59}\n  item\n  item\n  item\n… 14\n  item\n  item\n  item\n" +
			"* The {old} pier & more | The {new} pier & more\n* {gone} | {[a ship]}\n", digest.Spec{}, 4},
		{Text, "  News\n* Ferry at <1:7:30> | Ferry at <1:8:15>\n  <2:14:59>\n", digest.Spec{Regexes: []string{`at [0-9]:[0-9]+`}, Selectors: []string{"p.clock"}}, 0},
	} {
		got := compared(t, page, before, after, c.what, c.spec)
		text := show(got)
		if c.changed > 0 && text != c.want || c.changed > 0 && got.Changed != c.changed {
			t.Errorf("%d rows differ:\n%s\nwant:\n%s", got.Changed, text, c.want)
		}
		if c.changed == 0 {
			for _, want := range []string{"  Ferry<1: at 8:15>\n  <2:14:59>\n… 17\n", "* The {old} pier"} {
				if !strings.Contains(text, want) || len(got.Rules) != 2 || got.Hidden != 4 {
					t.Errorf("with rules %q, %d hidden parts:\n%s\nwant %s", got.Rules, got.Hidden, text, want)
				}
			}
		}
	}
}

func TestCompareShowsSourceAndHeaders(t *testing.T) {
	t.Parallel()
	before, after := "<a>1</a>\n<b>2</b>\n<c>3</c>\n", "<a>1</a>\n<b>5</b>\n<c>3</c>\n<d>\n"
	if got := show(compared(t, page, before, after, Source, digest.Spec{})); got != "  <a>1</a>\n* <b>{2}</b> | <b>{5}</b>\n  <c>3</c>\n+ <d>\n" {
		t.Errorf("source:\n%s", got)
	}
	if got := show(compared(t, page, before, before, Headers, digest.Spec{})); got != "  Status: 200\n  Content-Type: text/html; charset=utf-8\n* X-Age: {1} | X-Age: {2}\n" {
		t.Errorf("headers:\n%s", got)
	}
	if got := compared(t, page, before, before, Text, digest.Spec{}); got.Changed != 0 || show(got) != "" && !strings.HasPrefix(show(got), "  1") {
		t.Errorf("equal versions: %d changes\n%s", got.Changed, show(got))
	}
	got := compared(t, "text/html; charset=iso-8859-1", "<p>caf\xe9", "<p>th\xe9", Text, digest.Spec{})
	if show(got) != "* {café} | {thé}\n" {
		t.Errorf("Latin-1:\n%s", show(got))
	}
}

// TestComparePicturesByTheirBytes compares payloads whose media type is wrong on purpose.
func TestComparePicturesByTheirBytes(t *testing.T) {
	t.Parallel()
	png, gif := "\x89PNG\r\n\x1a\nxxxx", "GIF89axxxx"
	if got := compared(t, "image/png", png, png+"y", Text, digest.Spec{}); got.What != Picture || got.Changed != 1 {
		t.Errorf("two pictures: %+v", got)
	}
	if got := compared(t, "image/png", png, gif, Source, digest.Spec{}); got.What != Picture {
		t.Errorf("pictures of two types: %+v", got)
	}
	svg := `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`
	if got := compared(t, "image/svg+xml", svg, svg+" ", Text, digest.Spec{}); got.What == Picture || got.Changed != 0 {
		t.Errorf("SVG, which can have scripts: %+v", got)
	}
	if got := compared(t, "image/png", svg, svg, Text, digest.Spec{}); got.Problem == "" || !strings.Contains(got.Problem, `"image/png"`) {
		t.Errorf("a page that says it is a picture: %+v", got)
	}
	stray := "<p>one\x00 two" + strings.Repeat(" and a long text", 10)
	if got := compared(t, page, stray, stray+" three", Text, digest.Spec{}); got.Problem != "" || got.Changed != 1 {
		t.Errorf("a page with one byte that no text has: %q, %d lines differ", got.Problem, got.Changed)
	}
	binary := strings.Repeat("\x00\x01x", 100)
	if got := compared(t, page, binary, binary, Text, digest.Spec{}); !strings.Contains(got.Problem, `has bytes that no text has, though its media type is "text/html"`) {
		t.Errorf("bytes that are no page: %q", got.Problem)
	}
	if got := compared(t, "application/zip", "PK\x03\x04", "PK\x03\x05", Text, digest.Spec{}); !strings.Contains(got.Problem, "is no text") {
		t.Errorf("an archive: %q", got.Problem)
	}
}

// TestCompareOfHostilePages compares what strangers may send: endless lines, no lines, other bytes, and signs that turn
// the direction of writing.
func TestCompareOfHostilePages(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	noise := func(n int, end string) string {
		var b strings.Builder
		for b.Len() < n {
			b.WriteString(fmt.Sprintf("%x%s", r.Uint64(), end))
		}
		return b.String()
	}
	for _, c := range []struct{ what, mime, before, after string }{
		{"a line of 2 MB", page, "<p>" + noise(2<<20, ""), "<p>" + noise(2<<20, "")},
		{"different lines", "text/plain", noise(1<<20, "\n"), noise(1<<20, "\n")},
		{"no letters", page, strings.Repeat("\n", 1<<20), strings.Repeat("\n ", 1<<19)},
		{"deep elements", page, strings.Repeat("<div>", 50_000), strings.Repeat("<p>", 50_000) + "x"},
		{"elements in one line", page, strings.Repeat("<b>x</b>", 100_000), strings.Repeat("<i>y</i>", 100_000)},
		{"an unfinished tag", page, "<p " + strings.Repeat("a ", 1<<18), "<"},
		{"a wrong charset", "text/html; charset=utf-16", "<p>caf\xe9 one", "<p>caf\xe9 two"},
		{"an unknown charset", "text/html; charset=\"x\u202e<script>\"", "<p>\x1b$B\xff one", "<meta charset=iso-2022-jp><p>\x1b$B\xff two"},
		{"invalid UTF-8", page, strings.Repeat("\xff\xfe\xe2\x80", 10_000), "\xe2\x80"},
	} {
		for _, what := range []string{Text, Source} {
			got := compared(t, c.mime, c.before, c.after, what, digest.Spec{Regexes: []string{`[0-9a-f]+z`}, Selectors: []string{"div div.x"}})
			size := 0
			for _, row := range got.Rows {
				for _, l := range []*CompareLine{row.Left, row.Right} {
					if l != nil {
						for _, p := range l.Parts {
							size = max(size, len(p.Text))
						}
					}
				}
			}
			if len(got.Rows) > maxRows || size > maxLine*3 {
				t.Errorf("%s as %s: %d rows, a part of %d bytes", c.what, what, len(got.Rows), size)
			}
			if len(got.Rows) == maxRows && len(got.Notes) == 0 {
				t.Errorf("%s as %s: rows are missing and no note says so", c.what, what)
			}
		}
	}
	got := show(compared(t, page, "<p>a\u202eb\x07", "<p><script>alert(1)</script>&lt;img onerror&gt;\u2066", Text, digest.Spec{}))
	if got != "* {a[U+202E]b[U+0007]} | {<img onerror>[U+2066]}\n" {
		t.Errorf("misleading signs: %s", got)
	}
}

// TestALostVersionIsASentence compares with a version whose WARC file is cut, or has other bytes.
func TestALostVersionIsASentence(t *testing.T) {
	t.Parallel()
	a := archivetest.New(t)
	a.Page("http://a.example/", archivetest.HTMLHead, "one")
	a.Seal()
	a.Page("http://a.example/", archivetest.HTMLHead, "two")
	a.Seal()
	none := func(warc.Finding) error { return nil }
	l, err := OpenLibrary(context.Background(), a.Dir, Options{}, none)
	archivetest.Must(t, err)
	defer l.Close()
	all, err := l.Lookup("http://a.example/", nil)
	archivetest.Must(t, err)
	file := filepath.Join(a.Dir, all[0].Filename)
	whole := archivetest.Read(t, file)
	for what, c := range map[string]struct {
		change func() error
		want   string
	}{
		"other bytes": {func() error { return os.WriteFile(file, []byte(strings.Repeat("x", len(whole))), 0o644) }, "is damaged"},
		"cut":         {func() error { return os.Truncate(file, all[0].Offset+20) }, "is damaged"},
	} {
		archivetest.Must(t, os.WriteFile(file, []byte(whole), 0o644))
		archivetest.Must(t, c.change())
		got, err := Compare(t.Context(), l, all[0], all[1], Text, digest.Spec{})
		want := "The version of " + all[0].Date().Format(time.DateTime) + " cannot be compared."
		if err != nil || !strings.Contains(got.Problem, want) || !strings.Contains(got.Problem, c.want) {
			t.Errorf("%s: %q, %v", what, got.Problem, err)
		}
	}
}

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
			for _, l := range []*CompareLine{r.Left, r.Right} {
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

// TestManyPicturesInOneParagraphTakeLinearMemory reads a page of pictures without a paragraph. It is not parallel,
// because it counts the bytes that the process allocates.
func TestManyPicturesInOneParagraphTakeLinearMemory(t *testing.T) { //nolint:paralleltest // see above
	page := []byte(strings.Repeat("<img alt=a>", 20_000))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	lines := readerLines(page, nil)
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) >> 20; len(lines) == 0 || got > 200 {
		t.Errorf("%d lines, %d MB were allocated for a page of %d kB", len(lines), got, len(page)>>10)
	}
}

// TestManyLinesTakeBoundedMemory reads versions of as many lines as fit. It is not parallel, because it counts the
// bytes that the process allocates.
func TestManyLinesTakeBoundedMemory(t *testing.T) { //nolint:paralleltest // see above
	breaks, paragraphs := []byte(strings.Repeat("\n", maxBytes)), []byte(strings.Repeat("x<p>", maxBytes/4))
	for what, read := range map[string]func() []line{
		"line breaks": func() []line { return sourceLines(breaks, nil) }, "paragraphs": func() []line { return readerLines(paragraphs, nil) },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		lines := read()
		runtime.ReadMemStats(&after)
		if got := (after.TotalAlloc - before.TotalAlloc) >> 20; len(lines) != maxLines || got > 100 {
			t.Errorf("%s: %d lines, %d MB were allocated", what, len(lines), got)
		}
	}
	one, other := strings.Repeat("\n", maxBytes), strings.Repeat("\n ", maxBytes/2)
	got := compared(t, "text/plain", one, other, Source, digest.Spec{})
	if len(got.Notes) == 0 || !strings.Contains(got.Notes[0], "first 100,000 lines") {
		t.Errorf("the notes are %q", got.Notes)
	}
}

// Links next to each other are words of their own, as in a menu. A link within a word is part of it.
func TestLinksOfAMenuDoNotRunTogether(t *testing.T) {
	t.Parallel()
	page := `<nav><a href=/world>World</a><a href=/city>City</a></nav><p>re<a href=/open>open</a>ing`
	var got []string
	for _, l := range readerLines([]byte(page), nil) {
		got = append(got, l.text())
	}
	if want := []string{"World City", "reopening"}; !slices.Equal(got, want) {
		t.Errorf("a reader sees %q, want %q", got, want)
	}
}
