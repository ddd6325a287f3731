package digest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/slow"
)

const htmlType = "text/html; charset=utf-8"

func compile(t testing.TB, s digest.Spec) *digest.Rules {
	t.Helper()
	r, err := digest.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func compared(t testing.TB, r *digest.Rules, content, contentType string) digest.Comparison {
	t.Helper()
	c, err := r.Compare(t.Context(), strings.NewReader(content), contentType, digest.Of([]byte(content)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEachMatchBecomesOneSpace(t *testing.T) {
	t.Parallel()
	page := func(body string) string { return "<html><head></head><body>" + body + "</body></html>" }
	for _, row := range []struct {
		name          string
		spec          digest.Spec
		content, mime string
		want          string
	}{
		{"a clock", digest.Spec{Regexes: []string{`\d\d:\d\d:\d\d`}}, "at 10:11:12, at 9:00", "text/plain", "at  , at 9:00"},
		{"each match, one rule after the other", digest.Spec{Regexes: []string{`\d+`, `views:  `}}, "views: 7, views: 1234.", "text/plain", " ,  ."},
		{"no match without the text that each match contains", digest.Spec{Regexes: []string{`x\d`}}, "y1 y2", "text/plain", "y1 y2"},
		{"Latin-1 by its header", digest.Spec{Regexes: []string{`für \d+`}}, "gilt f\xfcr 7 Tage", "text/plain; charset=iso-8859-1", "gilt   Tage"},
		{"an element", digest.Spec{Selectors: []string{".clock"}}, page(`<p>a<b class="big clock">10</b>z</p>`), htmlType, page(`<p>a z</p>`)},
		{"combinators", digest.Spec{Selectors: []string{"div.ad > p, h2 + p"}}, page(`<div class="ad"><p>1</p><i><p>2</p></i></div><h2></h2><p>3</p><p>4</p>`), htmlType, page(`<div class="ad"> <i><p>2</p></i></div><h2></h2> <p>4</p>`)},
		{"descendants and later siblings", digest.Spec{Selectors: []string{"#a b", "s ~ u"}}, page(`<div id="a"><i><b>1</b></i></div><b>2</b><u>3</u><s></s><i></i><u>4</u>`), htmlType, page(`<div id="a"><i> </i></div><b>2</b><u>3</u><s></s><i></i> `)},
		{"only the first child, even though it is removed", digest.Spec{Selectors: []string{"li:first-child"}}, page(`<ul><li>1</li><li>2</li></ul>`), htmlType, page(`<ul> <li>2</li></ul>`)},
		{"selectors leave other types alone", digest.Spec{Selectors: []string{"b"}}, "<b>1</b>", "application/xml", "<b>1</b>"},
		{"visible text", digest.Spec{Text: true}, page("<title>T</title><script>x<b></script><p>one <b>t</b>wo</p><br>three <style>y</style> <svg><svg></svg>z</svg>four"), htmlType, "T one two three four"},
		{"visible text without an element", digest.Spec{Text: true, Selectors: []string{"nav"}}, page("<nav>menu</nav><p>story</p>"), htmlType, "story"},
		{"plain text without its white space", digest.Spec{Text: true}, "a\n\n  b ", "text/plain", "a b"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := string(compile(t, row.spec).Scrub([]byte(row.content), row.mime)); got != row.want {
				t.Errorf("got  %q\nwant %q", got, row.want)
			}
		})
	}
}

func TestUselessRulesAreRejected(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string]error{
		`a*`: digest.ErrMatchesEmpty, `(clock)?`: digest.ErrMatchesEmpty, `^`: digest.ErrMatchesEmpty, `\b`: digest.ErrMatchesEmpty,
		`(?s).+`: digest.ErrMatchesAll, `.+`: digest.ErrMatchesAll, `\w+`: digest.ErrMatchesAll, `[^<]+`: digest.ErrMatchesAll,
		`(?s)<html.*</html>`: digest.ErrMatchesAll, `(?s)<body.*</body>`: digest.ErrMatchesAll,
		`\d+`: nil, `<!--.*?-->`: nil, `(?s)<div class="ad">.*?</div>`: nil, `<[^>]+>`: nil,
	} {
		if err := digest.CheckRegex(expr); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%s: %v, want %v", expr, err, want)
		}
	}
	for sel, bad := range map[string]bool{
		"": true, "*": true, "body": true, "html": true, ":root": true, "body *": true, "div,": true, "> p": true, "div >": true, "p[": true,
		"div:has(p)": true, "li:nth-child(2n)": true, "p:contains(x)": true, ":not(div p)": true,
		".clock": false, "#a > b ~ i + u, p": false, `a[href="x > y, z:w"]`: false, "li:first-child": false, "p:not(.a)": false, "DIV.Ad": false,
	} {
		if err := digest.CheckSelector(sel); (err != nil) != bad {
			t.Errorf("%q: %v", sel, err)
		}
	}
	if _, err := digest.Compile(digest.Spec{Regexes: []string{"(", "a*"}, Selectors: []string{"p["}}); err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("the error does not have all three faults: %v", err)
	}
}

