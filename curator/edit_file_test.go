package curator

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/whatif"
)

const mainText = `[operator]
name = "Test Library"
contact = "https://library.example/crawler"
[politeness]
min_delay = "3s"
`

const newsText = `# The news, by maria
title = "News" # short
labels = ["press"]

[seeds]
uris = [
  "https://news.example/", # the front page
  "https://news.example/sport",
]
`

// newWork returns the work on a configuration with the file of one host, and the files of others.
func newEditor(t *testing.T, others ...string) editor {
	t.Helper()
	hosts := map[string]string{news: newsText}
	for i := 0; i < len(others); i += 2 {
		hosts[others[i]] = others[i+1]
	}
	path := written(t, mainText, hosts)
	c, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	effect := func(s whatif.Staged) (whatif.Plan, error) {
		all := maps.Clone(s.Hosts)
		all[""] = s.Main
		loaded, err := config.LoadTexts(path, all)
		if err == nil && s.Remote {
			err = c.CheckPrograms(loaded)
		}
		return whatif.Plan{}, err
	}
	return editor{
		Config: c, Effect: effect, Writing: &sync.Mutex{}, Who: access.Caller{Name: "maria", Role: access.Operate},
		Now: time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC),
	}
}

const news = "news.example.toml"

// onDisk returns the text of a file in the folder of the host files.
func (w editor) onDisk(name string) string {
	text, err := os.ReadFile(filepath.Join(w.Config.HostsDir, name))
	if err != nil {
		return "no file"
	}
	return string(text)
}

// opened returns an order with the text of a file as it is.
func opened(t *testing.T, w editor, name string) EditOrder {
	t.Helper()
	f, err := w.Open(name, "")
	if err != nil {
		t.Fatal(err)
	}
	return EditOrder{Name: name, Digest: f.Digest, Text: f.Text}
}

// TestTheFormChangesSettingsAndKeepsTheRest sets, changes and removes settings of each kind.
func TestTheFormChangesSettingsAndKeepsTheRest(t *testing.T) {
	t.Parallel()
	w := newEditor(t)
	f, err := w.Open("", "NEWS.example")
	if err != nil || f.Name != news || len(f.Fields) != len(formKeys) || f.Host != "news.example" {
		t.Fatalf("opened %+v, %v", f, err)
	}
	values := map[string]string{}
	for _, x := range f.Fields {
		values[x.Key] = x.Value + "|" + x.Default
	}
	if values["title"] != "News|" || values["seeds.uris"] != "https://news.example/\nhttps://news.example/sport|" || values["politeness.min_delay"] != `|"3s"` {
		t.Errorf("the form has %q", values)
	}
	o := opened(t, w, news)
	o.Settings = map[string]string{
		"title": `The "News"`, "labels": "", "owner": "maria", "note": "two\r\nlines", "until": "2027-01-31",
		"politeness.min_delay": "5s", "politeness.valence": "2", "robots.obey": "html-only", "change.scrub_css": "span.clock\n[id='x']",
		"robots.reason": "the publisher agreed",
		"seeds.uris":    "https://news.example/\nhttps://news.example/culture\n",
	}
	p, err := w.Plan(o)
	if err != nil || len(p.Faults) > 0 || p.Problem != "" || p.Plan == nil {
		t.Fatalf("the plan is %+v, %v", p, err)
	}
	for _, want := range []string{
		"# The news, by maria\n", "title = \"The \\\"News\\\"\" # short\n", "owner = \"maria\"\n", `note = "two\nlines"`, "until = 2027-01-31\n",
		"min_delay = \"5s\"\n", "valence = 2\n", "obey = \"html-only\"\n", "# the front page\n", "'https://news.example/culture'", "'span.clock'",
	} {
		if !strings.Contains(p.Text, want) {
			t.Errorf("the text has no %q:\n%s", want, p.Text)
		}
	}
	if strings.Contains(p.Text, "labels") || strings.Contains(p.Text, "sport") || w.onDisk(news) != newsText {
		t.Errorf("the text is\n%s\non disk there is\n%s", p.Text, w.onDisk(news))
	}
	o.Text, o.Settings = p.Text, nil
	if done, err := w.Save(o); err != nil || !done.Saved || w.onDisk(news) != p.Text || done.Added < 10 {
		t.Errorf("saved %+v, %v", done, err)
	}
	if info, err := os.Stat(filepath.Join(w.Config.HostsDir, news)); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
}

