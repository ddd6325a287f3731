package changes

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/uax29/v2/words"
)

var writePages = flag.String("pages", "", "write the pages of all builders, and what is true of them, into this folder")

// truth holds what a library should find on a page.
type truth struct {
	Title, Author, Standfirst string
	Date                      time.Time
	Body                      []string
}

// articles returns an article of each builder and each story, and what is true of it.
func articles(t testing.TB, do func(name string, page []byte, is truth)) {
	for i, b := range builders(t) {
		if b.front() {
			continue
		}
		for n := range stories {
			p := pageOf(n + i)
			is := truth{p.Title, p.Author, p.Standfirst, p.published, p.Body}
			if b.live() {
				for k, e := range p.Live {
					is.Body[k] = e.Title + " " + e.Text
				}
			}
			do(fmt.Sprintf("%s-%d.html", b.name, n), b.build(t, p), is)
		}
	}
}

// TestPagesAreWritten writes pages for programs of others, if a flag says so.
func TestPagesAreWritten(t *testing.T) {
	if *writePages == "" {
		t.Skip("no -pages")
	}
	truths := map[string]truth{}
	articles(t, func(name string, page []byte, is truth) {
		truths[name] = is
		if err := os.WriteFile(filepath.Join(*writePages, name), page, 0o600); err != nil {
			t.Fatal(err)
		}
	})
	text, err := json.Marshal(truths)
	if err == nil {
		err = os.WriteFile(filepath.Join(*writePages, "truth.json"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// wordsOf counts the words of a text.
func wordsOf(text string) map[string]int {
	all := map[string]int{}
	for w := words.FromString(strings.ToLower(text)); w.Next(); {
		if isWord(w.Value()) {
			all[w.Value()]++
		}
	}
	return all
}

// common returns how many words of b are in a, as a share of b.
func common(a, b map[string]int) float64 {
	both, n := 0, 0
	for w, k := range b {
		n, both = n+k, both+min(k, a[w])
	}
	return float64(both) / float64(max(1, n))
}

// TestMainTextIsFound measures the precision and recall of the words of articles, and counts the right headlines,
// authors and dates.
func TestMainTextIsFound(t *testing.T) {
	var precision, recall float64
	var pages, headlines, authors, dates int
	articles(t, func(name string, page []byte, is truth) {
		a := Read(page, "text/html; charset=utf-8", "https://paper.example/x.html").Article()
		body := strings.Join(is.Body, " ")
		got := wordsOf(a.Standfirst + " " + strings.Join(a.Paragraphs, " "))
		p, r := common(wordsOf(is.Standfirst+" "+body), got), common(got, wordsOf(body))
		pages, precision, recall = pages+1, precision+p, recall+r
		if p < 0.8 || r < 0.95 {
			t.Logf("%s: precision %.2f, recall %.2f", name, p, r)
		}
		count := func(n *int, what, got, want string) {
			if got == want {
				*n++
			} else {
				t.Logf("%s: %s %q, want %q", name, what, got, want)
			}
		}
		count(&headlines, "headline", a.Headline, is.Title)
		count(&authors, "author", a.Author, is.Author)
		count(&dates, "date", a.Published.Format(time.DateOnly), is.Date.Format(time.DateOnly))
	})
	precision, recall = precision/float64(pages), recall/float64(pages)
	t.Logf("%d pages: precision %.3f, recall %.3f, headlines %d, authors %d, dates %d", pages, precision, recall,
		headlines, authors, dates)
	if precision < 0.93 || recall < 0.98 || headlines*100 < pages*90 {
		t.Errorf("precision %.3f, recall %.3f, %d of %d headlines", precision, recall, headlines, pages)
	}
}

// largePages returns pages of strangers who mean no good, and pages that are only large.
func largePages(t testing.TB) map[string]string {
	var page string
	articles(t, func(name string, text []byte, _ truth) {
		if name == "wordpress-0.html" {
			page = string(text)
		}
	})
	begin, end, _ := strings.Cut(page, `<div class="sharedaddy`)
	text := "<p>The council voted on Tuesday, and nobody was surprised by it, said the harbour board. Eleven agreed.</p>\n"
	grown := func(n int) string {
		return begin + strings.Repeat(text, (n-len(page))/len(text)) + `<div class="sharedaddy` + end
	}
	return map[string]string{
		"10 KB": grown(10 << 10), "1 MB": grown(1 << 20), "10 MB": grown(10 << 20),
		"nested without end": strings.Repeat("<div>", 200_000) + "A text that is long enough to be read.",
		"nested 400 times, often": strings.Repeat(
			strings.Repeat("<div>", 400)+"<p>A text, and a comma.</p>"+strings.Repeat("</div>", 400), 1000),
		"a million paragraphs": strings.Repeat("<p>a, b, c", 1_000_000),
		"lines":                "<div>" + strings.Repeat("<span>a, b</span><br><br>", 100_000),
		"links":                "<div>" + strings.Repeat("<a href=/x>some words, as links</a> ", 100_000),
		"many links":           "<div>" + manyLinksPage(50_000),
		"tables in tables":     strings.Repeat("<table><tr><td>", 30_000) + "A text, here.",
		"formats":              strings.Repeat("<b><i><u><font>", 15_000) + "A text, here.",
		"one long text":        "<p>" + strings.Repeat("word ", 900_000),
		"no spaces":            "<p>" + strings.Repeat("x", 4<<20),
		"attributes":           "<p " + strings.Repeat("a=b c=d e1=f ", 100_000) + ">A text, here.",
		"class of many names":  strings.Repeat("<p class='"+strings.Repeat("x y ", 1000)+"'>a, b", 900),
		"invalid bytes":        "<p>" + strings.Repeat("\xff\xfe\x00\xd8 ", 200_000),
		"right to left":        "<p>" + strings.Repeat("\u202eabc\u202c אבג ", 50_000),
		"nothing":              "",
	}
}

func manyLinksPage(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<a href='/%d'>entry %d</a> ", i, i)
	}
	return b.String()
}

// TestHostilePagesAreBounded compares each page with a version that has one more paragraph, and one fewer byte.
func TestHostilePagesAreBounded(t *testing.T) {
	pages := largePages(t)
	for _, name := range []string{
		"10 MB", "nested without end", "nested 400 times, often", "a million paragraphs", "formats", "no spaces",
		"invalid bytes", "right to left", "attributes", "tables in tables", "nothing",
	} {
		page := pages[name]
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			before := Read([]byte(page), "text/html", "http://paper.example/")
			more := "<p>One more sentence is here.</p>" + page[:max(0, len(page)-1)]
			after := Read([]byte(more), "text/html", "http://paper.example/")
			c := Compare(before, after)
			t.Logf("%d bytes, %d blocks, cut %v, flat %v, %v in %v", len(page), len(before.blocks), before.Cut,
				before.Flat, c.Kinds, time.Since(start).Round(time.Millisecond))
			if c.Is(Nothing) {
				t.Error("a paragraph more is called nothing")
			}
			if n := len(before.elements); n > maxTags+1000 {
				t.Errorf("%d elements were read", n)
			}
			if c.Words.Added > 1_000_000 || len(c.Came)+len(c.Went) > 2*MaxListed {
				t.Errorf("too large: %d words, %d links", c.Words.Added, len(c.Came)+len(c.Went))
			}
		})
	}
}

// BenchmarkArticle finds the main text of large and of hostile pages.
func BenchmarkArticle(b *testing.B) {
	for name, page := range largePages(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(page)))
			for b.Loop() {
				Read([]byte(page), "text/html", "http://paper.example/").Article()
			}
		})
	}
}
