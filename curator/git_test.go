package curator

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/api"
)

// initGit makes a folder a git repository, or skips the test.
func initGit(t *testing.T, dir string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	if out, err := exec.Command("git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v, %s", err, out)
	}
}

// TestChangesInTheDashboardAreCommitted edits a host file without a repository and with one, imports seeds, and undoes
// the import.
func TestChangesInTheDashboardAreCommitted(t *testing.T) {
	t.Parallel()
	dir := hostFiles(t, map[string]string{"a": "title = \"A\"\n"})
	w := newWorld(t, dir, withGit)
	defer w.Close()
	save := func(text string) EditSaved {
		t.Helper()
		f := get[EditFile](w, "/api/v1/edit/file?name=a.example.toml")
		return post[EditSaved](w, "/api/v1/edit/save", EditOrder{Name: "a.example.toml", Digest: f.Digest, Text: text})
	}
	s := save("title = \"B\"\n")
	if !s.Saved || s.Committed.Commit != "" || !strings.Contains(s.Committed.Problem, "is not a git repository") {
		t.Errorf("without a repository the answer is %+v", s)
	}
	initGit(t, dir)
	if s := save("title = \"C\"\n"); !s.Saved || s.Committed.Commit == "" || s.Committed.Problem != "" {
		t.Errorf("with a repository the answer is %+v", s)
	}
	if p := post[SeedPlan](w, "/api/v1/seeds/import", SeedList{Text: "uri\nhttps://b.example/\n"}); p.Committed.Commit == "" {
		t.Errorf("the import is %+v", p)
	}
	if u := post[SeedsUndone](w, "/api/v1/seeds/undo", nil); u.Committed.Commit == "" {
		t.Errorf("undone: %+v", u)
	}
	out, err := exec.Command("git", "-C", dir, "log", "--reverse", "--name-status", "--pretty=%an: %s").CombinedOutput()
	got := string(out)
	for _, want := range []string{
		": a.example.toml: changed in the dashboard\n\nA\thosts.d/a.example.toml", ": 1 seed imported in the dashboard\n\nA\thosts.d/b.example.toml",
		": undone in the dashboard: import in the dashboard by", "D\thosts.d/b.example.toml",
	} {
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("the log has no %q: %v\n%s", want, err, got)
		}
	}
}

// TestNobodyWritesBetweenAChangeAndItsCommit looks, at each moment at which the configuration is asked for, whether
// somebody else could write host files although a change on disk is not in the repository yet.
func TestNobodyWritesBetweenAChangeAndItsCommit(t *testing.T) {
	t.Parallel()
	dir := hostFiles(t, nil)
	initGit(t, dir)
	hosts := filepath.Join(dir, "hosts.d")
	var w *world
	looked := 0
	look := func(o *admin.Options) {
		loaded := o.Config
		o.Config = func() admin.Loaded {
			if w == nil || !w.window.WritingFiles().TryLock() {
				return loaded()
			}
			defer w.window.WritingFiles().Unlock()
			looked++
			for _, name := range []string{"a.example.toml", "b.example.toml"} {
				text, _ := os.ReadFile(filepath.Join(hosts, name)) // "" if there is none
				known, _ := exec.Command("git", "-C", hosts, "show", "HEAD:./"+name).Output()
				if string(text) != string(known) {
					t.Errorf("%s has %d bytes on disk and %d in the repository, and others may write", name, len(text), len(known))
				}
			}
			return loaded()
		}
	}
	w = newWorld(t, dir, withGit, look)
	defer w.Close()
	created := post[EditSaved](w, "/api/v1/edit/save", EditOrder{Name: "a.example.toml", Text: "title = \"A\"\n"})
	imported := post[SeedPlan](w, "/api/v1/seeds/import", SeedList{Text: "uri\nhttps://b.example/\n"})
	undone := post[SeedsUndone](w, "/api/v1/seeds/undo", nil)
	for _, c := range []api.Committed{created.Committed, imported.Committed, undone.Committed} {
		if c.Commit == "" {
			t.Errorf("a change was not committed: %s", c.Problem)
		}
	}
	if looked == 0 {
		t.Error("the configuration was never asked for while nobody wrote")
	}
}