// TestFaultsAreNamedAndNothingIsWritten checks texts and settings that cannot be saved.
func TestFaultsAreNamedAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		text     string
		settings map[string]string
		want     string
	}{
		"a wrong value":        {newsText + "[politeness]\nmin_delay = \"fast\"\n", nil, "11 politeness.min_delay \"fast\""},
		"a wrong number":       {newsText, map[string]string{"politeness.valence": "many"}, "politeness.valence \"many\""},
		"more than a number":   {newsText, map[string]string{"politeness.valence": "2\nevil = 1"}, "politeness.valence"},
		"an unknown key":       {"titel = \"x\"\n" + newsText, nil, "1 titel"},
		"no TOML":              {newsText + "[[[\n", nil, "10  "},
		"a direction mark":     {newsText + "# \u202egnirts\n", nil, "U+202E"},
		"a control character":  {newsText + "# \x1b[2J\n", nil, "U+001B"},
		"a mark in the form":   {newsText, map[string]string{"note": "a\u2066b"}, "2 note"},
		"a wrong date":         {newsText, map[string]string{"until": "tomorrow"}, "until \"tomorrow\""},
		"nested lists":         {"x = " + strings.Repeat("[", 1<<19), nil, "is nested too deeply"},
		"a long line":          {newsText + "note = \"" + strings.Repeat("y", 900_000) + "\"\n", nil, "note"},
		"a key of another one": {newsText, map[string]string{"operator.name": "x"}, `operator.name: "operator.name" is not a setting of the form`},
		"comments in a list":   {"labels = [ # why\n'a']\n" + newsText[strings.Index(newsText, "\n[seeds]"):], map[string]string{"labels": "b"}, "edit it by hand"},
	} {
		w := newEditor(t)
		o := opened(t, w, news)
		o.Text, o.Settings = c.text, c.settings
		p, err := w.Plan(o)
		var got strings.Builder
		got.WriteString(p.Problem)
		for _, f := range p.Faults {
			got.WriteString(strings.Join([]string{strconv.Itoa(f.Line), f.Key, f.Value, f.Problem}, " ") + "; ")
		}
		if err != nil || !strings.Contains(got.String(), c.want) {
			t.Errorf("%s: %v, %.500s; want %s", what, err, got.String(), c.want)
		}
		if done, err := w.Save(o); err == nil || done.Saved || w.onDisk(news) != newsText {
			t.Errorf("%s: saved %+v, %v", what, done, err)
		}
	}
}

