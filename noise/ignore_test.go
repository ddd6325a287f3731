package noise

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// archived archives versions of a page and returns the library and the captures.
func archived(t *testing.T, pages ...string) (*captures.Library, []captures.Entry) {
	t.Helper()
	a := archivetest.New(t)
	for _, p := range pages {
		a.Page("http://a.example/", archivetest.HTMLHead, p)
	}
	l, err := captures.OpenLibrary(t.Context(), a.Dir, captures.Options{}, func(warc.Finding) error { return nil })
	archivetest.Must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	all, err := l.Lookup("http://a.example/", nil)
	archivetest.Must(t, err)
	return l, all
}

// news returns a page with a clock, a headline and a number of readers.
func news(clock, headline string, readers int) string {
	return fmt.Sprintf(`<html><body><div id="top">Harbour news of the day <span class="clock">%s</span></div>
<main><h1>%s</h1><p>A long text about the harbour, the ferry and the people who wait for it.</p></main>
<p class="count">Read by %d people</p></body></html>`, clock, headline, readers)
}

// TestProposeFindsARuleForOneDifference selects each difference of two versions in turn.
func TestProposeFindsARuleForOneDifference(t *testing.T) {
	t.Parallel()
	l, all := archived(t, news("12:01", "Ferry sails", 7), news("14:59", "Ferry sinks", 12))
	p, problem, err := captures.Read(t.Context(), l, all[0], all[1])
	if err != nil || problem != "" {
		t.Fatal(problem, err)
	}
	for _, c := range []struct {
		what, left, right string
		want              string // in the rules
		not               string // hidden by them
	}{
		{captures.Text, "Harbour news of the day 12:01", "Harbour news of the day 14:59", "clock", "people"},
		{captures.Text, "Read by 7 people", "Read by 12 people", "people", "14:59"},
		{captures.Source, `<p class="count">Read by 7 people</p></body></html>`, `<p class="count">Read by 12 people</p></body></html>`, "people", "14:59"},
		{captures.Text, "Ferry sails", "Ferry sinks", "", ""},
		{captures.Text, "no such", "row", "", ""},
	} {
		wish := IgnoreWish{What: c.what, Left: c.left, Right: c.right}
		got, err := propose(t.Context(), p, wish, digest.Spec{}, t.Context().Err)
		if err != nil {
			t.Fatal(err)
		}
		if c.want == "" {
			if len(got.Rules) > 0 || got.Problem == "" {
				t.Errorf("%q: rules %+v, want none and a reason", c.left, got.Rules)
			}
			continue
		}
		if len(got.Rules) != 1 || !strings.Contains(got.Rules[0].Rule, c.want) {
			t.Errorf("%q: %+v, want one rule with %q", c.left, got, c.want)
			continue
		}
		rules, err := digest.Compile(with(digest.Spec{}, got.Rules))
		archivetest.Must(t, err)
		left := string(rules.Scrub([]byte(news("14:59", "Ferry sinks", 12)), "text/html"))
		if !strings.Contains(left, c.not) || !strings.Contains(left, "Ferry sinks") {
			t.Errorf("the rule for %q leaves %s", c.left, left)
		}
	}
}