func TestDigestsCarryTheFingerprintOfTheirRules(t *testing.T) {
	t.Parallel()
	seen := map[uint64]string{}
	for i, s := range []digest.Spec{
		{},
		{Text: true},
		{Regexes: []string{"a", "b"}},
		{Regexes: []string{"b", "a"}},
		{Regexes: []string{"a b"}},
		{Selectors: []string{"a", "b"}},
		{Regexes: []string{"a"}, Selectors: []string{"b"}},
		{Regexes: []string{"a", "b"}, MaxSize: 7},
	} {
		r := compile(t, s)
		if other, ok := seen[r.Fingerprint()]; ok {
			t.Errorf("%+v and %s have the same fingerprint", s, other)
		}
		seen[r.Fingerprint()] = fmt.Sprintf("%+v", s)
		if r.Fingerprint() != compile(t, s).Fingerprint() || (r.Fingerprint() == 0) != (i == 0) {
			t.Errorf("%+v has the fingerprint %x", s, r.Fingerprint())
		}
	}
	r := compile(t, digest.Spec{Regexes: []string{`\d+`}, MaxSize: 10})
	if a, b := compared(t, r, "views: 1", "text/plain"), compared(t, r, "views: 22", "text/plain"); a != b || a.Rules != r.Fingerprint() {
		t.Errorf("contents that differ in what is scrubbed: %v, %v", a, b)
	}
	long := compared(t, r, "views: 12345", "text/plain")
	if long.Sum != digest.Of([]byte("views: 12345")) || long.Rules != r.Fingerprint() {
		t.Errorf("a content that is too long is not compared whole: %v", long)
	}
	if c := compared(t, compile(t, digest.Spec{}), "x", "text/plain"); c != (digest.Comparison{Sum: digest.Of([]byte("x"))}) {
		t.Errorf("without rules the digest differs from the digest of the content: %v", c)
	}
}

func TestNearDuplicatesHaveNearSketches(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 600 {
		fmt.Fprintf(&b, "word%d ", i*i%997)
	}
	story := b.String()
	r := compile(t, digest.Spec{Sketch: true})
	of := func(s string) digest.Comparison { return compared(t, r, s, "text/plain") }
	base := of(story)
	if ok, n := base.Near(of(strings.ToUpper(story)), 0); !ok {
		t.Errorf("another case differs in %d bits", n)
	}
	if ok, n := base.Near(of(strings.Replace(story, "word0 ", "clock ", 1)), 6); !ok || n > 6 {
		t.Errorf("one word of 600 differs in %d bits", n)
	}
	if ok, n := base.Near(of(story[len(story)/2:]), 6); ok {
		t.Errorf("half the story differs in %d bits only", n)
	}
	if ok, _ := base.Near(digest.Comparison{}, 64); ok {
		t.Error("a sketch is near to a missing one")
	}
	if ok, _ := of("").Near(of("x"), 0); ok {
		t.Error("an empty text is near to a word")
	}
}

