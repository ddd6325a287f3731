package digest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// emptySHA1 is the digest of an empty payload, as every WARC tool writes it.
const emptySHA1 = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"

func TestDigestHasTheFormOfWARCTools(t *testing.T) {
	t.Parallel()
	if got := digest.Of(nil).String(); got != emptySHA1 {
		t.Errorf("digest of nothing = %s, want %s", got, emptySHA1)
	}
	h := digest.New()
	h.Write([]byte("a"))
	h.Write([]byte("bc"))
	if h.Sum() != digest.Of([]byte("abc")) {
		t.Errorf("digest of a stream = %s, want the digest of the whole", h.Sum())
	}
	if got := (digest.Digest{}).String(); got != "" {
		t.Errorf("no digest is written as %q, want nothing", got)
	}
}

func TestParseReversesString(t *testing.T) {
	t.Parallel()
	want := digest.Of([]byte("abc"))
	for _, s := range []string{want.String(), "SHA1" + want.String()[4:]} {
		if got, err := digest.Parse(s); err != nil || got != want {
			t.Errorf("Parse(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "sha1:", "md5:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "sha1:3I42", "sha1:0000000000000000000000000000000!"} {
		if _, err := digest.Parse(s); err == nil {
			t.Errorf("Parse(%q) returns no error", s)
		}
	}
}

// BenchmarkHash measures how fast a page of 15 KB is digested.
func BenchmarkHash(b *testing.B) {
	page := make([]byte, 15<<10)
	_, _ = rand.NewChaCha8([32]byte{}).Read(page)
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		h := digest.New()
		h.Write(page)
		if h.Sum().IsZero() {
			b.Fatal("no digest")
		}
	}
}

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

// newsPage returns a page of about 100 KB with noise as on news sites.
func newsPage() []byte {
	random := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	b.WriteString(`<!doctype html><html><head><meta charset="utf-8"><meta name="csrf-token" content="5f2a9c"><title>News</title></head><body>` +
		"\n<span class=\"clock\">10:11:12</span>\n")
	for i := 0; b.Len() < 100<<10; i++ {
		fmt.Fprintf(&b, "<article id=\"a%d\" class=\"teaser\"><h2><a href=\"/story/%d?ref=%x\">Story %d</a></h2>\n<p>", i, i, random.Uint32(), i)
		for range 60 {
			fmt.Fprintf(&b, "%s ", []string{"the", "ferry", "harbour", "council", "said", "after", "Tuesday", "bridge", "without", "12"}[random.IntN(10)])
		}
		fmt.Fprintf(&b, "</p><span class=\"views\">%d views</span></article>\n", random.IntN(10000))
	}
	b.WriteString("<!-- generated in 0.123 s by node7 -->\n</body></html>\n")
	return b.Bytes()
}

var tenRegexes = []string{
	`<span class="clock">.*?</span>`, `<span class="views">[0-9]+ views</span>`, `<meta name="csrf-token" content="[^"]*">`,
	`<!-- generated in .*? -->`, `\?ref=[0-9a-f]+`, `;jsessionid=[0-9A-F]+`, `(?s)<div class="ad-slot">.*?</div>`, `data-nonce="[^"]*"`,
	`(?s)<script[^>]*>.*?</script>`, `Datum: \d\d\.\d\d\.\d{4}`,
}

// BenchmarkScrubTenRegexes measures how fast one core scrubs a page of 100 KB with ten regexes as curators write them.
func BenchmarkScrubTenRegexes(b *testing.B) {
	r := compile(b, digest.Spec{Regexes: tenRegexes})
	page := newsPage()
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		r.Scrub(page, htmlType)
	}
}

