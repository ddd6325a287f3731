package infer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/noise/infer"
)

// noisy reads the versions of a bundled page: three of one moment, and three of a moment on the next day. Between the
// third and the fourth a paragraph was edited.
func noisy(t testing.TB, kind string) []noise.Version {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata/noisy", kind, "*.html"))
	if err != nil || len(files) != 6 {
		t.Fatalf("found %d versions of %s, %v", len(files), kind, err)
	}
	var versions []noise.Version
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		at := testcrawl.NewsMorning.AddDate(0, 0, i/3).Add(time.Duration(i%3) * 5 * time.Second)
		versions = append(versions, noise.Version{Date: at, MIME: htmlType, Content: text})
	}
	return versions
}

// TestSuggestedRulesRemoveNoiseAndKeepEdits uses bundled pages, each with its own noise at every visit and one real
// edit.
func TestSuggestedRulesRemoveNoiseAndKeepEdits(t *testing.T) {
	t.Parallel()
	kinds, err := filepath.Glob("testdata/noisy/*")
	if err != nil || len(kinds) < 7 {
		t.Fatal("the bundled pages are missing", err)
	}
	for _, dir := range kinds {
		kind := filepath.Base(dir)
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			versions := noisy(t, kind)
			p, err := infer.Suggest(t.Context().Err, versions)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%q %q", p.Regexes, p.Selectors)
			if p.Pairs != 5 || p.Quiet != 4 || p.Edits != 1 || p.Merged != 0 || p.Loud != 0 {
				t.Errorf("%+v, want four quiet pairs and one edit", p)
			}
			rules := compile(t, digest.Spec{Regexes: p.Regexes, Selectors: p.Selectors})
			for i := range versions[1:] {
				before, after := string(versions[i].Content), string(versions[i+1].Content)
				same := compared(t, rules, before, htmlType) == compared(t, rules, after, htmlType)
				if edited := i == 2; same == edited {
					t.Errorf("versions %d and %d are the same: %t", i+1, i+2, same)
				}
			}
			story := string(rules.Scrub(versions[5].Content, htmlType))
			for _, text := range []string{"Council undecided", "protested outside the town hall", "12 Quay Street", "Harbour News"} {
				if !strings.Contains(story, text) {
					t.Errorf("the rules remove %q", text)
				}
			}
		})
	}
}