// TestEveryRuleTakesLinearTime uses rules that read the rest of the page for each match. With quadratic time they
// would read 100,000 times 100 KB.
func TestEveryRuleTakesLinearTime(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	hostile := strings.Repeat("a", 200<<10)
	for _, expr := range []string{`a.*?X|a`, `(?s)a.*?X|a`, `(a+b)+|a`, `(a|aa)+$|a`, `a{1,100}b|a`} {
		if digest.CheckRegex(expr) != nil {
			t.Errorf("%s is rejected", expr)
			continue
		}
		r := compile(t, digest.Spec{Regexes: []string{expr}})
		first, again := r.Scrub([]byte(hostile), "text/plain"), r.Scrub([]byte(hostile), "text/plain")
		if string(first) != string(again) {
			t.Errorf("%s returns different results for the same text", expr)
		}
	}
	deep := strings.Repeat("<div>", 400) + strings.Repeat("<p><i>x</i></p>", 5000)
	r := compile(t, digest.Spec{Selectors: []string{"b div div div div i", "i ~ i ~ b", "u ~ p + p ~ u"}})
	if got := r.Scrub([]byte(deep), htmlType); len(got) < len(deep) {
		t.Error("Scrub removed something")
	}
}

func FuzzScrub(f *testing.F) {
	f.Add("<p class=a>1<b>2</p>", "text/html", `\d`, "p > b")
	f.Add("\xff\xfea\x00", "text/plain; charset=utf-16le", "a", ".x")
	f.Fuzz(func(t *testing.T, content, contentType, expr, sel string) {
		if len(content) > 1<<16 || len(expr) > 100 || len(sel) > 100 {
			return
		}
		if digest.CheckRegex(expr) != nil || digest.CheckSelector(sel) != nil {
			return
		}
		for _, text := range []bool{false, true} {
			r := compile(t, digest.Spec{Regexes: []string{expr}, Selectors: []string{sel}, Text: text, Sketch: true})
			if a, b := compared(t, r, content, contentType), compared(t, r, content, contentType); a != b {
				t.Errorf("compared twice: %v, %v", a, b)
			}
		}
	})
}

// A page of 2 MB meets an expression with a large program, which would take minutes.
func TestRulesThatTakeTooLongAreNotApplied(t *testing.T) {
	t.Parallel()
	words := make([]string, 450)
	for i := range words {
		words[i] = fmt.Sprintf("%04dword%04d", i, i)
	}
	slow := compile(t, digest.Spec{Regexes: []string{"(?i)" + strings.Join(words, "|")}})
	page := strings.Repeat("0word", 400_000)
	sum := digest.Of([]byte(page))
	got, err := slow.Compare(t.Context(), strings.NewReader(page), "text/html", sum)
	if !errors.Is(err, digest.ErrTooSlow) || got.Sum != sum || got.Rules == slow.Fingerprint() || got.Rules == 0 {
		t.Errorf("compared as %+v, %v; want the whole page, under another fingerprint", got, err)
	}
	short := "0001word0001 text"
	got, err = slow.Compare(t.Context(), strings.NewReader(short), "text/html", digest.Of([]byte(short)))
	if err != nil || got.Rules != slow.Fingerprint() || got.Sum != digest.Of([]byte("  text")) {
		t.Errorf("a short page was compared as %+v, %v", got, err)
	}
}

// The time on a page is over, or the daemon stops.
func TestRulesEndWithTheirContext(t *testing.T) {
	t.Parallel()
	rules := compile(t, digest.Spec{Regexes: []string{`\d+`}})
	stopped := errors.New("the daemon stops")
	for _, cause := range []error{digest.ErrTooSlow, stopped} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		got, err := rules.Compare(ctx, strings.NewReader("at 7"), "text/plain", digest.Of([]byte("at 7")))
		if !errors.Is(err, cause) || (got.Sum == digest.Of([]byte("at 7"))) != (cause == digest.ErrTooSlow) {
			t.Errorf("%v: compared as %+v, %v", cause, got, err)
		}
	}
}