// TestSuggestFindsRulesForAPage finds the rules for a clock and a counter from a second look, and no rule for a
// headline of another day. Rules in force are not proposed again.
func TestSuggestFindsRulesForAPage(t *testing.T) {
	t.Parallel()
	a := archivetest.New(t)
	pages := []string{news("12:01", "Ferry sails", 7), news("12:02", "Ferry sails", 9), news("14:59", "Ferry sank", 12)}
	for i, p := range pages {
		a.Page("http://a.example/", archivetest.HTMLHead, p)
		if i == 0 {
			a.Now = a.Now.Add(10*time.Second - time.Hour)
		}
	}
	l, err := captures.OpenLibrary(t.Context(), a.Dir, captures.Options{}, func(warc.Finding) error { return nil })
	archivetest.Must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	all, err := l.Lookup("http://a.example/", nil)
	archivetest.Must(t, err)
	got, err := suggest(t.Context(), l, all, digest.Spec{}, t.Context().Err)
	archivetest.Must(t, err)
	rules, err := digest.Compile(with(digest.Spec{}, got.Rules))
	archivetest.Must(t, err)
	scrub := func(p string) string { return string(rules.Scrub([]byte(p), "text/html")) }
	if got.Problem != "" || scrub(news("12:01", "Ferry sails", 7)) != scrub(news("23:58", "Ferry sails", 99)) {
		t.Errorf("%+v do not silence the page", got)
	}
	if scrub(news("12:01", "Ferry sails", 7)) == scrub(news("12:01", "Ferry sinks", 7)) {
		t.Errorf("%+v hide a headline", got)
	}
	for most, want := range map[int]int{0: 2, 3*len(pages[0]) - 1: 2, maxBytes: 3} {
		if read := newest(t.Context(), l, all, most); len(read) != want || !read[0].Date.Before(read[1].Date) {
			t.Errorf("of %d bytes %d versions are read, want %d", most, len(read), want)
		}
	}
	slow := work{clock: func() time.Time { a.Now = a.Now.Add(maxTime); return a.Now }}.ended(t.Context())
	if err := slow(); err != nil {
		t.Errorf("after %s: %v", maxTime, err)
	}
	out, err := suggest(t.Context(), l, all, digest.Spec{}, slow)
	if err != nil || len(out.Rules) > 0 || !strings.Contains(out.Problem, "10s") {
		t.Errorf("of a slow search: %+v, %v", out, err)
	}
	for _, c := range []struct {
		captures []captures.Entry
		spec     digest.Spec
	}{{all, with(digest.Spec{}, got.Rules)}, {all[:1], digest.Spec{}}, {nil, digest.Spec{}}} {
		none, err := suggest(t.Context(), l, c.captures, c.spec, t.Context().Err)
		if err != nil || len(none.Rules) > 0 || none.Problem == "" {
			t.Errorf("%d captures and the rules %+v: %+v, %v; want no rule and a reason", len(c.captures), c.spec, none, err)
		}
	}
}

// TestPreviewShowsWhatARuleWouldHaveHidden tries a rule on five versions, of which one brought news.
func TestPreviewShowsWhatARuleWouldHaveHidden(t *testing.T) {
	t.Parallel()
	l, all := archived(t, news("1:00", "A", 1), news("2:00", "A", 1), news("3:00", "B", 1), news("4:00", "B", 1), news("5:00", "B", 1))
	var out IgnorePreview
	archivetest.Must(t, preview(t.Context(), l, all, digest.Spec{}, []ScrubRule{{Kind: selector, Rule: "span.clock"}}, &out))
	if out.Pairs != 4 || out.Differ != 4 || out.Left != 1 {
		t.Errorf("%d pairs, %d differ, %d still differ; want 4, 4 and 1", out.Pairs, out.Differ, out.Left)
	}
	if len(out.Versions) != 5 || out.Versions[0].Parts != 1 || out.Versions[0].Samples[0] != `<span class="clock">5:00</span>` {
		t.Errorf("versions: %+v", out.Versions)
	}
}

// TestRulesThatCannotBeAreRefused checks rules that people may type.
func TestRulesThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	for _, rules := range [][]ScrubRule{
		nil,
		make([]ScrubRule, maxRules+1),
		{{Kind: expression, Rule: "("}},
		{{Kind: expression, Rule: ".*"}},
		{{Kind: selector, Rule: "div:has(p)"}},
		{{Kind: "mode", Rule: "x"}},
	} {
		if check(rules) == nil {
			t.Errorf("%+v is accepted", rules)
		}
	}
	if err := check([]ScrubRule{{Kind: selector, Rule: "span.clock"}, {Kind: expression, Rule: "[0-9]+ readers"}}); err != nil {
		t.Error(err)
	}
}
