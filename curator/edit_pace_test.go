package curator

import (
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/config/schema"
)

// TestHowOftenIsReadAsItIsWritten writes how often a host is visited into a file, and reads it again.
func TestHowOftenIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	const before = "# by maria\ntitle = \"News\"\n\n[[when]]\npath_prefix = \"/live/\"\nwait = [{ mime = \".*\", min = \"1m\" }]\n"
	text := []byte(before)
	for _, value := range []string{"target 0.8", "target 0.95 min 1h", "every 6h", "every 12h", ""} {
		edited, err := setPace(text, value)
		if got := paceIn(schema.Parse(edited, "x")); err != nil || got != value || !strings.HasPrefix(string(edited), "# by maria\n") {
			t.Errorf("%q is read as %q, %v:\n%s", value, got, err, edited)
		}
		text = edited
	}
	if string(text) != before {
		t.Errorf("after all the text is\n%s", text)
	}
	for _, value := range []string{"often", "target much", "target 0.8 max 1h", "every"} {
		if edited, err := setPace(text, value); err == nil {
			t.Errorf("%q makes\n%s", value, edited)
		}
	}
}

// TestEntriesByHandStay leaves entries of [[wait]] that the form does not show as they are.
func TestEntriesByHandStay(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"[[wait]]\nmime = \"text/html.*\"\nmin = \"5m\"\n",
		"wait = [{ mime = \".*\", rule = \"classic\" }]\n",
		"wait = [{ mime = \".*\", rule = \"learned\", capture_target = 0.8, max = \"2d\" }]\n",
	} {
		if got := paceIn(schema.Parse([]byte(text), "x")); got != paceByHand {
			t.Errorf("%s is read as %q", text, got)
		}
		if edited, err := setPace([]byte(text), "every 6h"); err == nil {
			t.Errorf("%s became\n%s", text, edited)
		}
	}
}

// TestHowOftenIsPlannedLikeAnySetting sets a pace with the form, also where a list of seeds gave a seed its own target.
func TestHowOftenIsPlannedLikeAnySetting(t *testing.T) {
	t.Parallel()
	w := newEditor(t)
	o := opened(t, w, news)
	o.Settings = map[string]string{paceKey: "target 0.9 min 30m"}
	p, err := w.Plan(o)
	if err != nil || len(p.Faults) > 0 || p.Problem != "" || p.Fields[0].Value != "target 0.9 min 30m" || len(p.Plan.Warnings) > 0 {
		t.Fatalf("the plan is %+v, %v", p, err)
	}
	with, err := setGoals([]byte(p.Text), map[string]seedGoal{"https://news.example/": {Target: 0.5}})
	if err != nil {
		t.Fatal(err)
	}
	o.Text, o.Settings = string(with), map[string]string{paceKey: "every 6h"}
	if p, err = w.Plan(o); err != nil || len(p.Faults) > 0 || len(p.Plan.Warnings) != 1 ||
		!strings.Contains(p.Plan.Warnings[0].Problem, "gave 1 seed a capture target of its own") {
		t.Errorf("the plan is %+v, %v", p, err)
	}
	o.Settings[paceKey] = "every soon"
	if p, err = w.Plan(o); err != nil || len(p.Faults) == 0 {
		t.Errorf("the plan of a faulty time is %+v, %v", p, err)
	}
}
