package curator

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/slow"
)

const main = "[operator]\nname = \"Test Library\"\ncontact = \"https://library.example/crawler\"\n[seeds]\nuris = [\"https://main.example/\"]\n"

var writtenAt = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// written writes a configuration, and returns the path of its main file.
func written(t testing.TB, main string, hosts map[string]string) (path string) {
	t.Helper()
	dir := t.TempDir()
	path, there := filepath.Join(dir, "arcrawl.toml"), filepath.Join(dir, "hosts.d")
	err := errors.Join(os.Mkdir(there, 0o750), os.WriteFile(path, []byte(main), 0o640))
	for name, text := range hosts {
		err = errors.Join(err, os.WriteFile(filepath.Join(there, name), []byte(text), 0o640))
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// folder writes a configuration and returns its files.
func folder(t testing.TB, hosts map[string]string) configFiles {
	t.Helper()
	return openTexts(t, written(t, main, hosts))
}

func openTexts(t testing.TB, path string) configFiles {
	t.Helper()
	f, err := openConfigFiles(path, filepath.Join(filepath.Dir(path), "hosts.d"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// imported imports a list and returns the files after it.
func imported(t testing.TB, f configFiles, list string) (configFiles, SeedPlan) {
	t.Helper()
	p, err := f.Plan([]byte(list))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(p.Texts, "a list", writtenAt); err != nil {
		t.Fatal(err)
	}
	return openTexts(t, f.Path), p
}

func exported(t testing.TB, f configFiles, only config.Filter) string {
	t.Helper()
	var b bytes.Buffer
	if err := f.Export(&b, only); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestAListIsImportedExportedAndUndone imports a list of each form, exports it again, and undoes the import.
func TestAListIsImportedExportedAndUndone(t *testing.T) {
	t.Parallel()
	const old = "# ours\nowner = \"jan\"\n[seeds]\nuris = [\"https://old.example/\"] # front page\n"
	f := folder(t, map[string]string{"old.example.toml": old})
	list := "\xef\xbb\xbfURL;Label;Note;Target;Until;Owner\r\n" +
		"https://www.new.example/;papers|daily;\"two; parts\";90 %;2026-12-31;maria\r\n" +
		"https://old.example/;papers;;;;\r\n" +
		"# a comment\r\n" +
		"https://old.example/b;;;0,5;;\r\n" +
		"https://main.example/;;;;;\r\n"
	after, p := imported(t, f, list)
	if p.New != 2 || p.Changed != 1 || p.Known != 1 || p.Faulty != 0 || p.NewFiles != 1 {
		t.Fatalf("%d new, %d changed, %d known, %d faulty, %d files: %+v", p.New, p.Changed, p.Known, p.Faulty, p.NewFiles, p.Faults)
	}
	if text := string(after.Texts["old.example.toml"]); !strings.HasPrefix(text, "# ours\nowner = \"jan\"\n") || !strings.Contains(text, "# front page") {
		t.Errorf("the file of old.example lost something:\n%s", text)
	}
	want := "uri,label,collection,title,owner,note,target,until\n" +
		"https://main.example/,,,,,,,\nhttps://old.example/,papers,,,,,,\nhttps://old.example/b,,,,,,0.5,\n" +
		"https://www.new.example/,daily|papers,,,maria,two; parts,0.9,2026-12-31\n"
	if got := exported(t, after, config.Filter{}); got != want {
		t.Errorf("the export is\n%s\nwant\n%s", got, want)
	}
	if got := exported(t, after, config.Filter{Owner: "jan"}); strings.Count(got, "\n") != 3 {
		t.Errorf("the seeds of jan are\n%s", got)
	}
	c, err := config.Load(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	if site := c.Site("www.new.example"); !site.Equal(config.Site{Labels: []string{"daily", "papers"}, Owners: []string{"maria"}}) {
		t.Errorf("www.new.example is described as %+v", site)
	}
	if again, p := imported(t, after, want); len(p.Texts) != 0 || p.Known != 4 || len(again.Texts) != len(after.Texts) {
		t.Errorf("the export, imported again, changes %d files and has %d known seeds", len(p.Texts), p.Known)
	}
}

// TestNoCellOfAnExportIsAFormula writes texts that a spreadsheet would compute, and reads them back as they were.
func TestNoCellOfAnExportIsAFormula(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, cell string }{
		{"", ""},
		{"News", "News"},
		{"a=b", "a=b"},
		{"'tis", "'tis"},
		{"-3", "-3"},
		{"+0.25", "+0.25"},
		{"=1+1", "'=1+1"},
		{"+49 30 1", "'+49 30 1"},
		{"-2+3", "'-2+3"},
		{"@SUM(A1)", "'@SUM(A1)"},
		{"-", "'-"},
		{"\t=1", "'\t=1"},
		{"\r=1", "'\r=1"},
		{"\n=1", "'\n=1"},
		{"'=1", "''=1"},
		{"'", "'"},
		{"-3-", "'-3-"},
	} {
		if got := cellOf(c.text); got != c.cell || textOf(got) != c.text {
			t.Errorf("%q is written as %q and read as %q, want %q", c.text, got, textOf(got), c.cell)
		}
	}
	f := folder(t, map[string]string{"old.example.toml": "[seeds]\nuris = [\"https://old.example/\"]\n" +
		"about = [{ uri = \"https://old.example/\", title = \"=HYPERLINK(1)\", note = \"@SUM(A1)\", owner = \"-2+3\" }]\n"})
	got := exported(t, f, config.Filter{})
	if want := "https://old.example/,,,'=HYPERLINK(1),'-2+3,'@SUM(A1),,\n"; !strings.Contains(got, want) {
		t.Errorf("the export is\n%s\nwant %s", got, want)
	}
	if _, p := imported(t, f, got); len(p.Texts) != 0 || p.Faulty != 0 {
		t.Errorf("the export, imported again, changes %q, faults %v", p.Texts, p.Faults)
	}
}

// TestUndoRestoresEveryFileOrNone undoes an import, an interrupted one, and one whose files somebody changed since.
func TestUndoRestoresEveryFileOrNone(t *testing.T) {
	t.Parallel()
	f := folder(t, map[string]string{"old.example.toml": "# ours\n"})
	const list = "https://old.example/\nhttps://new.example/\n"
	after, _ := imported(t, f, list)
	if u, err := after.Undo(); err != nil || u.What != "a list" || len(u.Files) != 2 {
		t.Fatalf("undo: %+v, %v", u, err)
	}
	undone := openTexts(t, f.Path)
	if string(undone.Texts["old.example.toml"]) != "# ours\n" || undone.Texts["new.example.toml"] != nil {
		t.Errorf("after the undo the files are %q", undone.Texts)
	}
	if _, err := undone.Undo(); err == nil || !strings.Contains(err.Error(), "no import") {
		t.Errorf("a second undo returns %v", err)
	}

	after, _ = imported(t, undone, list)
	if err := os.Remove(filepath.Join(f.Dir, "new.example.toml")); err != nil { // as if it had never been written
		t.Fatal(err)
	}
	if _, err := after.Undo(); err != nil || string(openTexts(t, f.Path).Texts["old.example.toml"]) != "# ours\n" {
		t.Errorf("undo of an interrupted import: %v", err)
	}

	after, _ = imported(t, openTexts(t, f.Path), list)
	edited := filepath.Join(f.Dir, "old.example.toml")
	if err := os.WriteFile(edited, []byte("# edited\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := after.Undo(); err == nil || !strings.Contains(err.Error(), "somebody changed old.example.toml") {
		t.Errorf("undo after an edit returns %v", err)
	}
	if now := openTexts(t, f.Path).Texts; now["new.example.toml"] == nil || string(now["old.example.toml"]) != "# edited\n" {
		t.Errorf("the refused undo changed files: %q", now)
	}
	p, err := f.Plan([]byte("https://old.example/c\n")) // f was read before the edit
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(p.Texts, "a list", writtenAt); err == nil || !strings.Contains(err.Error(), "changed by somebody else") {
		t.Errorf("writing over an edit returns %v", err)
	}
}

// TestEachFaultNamesItsPlace reads a list with a fault in each kind of column.
func TestEachFaultNamesItsPlace(t *testing.T) {
	t.Parallel()
	f := folder(t, map[string]string{"faulty.example.toml": "[seed]\n"})
	for list, want := range map[string]string{
		"uri\nhttps://\n": `2:1: uri: "https://" is not a URI`,
		"  nonsense\n":    `1:3: uri: "nonsense" is not a URI`,
		"uri,label\nhttps://a.example/,\"x=y\"\n":      `2:20: label: "x=y" is not a name of a label`,
		"uri,title\nhttps://a.example/,a\u202eb\n":     "2:20: title: ",
		"uri,owner\nhttps://a.example/,\"a,b\"\n":      "2:20: owner: ",
		"uri,note\nhttps://a.example/,\xff\n":          "is not UTF-8",
		"uri,target\nhttps://a.example/,much\n":        `2:20: target: "much" is not a share of versions; write for example 0.9`,
		"uri,target,until\nhttps://a.example/,90%,x\n": `2:24: until: "x" is not a date; write for example 2026-12-31`,
		"uri,until\nhttps://a.example/,2026-12-31\n":   `2:20: until: "2026-12-31" has no effect without a target`,
		"uri,lable\n":                         `1:5: header: "lable" is no column of a seed list; did you mean "label"?`,
		"uri,url\n":                           "appears twice",
		"uri,label\nhttps://a.example/,a,b\n": "the line has 3 fields, the header 2",
		"uri,label\nhttps://a.example/,\"a\nhttps://b.example/,b\n": "3:22: is not CSV: the quoted text that begins in line 2: ",
		"uri,label\n,a\n": "uri: is missing",
		"uri\nhttps://a.example/\nhttps://a.example/\n": "is the URI of line 2 too",
		"https://faulty.example/\n":                     "belongs to the file faulty.example.toml, which has faults",
		"uri,owner\nhttps://main.example/,maria\n":      "is a seed of the main file",

		"\xff\xfeu\x00": "in UTF-16",
		"PK\x03\x04":    "a spreadsheet",
	} {
		p, err := f.Plan([]byte(list))
		if err != nil || p.Faulty != 1 || !strings.Contains(p.Faults[0].String(), want) {
			t.Errorf("%q: %v, %d faults: %v\nwant %s", list, err, p.Faulty, p.Faults, want)
		}
	}
}

// TestALargeListIsReadAndPlanned reads 100,000 lines with a fault in each kind of column, and plans some of them.
func TestALargeListIsReadAndPlanned(t *testing.T) {
	t.Parallel()
	slow.Unraced(t, slow.OneGoroutine)
	faulty := []string{
		"https://,,,,,,,", "https://www.host1.example/1,=,,,,,,", "https://www.host1.example/2,,=,,,,,",
		"https://www.host1.example/3,,,a\u202eb,,,,", "https://www.host1.example/4,,,,\"a,b\",,,", "https://www.host1.example/5,,,,,a\u202eb,,",
		"https://www.host1.example/6,,,,,,2,", "https://www.host1.example/7,,,,,,0.5,soon",
	}
	list := func(lines int) []byte {
		var b strings.Builder
		b.WriteString("uri,label,collection,title,owner,note,target,until\n")
		for i := range lines - len(faulty) {
			fmt.Fprintf(&b, "https://www.host%d.example/section/%d,papers,daily,,maria,\"note %d\",,\n", i%100, i, i)
		}
		b.WriteString(strings.Join(faulty, "\n") + "\n")
		return []byte(b.String())
	}
	n := len(faulty)
	l := readList(list(100_000))
	if len(l.Entries) != 100_000-n || l.Faulty != n || len(l.Faults) != n {
		t.Fatalf("%d entries, %d faulty: %v", len(l.Entries), l.Faulty, l.Faults)
	}
	for i, column := range []string{"uri", "label", "collection", "title", "owner", "note", "target", "until"} {
		if f := l.Faults[i]; f.Line != 100_000-n+2+i || !strings.Contains(f.String(), " "+column+": ") {
			t.Errorf("the fault in the column %s is %v", column, f)
		}
	}
	p, err := folder(t, nil).Plan(list(5_000))
	if err != nil || p.New != 5_000-n || p.Faulty != n || p.NewFiles != 100 || len(p.Texts) != 100 {
		t.Errorf("%d new, %d faulty, %d hosts, %d files: %v", p.New, p.Faulty, p.NewFiles, len(p.Texts), err)
	}
}

// TestOneKeyIsSetInManyFiles sets keys in the files of a label.
func TestOneKeyIsSetInManyFiles(t *testing.T) {
	t.Parallel()
	f := folder(t, map[string]string{
		"a.example.toml": "labels = [\"papers\"]\n", "b.example.toml": "labels = [\"papers\"]\n[politeness]\nmin_delay = \"1s\" # slow\n", "c.example.toml": "# other\n",
	})
	only := config.Filter{Label: "papers"}
	texts, err := f.set(only, []string{"politeness.min_delay=5s", "owner=maria", "labels=[\"papers\", \"daily\"]"})
	if err != nil || len(texts) != 2 || !strings.Contains(string(texts["b.example.toml"]), "min_delay = \"5s\" # slow") {
		t.Fatalf("%v: %q", err, texts)
	}
	if err := f.Write(texts, "owner", writtenAt); err != nil {
		t.Fatal(err)
	}
	if u, err := f.Undo(); err != nil || len(u.Files) != 2 {
		t.Errorf("undo: %v, %v", u, err)
	}
	for setting, want := range map[string]string{
		"politeness.min_delay=soon": `"soon" is not a duration`, "wait.min=5s": "sets no key of a host file", "owner": "sets no key", "storage.warc=x": "sets no key",
	} {
		if _, err := f.set(only, []string{setting}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s returns %v, want %s", setting, err, want)
		}
	}
}