// TestTwoFetchesWithinSecondsAreEnough compares two versions that differ only in noise.
func TestTwoFetchesWithinSecondsAreEnough(t *testing.T) {
	t.Parallel()
	p, err := infer.Suggest(t.Context().Err, noisy(t, "all-at-once")[:2])
	if err != nil || p.Quiet != 1 || p.Loud != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

// daily returns versions of a page that were fetched one day apart.
func daily(pages ...string) []noise.Version {
	var versions []noise.Version
	for i, page := range pages {
		at := testcrawl.NewsMorning.AddDate(0, 0, i)
		versions = append(versions, noise.Version{Date: at, MIME: htmlType, Content: []byte(page)})
	}
	return versions
}

// twice returns two versions of a page that were fetched three seconds apart.
func twice(first, second string) []noise.Version {
	return []noise.Version{
		{Date: testcrawl.NewsMorning, MIME: htmlType, Content: []byte(first)},
		{Date: testcrawl.NewsMorning.Add(3 * time.Second), MIME: htmlType, Content: []byte(second)},
	}
}

func TestSuggestReturnsNoRulesWithoutNoise(t *testing.T) {
	t.Parallel()
	page := string(noisy(t, "clock")[0].Content)
	if _, err := infer.Suggest(t.Context().Err, twice(page, page)); !errors.Is(err, infer.ErrTooFew) {
		t.Errorf("two equal versions: %v", err)
	}
	if _, err := infer.Suggest(t.Context().Err, daily(page)); !errors.Is(err, infer.ErrTooFew) {
		t.Errorf("one version: %v", err)
	}
	edits := func(s string) string { return "<p>always</p><p class=x>" + s + "</p>" }
	p, err := infer.Suggest(t.Context().Err, daily(edits("1"), edits("1"), edits("2"), edits("2"), edits("2"), edits("3")))
	if err != nil || len(p.Regexes)+len(p.Selectors) != 0 || p.Edits != 2 {
		t.Errorf("occasional edits: %+v, %v", p, err)
	}
}

// TestDaysApartNewsAndNoiseLookTheSame compares two versions of different days. What differs may be news.
func TestDaysApartNewsAndNoiseLookTheSame(t *testing.T) {
	t.Parallel()
	front := func(news string) string {
		return "<body><p class=lead>" + news + "</p><ul class=list><li>" + news + "</ul>"
	}
	_, err := infer.Suggest(t.Context().Err, daily(front("Council rejects ferry"), front("Mayor opens bridge")))
	if !errors.Is(err, infer.ErrApart) {
		t.Errorf("two versions: %v", err)
	}
	p, err := infer.Suggest(t.Context().Err, daily(front("Council rejects ferry"), front("Mayor opens bridge"), front("Boat found"), front("Pier closed")))
	if err != nil || len(p.Regexes)+len(p.Selectors) != 0 || len(p.Open) != 2 || p.Open[0] != (infer.Part{Place: "p.lead", Sample: "Pier closed"}) {
		t.Errorf("four versions: %+v, %v", p, err)
	}
}

// TestRulesWorkOnOtherDays makes rules from two fetches within seconds and applies them on another day.
func TestRulesWorkOnOtherDays(t *testing.T) {
	t.Parallel()
	page := func(at, session, visits string) string {
		return `<body><p>As of ` + at + ` at the harbour, seen ` + visits + ` times.</p><a href="/a?x=1&amp;PHPSESSID=` + session + `">News</a>` +
			`<!-- made ` + at + ` --><i data-made="` + at + `" class="made">x</i></body>`
	}
	p, err := infer.Suggest(t.Context().Err, twice(page("Monday, 2 November 2026, 09:59:57", "4f3c2b1a99", "998"), page("Monday, 2 November 2026, 10:00:02", "77aa0912ce", "1,002")))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%q %q", p.Regexes, p.Selectors)
	rules := compile(t, digest.Spec{Regexes: p.Regexes, Selectors: p.Selectors})
	before := compared(t, rules, page("Monday, 2 November 2026, 10:00:02", "77aa0912ce", "1,002"), htmlType)
	if compared(t, rules, page("Friday, 1 January 2027, 23:12:44", "00112233ff", "1,234,567"), htmlType) != before {
		t.Errorf("the rules %q and %q hold only on the day on which they were made", p.Regexes, p.Selectors)
	}
	if compared(t, rules, strings.ReplaceAll(page("Friday, 1 January 2027, 23:12:44", "00112233ff", "7"), "News", "Sport"), htmlType) == before {
		t.Error("the rules hide a title")
	}
}

// TestManyElementsOfOneKindAreCompared finds a counter after 30,000 equal elements in each of six versions. A step that
// takes the square of their number would need hours, or gigabytes.
func TestManyElementsOfOneKindAreCompared(t *testing.T) {
	t.Parallel()
	var pages []string
	for i := range 6 {
		pages = append(pages, "<body>"+strings.Repeat("<i>x</i>", 30_000)+fmt.Sprintf("<b class=hits>hits: %d</b>", 7919*(i+1)))
	}
	p, err := infer.Suggest(t.Context().Err, daily(pages...))
	if err != nil || len(p.Regexes)+len(p.Selectors)+len(p.Open) == 0 {
		t.Errorf("%+v, %v; want the counter", p, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := infer.Suggest(ended.Err, daily(pages...)); !errors.Is(err, context.Canceled) {
		t.Errorf("after the caller has gone: %v", err)
	}
}

func FuzzSuggest(f *testing.F) {
	f.Add("<p id=a>1</p>", "<p id=a>2</p>", "<p>3<i>x</i></p>")
	f.Add("", "<!--1-->", "<a href='?s=1'>x")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if len(a)+len(b)+len(c) > 1<<14 {
			return
		}
		tomorrow := testcrawl.NewsMorning.AddDate(0, 0, 1)
		versions := append(twice(a, b), noise.Version{Date: tomorrow, MIME: htmlType, Content: []byte(c)})
		p, err := infer.Suggest(t.Context().Err, versions)
		if err == nil && p.Merged > 0 {
			t.Errorf("%+v hides an edit", p)
		}
	})
}
