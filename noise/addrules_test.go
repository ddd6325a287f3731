package noise

import (
	"errors"
	"testing"

	"github.com/arcrawl/arcrawl/digest"
)

func TestRulesAreAddedAndTheRestStays(t *testing.T) {
	t.Parallel()
	rules := digest.Spec{Regexes: []string{`a'b`, `x[0-9]+`}, Selectors: []string{"#clock"}}
	whole := "[change]\nmode = \"scrubbed\"\nscrub = [\n  \"a'b\",\n  'x[0-9]+',\n]\nscrub_css = [\n  '#clock',\n]\n"
	for _, c := range []struct{ name, before, after string }{
		{"a new file", "", whole},
		{"no table", "# mine\n[seeds]\nuris = [\"http://a.example/\"]", "# mine\n[seeds]\nuris = [\"http://a.example/\"]\n\n" + whole},
		{
			"an empty table before another one", "[change] # noise\n\n[seeds]\nuris = []\n",
			"[change] # noise\n" + whole[len("[change]\n"):] + "\n[seeds]\nuris = []\n",
		},
		{
			"lists on one line, and strict", "[change]\nmode = \"strict\"\nscrub = ['x[0-9]+'] # counter\nscrub_css = [\"p, a\" , ]\n",
			"[change]\nmode = \"scrubbed\"\nscrub = ['x[0-9]+',\n  \"a'b\",\n] # counter\nscrub_css = [\"p, a\" ,\n  '#clock',\n]\n",
		},
		{
			"lists on several lines with comments", "[change]\nmode = \"text\"\nscrub = [\n  'y]', # it's ] here\n  'x[0-9]+' # last\n]\nscrub_css = []\n",
			"[change]\nmode = \"text\"\nscrub = [\n  'y]', # it's ] here\n  'x[0-9]+', # last\n  \"a'b\",\n]\nscrub_css = [\n  '#clock',\n]\n",
		},
	} {
		got, err := addScrubRules([]byte(c.before), rules)
		if err != nil || string(got) != c.after {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.name, err, got, c.after)
			continue
		}
		if again, err := addScrubRules(got, rules); err != nil || string(again) != c.after {
			t.Errorf("%s: adding the same rules again changes the file: %v\n%s", c.name, err, again)
		}
	}
}

func TestTextsThatCannotBeEditedSafelyAreRefused(t *testing.T) {
	t.Parallel()
	rules := digest.Spec{Regexes: []string{"x"}}
	for _, text := range []string{
		"change.mode = \"text\"\n", "change = {mode = \"text\"}\n", "[change]\nscrub = ['''\ny]''']\n", "[change]\nscrub = 1\n",
	} {
		if got, err := addScrubRules([]byte(text), rules); !errors.Is(err, errByHand) {
			t.Errorf("%q becomes %q, %v", text, got, err)
		}
	}
	if got, err := addScrubRules([]byte("[change\n"), rules); err == nil {
		t.Errorf("a faulty file becomes %q", got)
	}
}
