package curator

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestSeedsAreAddedAndRemoved(t *testing.T) {
	t.Parallel()
	const a, b = "https://www.news.example/", "https://www.news.example/sport/"
	for name, text := range map[string]string{
		"one line":    "# news\n[seeds]\nuris = [\"" + a + "\"] # front page\n\n[change]\nmode = \"strict\"\n",
		"many lines":  "[seeds]\nuris = [\n  \"" + a + "\",\n]\n",
		"no comma":    "[seeds]\nuris = [\n  '" + a + "'\n]\n",
		"no seeds":    "[change]\nmode = \"strict\"\n",
		"empty table": "[seeds]\n[change]\nmode = \"strict\"\n",
		"empty":       "",
		"no newline":  "[seeds]\nuris = [\"" + a + "\"]",
	} {
		was := seedsIn([]byte(text))
		more, err := moreSeeds([]byte(text), []string{b, a})
		if got := seedsIn(more); err != nil || len(got) != 2 || !slices.Contains(got, a) || !slices.Contains(got, b) {
			t.Errorf("%s: added: %v, %v in\n%s", name, got, err, more)
			continue
		}
		if strings.Contains(text, "#") && !strings.Contains(string(more), "# front page") || strings.Contains(text, "strict") && !strings.Contains(string(more), "strict") {
			t.Errorf("%s: something is lost in\n%s", name, more)
		}
		less, err := withoutSeed(more, b)
		if got := seedsIn(less); err != nil || slices.Contains(got, b) || len(got) != 1 {
			t.Errorf("%s: removed: %v, %v in\n%s", name, got, err, less)
		}
		if less, err = withoutSeed(less, a); err != nil || len(seedsIn(less)) != 0 {
			t.Errorf("%s: all removed: %v in\n%s", name, err, less)
		}
		if again, err := moreSeeds(more, []string{a, b}); err != nil || string(again) != string(more) || len(was) > 1 {
			t.Errorf("%s: adding again changes the file: %v", name, err)
		}
	}
	if _, err := withoutSeed([]byte("[seeds]\nuris = []\n"), a); !errors.Is(err, errByHandSeeds) {
		t.Errorf("a seed that is not listed: %v", err)
	}
}

// TestManySeedsAreRemovedAtOnce empties long lists in several ways of writing. One by one it took minutes.
func TestManySeedsAreRemovedAtOnce(t *testing.T) {
	t.Parallel()
	const n = 6000
	for name, form := range map[string]struct{ begin, item, end string }{
		"lines":    {"[seeds]\nuris = [\n", "  \"https://a.example/%d\", # it's \"one\"\n", "]\n"},
		"one line": {"[seeds]\nuris = [", "'https://a.example/%d', ", "]\n"},
		"CRLF":     {"[seeds]\r\nuris = [\r\n", "  \"https://a.example/%d\",\r\n", "]\r\n"},
	} {
		var b strings.Builder
		b.WriteString(form.begin)
		for i := range n {
			fmt.Fprintf(&b, form.item, i)
		}
		text := []byte(b.String() + form.end)
		const last = "https://a.example/5999"
		got, err := keepSeeds(text, func(s string) bool { return s == last })
		if kept := seedsIn(got); err != nil || !slices.Equal(kept, []string{last}) {
			t.Errorf("%s: %v, %d seeds are left", name, err, len(kept))
		}
		if comments := strings.Count(string(got), "# it's"); name == "lines" && comments != n {
			t.Errorf("%d of %d comments are left", comments, n)
		}
		if again, err := keepSeeds(text, func(string) bool { return true }); err != nil || !slices.Equal(again, text) {
			t.Errorf("%s: a text with all its seeds differs: %v", name, err)
		}
	}
}