// TestTwoEditorsLoseNothing changes and removes the file while somebody edits it.
func TestTwoEditorsLoseNothing(t *testing.T) {
	t.Parallel()
	w := newEditor(t)
	path := filepath.Join(w.Config.HostsDir, news)
	mine := opened(t, w, news)
	mine.Text += "# mine\n"
	theirs := newsText + "# theirs\n"
	if err := os.WriteFile(path, []byte(theirs), 0o640); err != nil {
		t.Fatal(err)
	}
	p, err := w.Plan(mine)
	if err != nil || p.OnDisk == nil || p.OnDisk.Text != theirs || p.Text != mine.Text {
		t.Errorf("the plan is %+v, %v", p, err)
	}
	if _, err := w.Save(mine); err == nil || !strings.Contains(err.Error(), "was changed by somebody else") || w.onDisk(news) != theirs {
		t.Errorf("saved over another change: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if p, err = w.Plan(mine); err != nil || p.OnDisk == nil || p.OnDisk.Exists {
		t.Errorf("the plan for a removed file is %+v, %v", p, err)
	}
	if _, err := w.Save(mine); err == nil || !strings.Contains(err.Error(), "was removed by somebody else") || w.onDisk(news) != "no file" {
		t.Errorf("saved a file that was removed: %v", err)
	}
	mine.Digest = p.OnDisk.Digest
	if _, err := w.Save(mine); err != nil || w.onDisk(news) != mine.Text {
		t.Errorf("with consent: %v, %s", err, w.onDisk(news))
	}
	var saved [2]error
	var both sync.WaitGroup
	for i, text := range []string{"# one\n", "# two\n"} {
		o := opened(t, w, news)
		o.Text += text
		both.Go(func() { _, saved[i] = w.Save(o) })
	}
	both.Wait()
	if (saved[0] == nil) == (saved[1] == nil) {
		t.Errorf("of two at the same moment: %v; %v", saved[0], saved[1])
	}
}

// TestFilesAreAddedAndMovedAside adds the file of a new host, and removes it twice.
func TestFilesAreAddedAndMovedAside(t *testing.T) {
	t.Parallel()
	w := newEditor(t)
	if err := os.Chmod(w.Config.HostsDir, 0o2770); err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		f, err := w.Open("", "blog.example")
		if err != nil || f.Exists || f.Digest != "" || !strings.Contains(f.Text, `uris = ["https://blog.example/"]`) {
			t.Fatalf("a new host: %+v, %v", f, err)
		}
		o := EditOrder{Name: f.Name, Digest: f.Digest, Text: f.Text, Settings: map[string]string{"title": "Blog"}}
		if _, err := w.Save(o); err != nil || !strings.Contains(w.onDisk("blog.example.toml"), "title = \"Blog\"\n") {
			t.Fatalf("saved: %v\n%s", err, w.onDisk("blog.example.toml"))
		}
		if info, err := os.Stat(filepath.Join(w.Config.HostsDir, f.Name)); err != nil || info.Mode().Perm() != 0o660 {
			t.Errorf("the mode is %v, %v; want that the group may write, as in the folder", info.Mode(), err)
		}
		o = opened(t, w, "blog.example.toml")
		o.Remove = true
		if p, err := w.Plan(o); err != nil || p.Plan == nil || w.onDisk("blog.example.toml") == "no file" {
			t.Errorf("the plan of a removal: %+v, %v", p, err)
		}
		if _, err := w.Save(o); err != nil || w.onDisk("blog.example.toml") != "no file" || w.onDisk("blog.example.toml.removed") == "no file" {
			t.Errorf("round %d: removed: %v", round, err)
		}
	}
	if old, err := filepath.Glob(filepath.Join(w.Config.HostsDir, "blog.example.toml.removed-*")); err != nil || len(old) != 1 {
		t.Errorf("the file that was removed first is lost: %v, %v", old, err)
	}
	if all, err := w.List(); err != nil || len(all.Files) != 1 || all.Files[0].Name != news || all.Files[0].Host != "news.example" || all.Files[0].About.Title != "News" {
		t.Errorf("the files are %+v, %v", all, err)
	}
}

// TestNoSaveChoosesAProgram saves a main file that names a program, over the network and through the socket.
func TestNoSaveChoosesAProgram(t *testing.T) {
	t.Parallel()
	w := newEditor(t)
	w.Who.Way = access.ByToken
	o := opened(t, w, "")
	o.Text += "[warc]\nsealed_command = \"/bin/true\"\n"
	if p, err := w.Plan(o); err != nil || len(p.Faults) != 1 || p.Faults[0].Key != "warc.sealed_command" {
		t.Errorf("the plan is %+v, %v", p, err)
	}
	if _, err := w.Save(o); err == nil {
		t.Error("somebody at another machine chose a program")
	}
	w.Who.Way = access.Socket
	if _, err := w.Save(o); err != nil {
		t.Errorf("through the socket: %v", err)
	}
}

// TestStrangeFilesAreRefused opens names that lead elsewhere, and files that a browser cannot edit without loss.
func TestStrangeFilesAreRefused(t *testing.T) {
	t.Parallel()
	w := newEditor(t)
	dir := w.Config.HostsDir
	for name, text := range map[string]string{"latin.toml": "title = \"caf\xe9\"\n", "large.toml": strings.Repeat("# x\n", 300_000)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link.toml")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"../arcrawl.toml": "is not the name", "x/y.toml": "is not the name", ".hidden.toml": "is not the name", "passwd": "is not the name",
		"a\u202e.toml": "is not the name", "a\x00.toml": "is not the name", "a\nb.toml": "is not the name", strings.Repeat("a", 300) + ".toml": "is not the name",
		"link.toml": "is not a plain file", "latin.toml": "is not in UTF-8", "large.toml": "more than 1 MB", "none.toml": "there is no file",
	} {
		if _, err := w.Open(name, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", name, err, want)
		}
		if _, err := w.Save(EditOrder{Name: name, Text: newsText}); err == nil && name != "none.toml" {
			t.Errorf("%.40q was written", name)
		}
	}
	long := opened(t, w, news)
	long.Text += "# " + strings.Repeat("y", 1<<20) + "\n"
	if done, err := w.Save(long); err == nil || done.Saved || !strings.Contains(err.Error(), "more than 1 MB") {
		t.Errorf("a line of 1 MB: saved %+v, %v", done, err)
	}
	if _, err := w.Open("", "https://news.example/"); err == nil || !strings.Contains(err.Error(), "is not a host") {
		t.Errorf("a URI as host: %v", err)
	}
	w.Who.Role = access.Curate
	if _, err := w.Open("", ""); !errors.Is(err, errRole) {
		t.Errorf("a curator opens the main file: %v", err)
	}
	if _, err := w.Plan(EditOrder{Text: mainText}); !errors.Is(err, errRole) {
		t.Errorf("a curator plans the main file: %v", err)
	}
	if _, err := w.Save(EditOrder{Text: mainText}); !errors.Is(err, errRole) {
		t.Errorf("a curator saves the main file: %v", err)
	}
}

