package curator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin/api"
)

// newWorkOnThree returns the work on three host files: one with comments in its list of labels, one with the line ends
// of Windows.
func newEditorOfThree(t *testing.T) editor {
	t.Helper()
	return newEditor(t, "blog.example.toml", "# by jan\r\nlabels = [\"blogs\"]\r\n[politeness]\r\nmin_delay = \"4s\" # slow\r\n",
		"radio.example.toml", "labels = [ # of the radio\n  \"radio\",\n]\n")
}

var allThree = []string{news, "radio.example.toml", "blog.example.toml", "blog.example.toml"}

// TestSeveralFilesChangeAtOnce adds a label, replaces a delay and removes the delay again, saves and undoes it.
func TestSeveralFilesChangeAtOnce(t *testing.T) {
	t.Parallel()
	w := newEditorOfThree(t)
	before := w.onDisk("blog.example.toml")
	var committed []string
	w.Commit = func(what string, files ...string) api.Committed {
		committed = append(committed, what+": "+filepath.Base(files[0])+" "+filepath.Base(files[1]))
		return api.Committed{Commit: "abc"}
	}
	o := ManyOrder{Files: allThree, Settings: []ManySetting{
		{Key: "labels", How: manyAdd, Value: "press\nelections"},
		{Key: "politeness.min_delay", How: manySet, Value: "9s"},
	}}
	p, err := w.PlanMany(o)
	if err != nil || p.Files != 2 || len(p.Faults) > 0 || p.Plan == nil || p.Saved || len(p.Diffs) != 2 {
		t.Fatalf("the plan is %+v, %v", p, err)
	}
	if len(p.Left) != 1 || p.Left[0].Name != "radio.example.toml" || !strings.HasPrefix(p.Left[0].Why, "labels: cannot") || !strings.Contains(p.Left[0].Why, "edit it by hand") {
		t.Errorf("left out are %+v", p.Left)
	}
	if w.onDisk("blog.example.toml") != before || w.onDisk(news) != newsText {
		t.Error("the plan wrote a file")
	}
	if done, err := w.SaveMany(o); err == nil || done.Saved {
		t.Errorf("saved without the digest of a plan: %+v, %v", done, err)
	}
	o.Digest = p.Digest
	done, err := w.SaveMany(o)
	if err != nil || !done.Saved || done.Committed.Commit != "abc" || len(committed) != 1 ||
		committed[0] != "labels, politeness.min_delay of 2 host files changed in the dashboard: blog.example.toml news.example.toml" {
		t.Fatalf("saved %+v, %v; committed %q", done, err, committed)
	}
	got := w.onDisk("blog.example.toml")
	for _, want := range []string{"# by jan\r\n", "'blogs',\r\n  'press',\r\n  'elections',\r\n]\r\n", "min_delay = \"9s\" # slow\r\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("the file has no %q: %q", want, got)
		}
	}
	if got := w.onDisk(news); !strings.Contains(got, "'press',\n  'elections',\n") || !strings.Contains(got, "title = \"News\" # short\n") || !strings.Contains(got, `min_delay = "9s"`) {
		t.Errorf("the file became\n%s", got)
	}
	if again, err := w.PlanMany(o); err != nil || again.Files != 0 || again.Same != 2 {
		t.Errorf("the same change again: %+v, %v", again, err)
	}
	if _, err := w.SaveMany(o); err == nil {
		t.Error("a plan was saved twice")
	}
	f, err := openConfigFiles(w.Config.Path, w.Config.HostsDir)
	if err != nil {
		t.Fatal(err)
	}
	if u, err := f.Undo(); err != nil || len(u.Files) != 2 || w.onDisk("blog.example.toml") != before || w.onDisk(news) != newsText {
		t.Errorf("undone %+v, %v: %q", u, err, w.onDisk("blog.example.toml"))
	}
	o = ManyOrder{Files: []string{"blog.example.toml"}, Settings: []ManySetting{
		{Key: "labels", How: manyRemove, Value: "blogs"}, {Key: "politeness.min_delay", How: manySet},
	}}
	if p, err = w.PlanMany(o); err != nil || p.Files != 1 || !strings.Contains(p.Diffs[0].Diff, "-labels") || !strings.Contains(p.Diffs[0].Diff, "-min_delay") {
		t.Errorf("removing a label and a delay: %+v, %v", p, err)
	}
}