func sightOf(t *testing.T, page string) digest.Sight {
	t.Helper()
	s, err := compile(t, digest.Spec{}).Seen(t.Context(), strings.NewReader(page), htmlType)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// same returns the strictest comparison by which two fetches are the same.
func same(a, b digest.Sight) func(digest.Sight) uint64 {
	switch {
	case a.Exact != 0 && a.Exact == b.Exact:
		return func(s digest.Sight) uint64 { return s.Exact }
	case a.Masked != 0 && a.Masked == b.Masked:
		return func(s digest.Sight) uint64 { return s.Masked }
	}
	return nil
}

// TestWhatAReaderSeesHidesNoEdit plants edits of several sizes in the main content of pages with noise. Two fetches
// that differ in noise must look the same, or the test would prove nothing.
func TestWhatAReaderSeesHidesNoEdit(t *testing.T) {
	t.Parallel()
	edits, hidden, fetches, noisy := 0, 0, 0, 0
	for _, j := range testcrawl.NewsPages {
		for seed := range uint64(8) {
			r := rand.New(rand.NewPCG(seed, 77))
			day := int(seed)
			at := testcrawl.NewsMorning.AddDate(0, 0, day)
			clean, content := j.Draw(day, rand.New(rand.NewPCG(seed, 5)), at)
			clean = strings.Replace(clean, "</body>", testcrawl.NewsProse, 1)
			inLinks := seed%2 == 1
			first := sightOf(t, testcrawl.WithUnseen(clean, r, inLinks))
			by := same(first, sightOf(t, testcrawl.WithUnseen(clean, r, inLinks)))
			if fetches++; by == nil {
				continue
			}
			noisy++
			for _, edited := range append(testcrawl.Planted(clean, content), testcrawl.Bigger(clean, content)...) {
				edits++
				if by(sightOf(t, testcrawl.WithUnseen(edited, r, inLinks))) == by(first) {
					if hidden++; hidden < 5 {
						t.Errorf("%s: what a reader sees hides an edit:\n%s", j.Name, edited)
					}
				}
			}
		}
	}
	t.Logf("%d planted edits, %d hidden; %d of %d pairs of fetches look the same", edits, hidden, noisy, fetches)
	if edits < 2000 || noisy < fetches*9/10 {
		t.Errorf("%d planted edits, %d of %d pairs of fetches look the same", edits, noisy, fetches)
	}
}

func TestWhatAReaderSees(t *testing.T) {
	t.Parallel()
	page := func(body string) string { return "<html><body>" + body + testcrawl.NewsProse + "</html>" }
	for _, c := range []struct {
		name          string
		before, after string
		exact, masked bool // the same
	}{
		{"a comment", "<!-- a -->", "<!-- b -->", true, true},
		{"a class", `<b class="x1">bold</b>`, `<b class="x2">bold</b>`, true, true},
		{"a hidden field", `<input type="hidden" value="1">`, `<input type=hidden value="2">`, true, true},
		{"a style sheet", `<link href="/a.css?1">`, `<link href="/a.css?2">`, true, true},
		{"white space", "one two", "one\n\n  two", true, true},
		{"a session in a link", `<a href="/a?sid=0123456789abcdef">a</a>`, `<a href="/a?sid=fedcba9876543210">a</a>`, false, true},
		{"an article in a link", `<a href="/a?id=a123456789">a</a>`, `<a href="/a?id=a123456780">a</a>`, false, false},
		{"a page in a session link", `<a href="/a?sid=0123456789abcdef">a</a>`, `<a href="/b?sid=0123456789abcdef">a</a>`, false, false},
		{"a picture", `<img src="/a.jpg">`, `<img src="/b.jpg">`, false, false},
		{"a picture in a style", `<b style="background:url(/a.jpg)">`, `<b style="background:url(/b.jpg)">`, false, false},
		{"a picture loaded later", `<img data-src="/a.jpg">`, `<img data-src="/b.jpg">`, false, false},
		{"a frame", `<iframe src="/a"></iframe>`, `<iframe src="/b"></iframe>`, false, false},
		{"the alternative text", `<img alt="Fire">`, `<img alt="Flood">`, false, false},
		{"a drawing", `<svg><path d="M0 0"/></svg>`, `<svg><path d="M1 1"/></svg>`, false, false},
		{"a text in a drawing", `<svg><text>1</text></svg>`, `<svg><text>2</text></svg>`, false, false},
		{"a field", `<input value="open">`, `<input value="closed">`, false, false},
	} {
		a, b := sightOf(t, page(c.before)), sightOf(t, page(c.after))
		if a.Exact == 0 || (a.Exact == b.Exact) != c.exact || (a.Masked == b.Masked) != c.masked {
			t.Errorf("%s: the same by whole addresses: %v; without sessions: %v", c.name, a.Exact == b.Exact, a.Masked == b.Masked)
		}
	}
}

func TestPagesWithoutTextHaveNothingThatAReaderSees(t *testing.T) {
	t.Parallel()
	news := `<script>self.state = {"news": ["Council rejects the new terminal", "Mayor opens the old pier again", "Police close the bridge"]}</script>`
	for name, page := range map[string]string{
		"short":              "<html><body><div id=app></div></body></html>",
		"written by scripts": "<html><body>" + news + testcrawl.NewsProse,
	} {
		if s := sightOf(t, page); s != (digest.Sight{}) {
			t.Errorf("%s: %+v", name, s)
		}
	}
	s, err := compile(t, digest.Spec{}).Seen(t.Context(), strings.NewReader(`{"a": 1}`), "application/json")
	if err != nil || s != (digest.Sight{}) {
		t.Errorf("JSON: %+v, %v", s, err)
	}
}

// Accepted rules are applied before.
func TestWhatAReaderSeesIsWithoutWhatRulesMatch(t *testing.T) {
	t.Parallel()
	rules := compile(t, digest.Spec{Regexes: []string{`Made at [0-9:]+`}, Selectors: []string{"#ad"}})
	of := func(clock time.Duration, ad string) digest.Sight {
		page := fmt.Sprintf("<body><p>Made at %s</p><div id=ad>%s</div>%s", testcrawl.NewsMorning.Add(clock).Format("15:04:05"), ad, testcrawl.NewsProse)
		s, err := rules.Seen(t.Context(), strings.NewReader(page), htmlType)
		if err != nil || s.Exact == 0 {
			t.Fatal(s, err)
		}
		return s
	}
	if of(0, "Boats") != of(time.Minute, "Nets") {
		t.Error("a clock that a rule matches makes pages look different")
	}
}
