package curator

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/uri"
)

// TestSetChangesOneKeyAndKeepsTheRest sets keys in files of every form.
func TestSetChangesOneKeyAndKeepsTheRest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, before, key, value, after string }{
		{"an empty file", "", "owner", `"maria"`, "owner = \"maria\"\n"},
		{"above the first table", "# ours\n\n[seeds]\nuris = []\n", "owner", `"maria"`, "# ours\n\nowner = \"maria\"\n\n[seeds]\nuris = []\n"},
		{"another value", "owner = 'jan' # since May\n[seeds]\n", "owner", `"maria"`, "owner = \"maria\" # since May\n[seeds]\n"},
		{"a list of several lines", "labels = [\n  \"a\", 'b]',\n] # ours\n[seeds]\n", "labels", `["c"]`, "labels = [\"c\"] # ours\n[seeds]\n"},
		{"a new table", "[seeds]\nuris = []\n", "politeness.min_delay", `"5s"`, "[seeds]\nuris = []\n\n[politeness]\nmin_delay = \"5s\"\n"},
		{"a table", "[politeness] # slow\nvalence = 2\n", "politeness.min_delay", `"5s"`, "[politeness] # slow\nmin_delay = \"5s\"\nvalence = 2\n"},
		{"a key of a table", "[politeness]\nmin_delay = \"1s\"\nvalence = 2", "politeness.min_delay", `"5s"`, "[politeness]\nmin_delay = \"5s\"\nvalence = 2\n"},
	} {
		got, err := setKey([]byte(c.before), c.key, c.value)
		if err != nil || string(got) != c.after {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.name, err, got, c.after)
		}
	}
	for _, text := range []string{
		"labels = [ # why\n\"a\"]\n", "note = '''\nx'''\n", "politeness.min_delay = \"1s\"\n", "politeness = { valence = 1 }\n",
	} {
		for _, key := range []string{"labels", "note", "politeness.min_delay"} {
			got, err := setKey([]byte(text), key, `"5s"`)
			if err == nil && !strings.Contains(string(got), "5s") || err != nil && !errors.Is(err, errByHandKey) {
				t.Errorf("%q becomes %q, %v", text, got, err)
			}
		}
	}
}

// TestSeedsAreDescribedAndGoalsAreReadBack writes descriptions and capture targets, twice, and removes them.
func TestSeedsAreDescribedAndGoalsAreReadBack(t *testing.T) {
	t.Parallel()
	const file = "# ours\n[seeds]\nuris = [\"https://a.example/\", \"https://a.example/x|y\"]\n"
	seeds := []config.NamedSeed{{
		URI:  uri.FromCanonical("https://a.example/"),
		Site: config.Site{Title: `"A"`, Labels: []string{"x"}, Owners: []string{"maria"}, Note: "two\nlines"},
	}}
	text, err := describeSeeds([]byte(file), seeds)
	const table = `  { uri = "https://a.example/", title = "\"A\"", labels = ["x"], owner = "maria", note = "two\nlines" },`
	if err != nil || !strings.Contains(string(text), "about = [\n"+table+"\n]\nuris = [") {
		t.Fatalf("%v\n%s", err, text)
	}
	goals := map[string]seedGoal{"https://a.example/x|y": {0.95, "2026-12-31"}, "https://a.example/": {0.5, ""}}
	for range 2 {
		if text, err = setGoals(text, goals); err != nil {
			t.Fatal(err)
		}
		if got := goalsIn(text); !maps.Equal(got, goals) {
			t.Errorf("the goals are %v, want %v, in\n%s", got, goals, text)
		}
	}
	if n := strings.Count(string(text), "[[when]]"); n != 2 {
		t.Errorf("%d refinements, want 2:\n%s", n, text)
	}
	if text, err = setGoals(text, nil); err != nil || strings.Contains(string(text), "[[when]]") {
		t.Errorf("without goals: %v\n%s", err, text)
	}
}

// TestUnsetRemovesOneKeyAndKeepsTheRest removes keys from files of every form.
func TestUnsetRemovesOneKeyAndKeepsTheRest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, before, key, after string }{
		{"a key that is not set", "# ours\n", "owner", "# ours\n"},
		{"the only key", "owner = 'jan'\n", "owner", ""},
		{"a comment behind it", "owner = 'jan' # since May\n[seeds]\n", "owner", "# since May\n[seeds]\n"},
		{"a list of several lines", "# a\nlabels = [\n  \"a\", 'b]',\n]\n# b\n[seeds]\n", "labels", "# a\n# b\n[seeds]\n"},
		{"a key of a table", "[politeness]\nmin_delay = \"1s\"\nvalence = 2", "politeness.min_delay", "[politeness]\nvalence = 2\n"},
		{"the last key of a table", "[politeness]\nmin_delay = \"1s\"\n[seeds]\n", "politeness.min_delay", "[politeness]\n[seeds]\n"},
	} {
		got, err := unsetKey([]byte(c.before), c.key)
		if err != nil || string(got) != c.after {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.name, err, got, c.after)
		}
	}
	for key, text := range map[string]string{
		"labels": "labels = [ # why\n\"a\"]\n", "note": "note = '''\nx'''\n", "politeness.min_delay": "politeness.min_delay = \"1s\"\n",
		"politeness.valence": "politeness = { valence = 1, min_delay = \"1s\" }\n",
	} {
		if got, err := unsetKey([]byte(text), key); !errors.Is(err, errByHandKey) {
			t.Errorf("%q becomes %q, %v", text, got, err)
		}
	}
}
