package digest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/digest"
)

// noisy reads the versions of a bundled page. Between the third and the fourth of six a paragraph was edited.
func noisy(t testing.TB, kind string) [][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata/noisy", kind, "*.html"))
	if err != nil || len(files) != 6 {
		t.Fatalf("found %d versions of %s, %v", len(files), kind, err)
	}
	var versions [][]byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		versions = append(versions, text)
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
			p, err := digest.Suggest(versions, htmlType)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%q %q", p.Regexes, p.Selectors)
			if p.Pairs != 5 || p.Quiet != 4 || p.Edits != 1 || p.Merged != 0 || p.Loud != 0 {
				t.Errorf("%+v, want four quiet pairs and one edit", p)
			}
			rules := compile(t, digest.Spec{Regexes: p.Regexes, Selectors: p.Selectors})
			for i := range versions[1:] {
				same := compared(t, rules, string(versions[i]), htmlType) == compared(t, rules, string(versions[i+1]), htmlType)
				if edited := i == 2; same == edited {
					t.Errorf("versions %d and %d are the same: %t", i+1, i+2, same)
				}
			}
			story := string(rules.Scrub(versions[5], htmlType))
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
	p, err := digest.Suggest(noisy(t, "all-at-once")[:2], htmlType)
	if err != nil || p.Quiet != 1 || p.Loud != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestSuggestReturnsNoRulesWithoutNoise(t *testing.T) {
	t.Parallel()
	a, b := noisy(t, "clock")[0], noisy(t, "clock")[0]
	if _, err := digest.Suggest([][]byte{a, b}, htmlType); !errors.Is(err, digest.ErrTooFew) {
		t.Errorf("two equal versions: %v", err)
	}
	if _, err := digest.Suggest([][]byte{a}, htmlType); !errors.Is(err, digest.ErrTooFew) {
		t.Errorf("one version: %v", err)
	}
	edits := func(s string) []byte { return []byte("<p>always</p><p class=x>" + s + "</p>") }
	p, err := digest.Suggest([][]byte{edits("1"), edits("1"), edits("2"), edits("2"), edits("2"), edits("3")}, htmlType)
	if err != nil || len(p.Regexes)+len(p.Selectors) != 0 || p.Edits != 2 {
		t.Errorf("occasional edits: %+v, %v", p, err)
	}
}

func FuzzSuggest(f *testing.F) {
	f.Add("<p id=a>1</p>", "<p id=a>2</p>", "<p>3<i>x</i></p>")
	f.Add("", "<!--1-->", "<a href='?s=1'>x")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if len(a)+len(b)+len(c) > 1<<14 {
			return
		}
		p, err := digest.Suggest([][]byte{[]byte(a), []byte(b), []byte(c)}, htmlType)
		if err == nil && p.Merged > 0 {
			t.Errorf("%+v hides an edit", p)
		}
	})
}