// TestSeveralFilesAreNeverHalfChanged tries changes with faults, of one site, of files that are gone, and while
// somebody else edits one of the files.
func TestSeveralFilesAreNeverHalfChanged(t *testing.T) {
	t.Parallel()
	w := newEditorOfThree(t)
	delay := []ManySetting{{Key: "politeness.min_delay", How: manySet, Value: "9s"}}
	for what, c := range map[string]struct {
		files    []string
		settings []ManySetting
		want     string
	}{
		"no file":          {nil, delay, "no host file is chosen"},
		"no setting":       {allThree, nil, "no setting is chosen"},
		"the main file":    {[]string{""}, delay, "is not the file of a host"},
		"many files":       {make([]string, 5001), delay, "too many"},
		"a wrong value":    {allThree, []ManySetting{{Key: "politeness.min_delay", How: manySet, Value: "soon"}}, `"soon" is not a duration`},
		"a misleading one": {allThree, []ManySetting{{Key: "note", How: manySet, Value: "a\u202eb"}}, "is not a note"},
		"a wrong name":     {allThree, []ManySetting{{Key: "labels", How: manyAdd, Value: "a=b"}}, "is not a name of a label"},
		"a title":          {allThree, []ManySetting{{Key: "title", How: manySet, Value: "News"}}, "edit the file of each host"},
		"another key":      {allThree, []ManySetting{{Key: "operator.name", How: manySet, Value: "x"}}, "edit the file of each host"},
		"added to a text":  {allThree, []ManySetting{{Key: "owner", How: manyAdd, Value: "x"}}, "it is no list"},
		"an unknown way":   {allThree, []ManySetting{{Key: "labels", How: "mix", Value: "x"}}, "nothing is added or removed"},
		"a file elsewhere": {[]string{"../arcrawl.toml"}, delay, "is not the name of a host file"},
		"a file that went": {[]string{"gone.example.toml"}, delay, "there is no file"},
	} {
		o := ManyOrder{Files: c.files, Settings: c.settings}
		p, err := w.PlanMany(o)
		got := ""
		if err != nil {
			got = err.Error()
		}
		for _, f := range p.Faults {
			got += f.Value + " " + f.Problem + "\n"
		}
		for _, l := range p.Left {
			got += l.Why + "\n"
		}
		if strings.Contains(c.want, "is not a duration") {
			got = strings.ReplaceAll(got, "soon ", `"soon" `)
		}
		if !strings.Contains(strings.ReplaceAll(got, `""`, `"`), c.want) {
			t.Errorf("%s: %q, want %s", what, got, c.want)
		}
		o.Digest = p.Digest
		if done, err := w.SaveMany(o); err == nil || done.Saved || w.onDisk(news) != newsText {
			t.Errorf("%s: saved %+v, %v", what, done, err)
		}
	}
	o := ManyOrder{Files: []string{news, "blog.example.toml"}, Settings: delay}
	p, err := w.PlanMany(o)
	if err != nil {
		t.Fatal(err)
	}
	blog, theirs := w.onDisk("blog.example.toml"), newsText+"# theirs\n"
	if err := os.WriteFile(filepath.Join(w.Config.HostsDir, news), []byte(theirs), 0o640); err != nil {
		t.Fatal(err)
	}
	o.Digest = p.Digest
	_, err = w.SaveMany(o)
	if err == nil || !strings.Contains(err.Error(), "somebody else has changed") || w.onDisk(news) != theirs || w.onDisk("blog.example.toml") != blog {
		t.Errorf("saved over another change: %v", err)
	}
}
