package curator

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
)

// TestSeedListsAreImportedThroughTheAPI plans, imports, exports and undoes a list.
func TestSeedListsAreImportedThroughTheAPI(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.Close()
		list := SeedList{Text: "uri,label\nhttps://a.example/,papers\nhttps://,\nhttp://news.example/,\n"}
		p := post[SeedPlan](w, "/api/v1/seeds/plan", list)
		if p.New != 1 || p.Known != 1 || p.Faulty != 1 || p.Faults[0].Line != 3 || p.Seeds[0].About.Labels[0] != "papers" {
			t.Fatalf("the plan is %+v", p)
		}
		if _, err := os.Stat(w.Path("hosts.d")); err == nil {
			t.Error("a plan wrote files")
		}
		post[SeedPlan](w, "/api/v1/seeds/import", list)
		if text, err := os.ReadFile(w.Path("hosts.d/a.example.toml")); err != nil || !strings.Contains(string(text), `labels = ["papers"]`) {
			t.Errorf("the host file: %v\n%s", err, text)
		}
		if got := get[SeedList](w, "/api/v1/seeds/export?label=papers").Text; !strings.Contains(got, "https://a.example/,papers") {
			t.Errorf("the export is %s", got)
		}
		if status := w.Ask("POST", "/api/v1/seeds/import", list, nil); status != 400 {
			t.Errorf("importing it again: status %d, want 400", status)
		}
		if u := post[SeedsUndone](w, "/api/v1/seeds/undo", nil); u.Files != 1 {
			t.Errorf("undone: %+v", u)
		}
		if status := w.Ask("POST", "/api/v1/seeds/undo", nil, nil); status != 400 {
			t.Errorf("undoing it again: status %d, want 400", status)
		}
		entries, err := access.ReadAudit(dir, api.AuditFilter{Limit: 10})
		if err != nil || len(entries) != 4 || entries[0].What != "seeds/undo" || entries[3].What != "seeds/import" {
			t.Errorf("the audit log has %+v, %v", entries, err)
		}
	})
}

// TestAnUndoWaitsForOtherWritersOfHostFiles undoes an import while another request holds the host files.
func TestAnUndoWaitsForOtherWritersOfHostFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, everyHour)
		defer w.Close()
		post[SeedPlan](w, "/api/v1/seeds/import", SeedList{Text: "https://a.example/\n"})
		file := w.Path("hosts.d/a.example.toml")
		w.window.WritingFiles().Lock()
		undone := make(chan SeedsUndone)
		go func() { undone <- post[SeedsUndone](w, "/api/v1/seeds/undo", nil) }()
		for range 5000 { // some milliseconds; an undo that does not wait removes the file in this time
			if _, err := os.Stat(file); err != nil {
				t.Error("the undo did not wait")
				break
			}
			runtime.Gosched()
		}
		w.window.WritingFiles().Unlock()
		if u := <-undone; u.Files != 1 {
			t.Errorf("undone: %+v", u)
		}
	})
}

// TestTheDashboardAndTheListHaveOneMaximum compares the maximum size in the page with the one of lists.
func TestTheDashboardAndTheListHaveOneMaximum(t *testing.T) {
	t.Parallel()
	page, err := files.ReadFile("dashboard/import.js")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("file.size > %de6", maxListSize/1_000_000)
	if !strings.Contains(string(page), want) || admin.MaxBody < 2*maxListSize {
		t.Errorf("import.js has no %q, or a body of %d bytes is too small", want, admin.MaxBody)
	}
}