// TestLineEndsStay saves a file with the line ends of Windows.
func TestLineEndsStay(t *testing.T) {
	t.Parallel()
	w := newEditor(t)
	text := strings.ReplaceAll(newsText, "\n", "\r\n")
	if err := os.WriteFile(filepath.Join(w.Config.HostsDir, news), []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	o := opened(t, w, news)
	o.Text = strings.ReplaceAll(o.Text, "\r\n", "\n") + "# more\n"
	if _, err := w.Save(o); err != nil || w.onDisk(news) != text+"# more\r\n" {
		t.Errorf("saved %q, %v", w.onDisk(news), err)
	}
}

// TestOperatorsEditTheMainFile changes the main file, and tries a change that would stop the crawl.
func TestOperatorsEditTheMainFile(t *testing.T) {
	t.Parallel()
	w := newEditor(t)
	o := opened(t, w, "")
	o.Text = strings.Replace(o.Text, `"3s"`, `"4s"`, 1)
	if done, err := w.Save(o); err != nil || done.Added != 1 || done.Removed != 1 {
		t.Errorf("saved %+v, %v", done, err)
	}
	o = opened(t, w, "")
	o.Remove = true
	if _, err := w.Save(o); err == nil {
		t.Error("the main file was removed")
	}
	o.Remove, o.Text = false, ""
	if p, err := w.Plan(o); err != nil || len(p.Faults) == 0 {
		t.Errorf("an empty main file: %+v, %v", p, err)
	}
}

// TestFilesThatCannotBeWrittenStay saves into a folder that may not be written, and explains a full disk.
func TestFilesThatCannotBeWrittenStay(t *testing.T) {
	t.Parallel()
	w := newEditor(t)
	o := opened(t, w, news)
	o.Text += "# more\n"
	if os.Geteuid() != 0 {
		if err := os.Chmod(w.Config.HostsDir, 0o500); err != nil {
			t.Fatal(err)
		}
		_, err := w.Save(o)
		if err == nil || !strings.Contains(err.Error(), "ReadWritePaths=") || w.onDisk(news) != newsText {
			t.Errorf("into a folder that may not be written: %v", err)
		}
	}
	for err, want := range map[error]string{
		syscall.EROFS: "ReadWritePaths=", syscall.EACCES: "ReadWritePaths=", syscall.ENOSPC: "free some space", syscall.EIO: "",
	} {
		if got := remedy(&os.PathError{Op: "open", Err: err}, "/etc/arcrawl/hosts.d"); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}

// The list of hosts shows names in Unicode, marks hosts whose file was removed, and does not cut errors.
func TestTheListOfHostsIsForPeople(t *testing.T) {
	t.Parallel()
	reason := "address is not public: host " + strings.Repeat("a-long-name.", 20) + "example is at 10.0.0.1"
	const name = "xn--bcher-kva.example"
	var out bytes.Buffer
	err := showHosts(&out, api.Hosts{Total: 2, Hosts: []api.Host{
		{Host: "news.example", State: "snoozed", Failures: 7, LastError: reason},
		{Host: name, Unicode: "bücher.example", State: "idle", Removed: true},
	}})
	list := out.String()
	if err != nil || strings.Count(list, reason) != 1 || !strings.Contains(list, "bücher.example ("+name+")  idle, removed") {
		t.Errorf("hosts, %v:\n%s", err, list)
	}
}
