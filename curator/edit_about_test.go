package curator

import (
	"strings"
	"testing"
)

// field returns a field of a plan.
func field(t *testing.T, fields []EditField, key string) EditField {
	t.Helper()
	for _, f := range fields {
		if f.Key == key {
			return f
		}
	}
	t.Fatalf("the form has no %s", key)
	return EditField{}
}

// TestWhatAListSaysOfSeedsIsInTheForm reads what a list of seeds wrote, changes it with the form, and removes a seed.
func TestWhatAListSaysOfSeedsIsInTheForm(t *testing.T) {
	t.Parallel()
	w := newEditor(t)
	f, err := openConfigFiles(w.Config.Path, w.Config.HostsDir)
	if err != nil {
		t.Fatal(err)
	}
	list := "uri,label,title,owner,target,until\n" +
		"https://news.example/,press|daily,\"Front, page\",maria,90 %,2026-12-31\nhttps://news.example/sport,,=Sport,jan,,\n"
	p, err := f.Plan([]byte(list))
	if err != nil || p.Changed != 2 {
		t.Fatalf("the list is planned as %+v, %v", p, err)
	}
	text := p.Texts[news]
	const front = `{"collection":"","label":"daily|press","note":"","owner":"maria","target":"0.9","title":"Front, page","until":"2026-12-31","uri":"https://news.example/"}`
	const sport = `{"collection":"","label":"","note":"","owner":"jan","target":"","title":"=Sport","until":"","uri":"https://news.example/sport"}`
	if got := field(t, w.fields(news, string(text)), aboutKey); got.Kind != kindSeeds || got.Value != "["+front+","+sport+"]" {
		t.Errorf("the form has %+v", got)
	}
	if same, err := set(text, aboutKey, "["+sport+","+front+"]"); err != nil || string(same) != string(text) {
		t.Errorf("the same in another order: %v\n%s", err, same)
	}
	changed, err := set(text, aboutKey, "["+strings.Replace(front, `"0.9"`, `"50 %"`, 1)+","+strings.Replace(sport, "jan", "eva", 1)+"]")
	if err != nil || goalsIn(changed)["https://news.example/"] != (seedGoal{0.5, "2026-12-31"}) || !strings.Contains(string(changed), `owner = "eva"`) ||
		!strings.Contains(string(changed), "# the front page") {
		t.Errorf("changed with the form: %v\n%s", err, changed)
	}
	for what, c := range map[string]struct{ value, want string }{
		"a wrong share":    {strings.Replace(front, `"0.9"`, `"often"`, 1), `target of https://news.example/: "often" is not a share of versions`},
		"a wrong name":     {strings.Replace(sport, "jan", "a=b", 1), "owner of https://news.example/sport"},
		"a day alone":      {strings.Replace(front, `"0.9"`, `""`, 1), "has no effect without a share"},
		"another seed":     {strings.Replace(front, "news.example/", "other.example/", 1), "is no seed of the file"},
		"what is no list":  {"x", "it is not a list of seeds"},
		"too many of them": {strings.Repeat(front+",", maxFormSeeds) + sport, "at most 200 seeds"},
	} {
		if out, err := set(text, aboutKey, "["+c.value+"]"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q\n%s", what, err, c.want, out)
		}
	}
	less, err := set(text, "seeds.uris", "https://news.example/sport")
	if err != nil || len(goalsIn(less)) != 0 || strings.Contains(string(less), `owner = "maria"`) || !strings.Contains(string(less), `owner = "jan"`) {
		t.Errorf("what was known of a removed seed stays: %v\n%s", err, less)
	}
}

// TestFrontPageAndSectionsHaveAPaceOfTheirOwn sets it with the form, adds and removes seeds, and lets lists and the
// form overrule each other: what was written later wins.
func TestFrontPageAndSectionsHaveAPaceOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := newEditor(t)
	o := opened(t, w, news)
	o.Settings = map[string]string{sectionsKey: "every 30m", "articles.ladder": "1h, 6h 1d", "feeds.max": "1h"}
	p, err := w.Plan(o)
	if err != nil || len(p.Faults) > 0 || p.Problem != "" {
		t.Fatalf("the plan is %+v, %v", p, err)
	}
	if got := field(t, p.Fields, sectionsKey); got.Value != "every 30m" || !got.Set {
		t.Errorf("the form has %+v", got)
	}
	if got := field(t, p.Fields, "articles.ladder"); got.Value != "1h, 6h, 1d" {
		t.Errorf("the form has %+v", got)
	}
	more, err := set([]byte(p.Text), "seeds.uris", "https://news.example/\nhttps://news.example/politics")
	if err != nil || !strings.Contains(string(more), `'^(?:https://news\.example/|https://news\.example/politics)$'`) || sectionsIn(more) != "every 30m" {
		t.Errorf("after another seed: %v\n%s", err, more)
	}
	if none, err := set(more, "seeds.uris", ""); err != nil || strings.Contains(string(none), "[[when]]") {
		t.Errorf("without seeds: %v\n%s", err, none)
	}
	if _, err := set([]byte("title = \"x\"\n"), sectionsKey, "every 1h"); err == nil {
		t.Error("a file without seeds gets a pace for them")
	}
	if _, err := set([]byte(strings.Replace(p.Text, `every = "30m"`, `every = "30m", initial = "1m"`, 1)), sectionsKey, "every 1h"); err == nil {
		t.Error("a refinement that somebody edited is overwritten")
	}

	listed, err := setGoals([]byte(p.Text), map[string]seedGoal{"https://news.example/": {Target: 0.5}})
	if err != nil || !strings.Contains(overruled(listed), "which still applies") {
		t.Errorf("a list that came later: %q, %v", overruled(listed), err)
	}
	o.Text, o.Settings = string(listed), map[string]string{sectionsKey: "target 0.9"}
	if p, err = w.Plan(o); err != nil || len(p.Faults) > 0 || len(p.Plan.Warnings) != 1 || !strings.Contains(p.Plan.Warnings[0].Problem, "no longer apply") ||
		strings.Index(p.Text, sectionsBegin) < strings.Index(p.Text, goalsEnd) {
		t.Errorf("the form came later: %+v, %v", p, err)
	}
	if same, err := setGoals([]byte(p.Text), goalsIn([]byte(p.Text))); err != nil || string(same) != p.Text {
		t.Errorf("a list that says nothing new moves its targets: %v\n%s", err, same)
	}
	if off, err := set([]byte(p.Text), sectionsKey, ""); err != nil || strings.Contains(string(off), sectionsBegin) || len(goalsIn(off)) != 1 || strings.Contains(string(off), "\n\n\n") {
		t.Errorf("without the pace again: %v\n%s", err, off)
	}
	both := ManyOrder{Files: []string{news}, Settings: []ManySetting{{Key: sectionsKey, How: manySet, Value: "target 0.9 min 10m"}}}
	if m, err := w.PlanMany(both); err != nil || m.Files != 1 || len(m.Faults) > 0 || !strings.Contains(m.Diffs[0].Diff, `min = "10m"`) {
		t.Errorf("several files: %+v, %v", m, err)
	}
}
