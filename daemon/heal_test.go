package daemon_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/verify"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/daemon/bulk"
)

// archived returns the sealed WARC files of a daemon.
func archived(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%q, %v", files, err)
	}
	return files
}

// restarted starts a daemon again in the folder of an earlier one, and returns it.
func restarted(t *testing.T, dir string, changes ...func(dir, main string) string) *life {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, "hosts.d")); err != nil {
		t.Fatal(err)
	}
	return startIn(t, dir, changes...)
}

// seeds names the site of the first daemon again: each daemon of a test has a site of its own.
func seeds(first *life) func(dir, main string) string {
	text, _ := os.ReadFile(first.path)
	main := string(text)
	return func(string, string) string { return main }
}

// Before, the only WARC file of a crawl was deleted, and all visits after the restart were revisits of nothing.
func TestPayloadsOfALostFileAreArchivedAgain(t *testing.T) {
	t.Parallel()
	first := start(t)
	first.visited(t)
	if err := first.end(); err != nil {
		t.Fatal(err)
	}
	for _, file := range archived(t, first.dir) {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	l := restarted(t, first.dir, seeds(first))
	l.waitFor(t, "a WARC file is lost", "are due again")
	select {
	case r := <-l.visits:
		if r.Kept != crawler.KeptResponse {
			t.Errorf("the visit of %s after the loss left %s, want the whole response", r.URI, r.Kept)
		}
	case <-time.After(patience):
		t.Fatalf("the page was not visited again:\n%s", l.text())
	}
	if err := l.end(); err != nil {
		t.Fatal(err)
	}
	sum, err := verify.Files(t.Context(), []string{filepath.Join(l.dir, "warc")}, verify.Options{}, func(f warc.Finding) error { t.Error(f.Error()); return nil })
	if err != nil || sum.Errors > 0 || sum.Records["response"] == 0 {
		t.Errorf("%+v, %v", sum, err)
	}
	again := restarted(t, first.dir, seeds(first))
	again.waitFor(t, "not in their folder, as before", "STATUS=crawling")
	if strings.Contains(again.text(), "a WARC file is lost") {
		t.Errorf("the second start after the loss reports it again:\n%s", again.text())
	}
	again.waitFor(t, "serving the admin API")
	status, err := api.NewClient(filepath.Join(again.dir, "state", "admin.sock")).Status(t.Context())
	if err != nil || status.Archive.Lost.Absent != 1 || status.Archive.Lost.Example == "" {
		t.Errorf("the status has the losses %+v, %v", status.Archive.Lost, err)
	}
}

func TestFilesThatWereMovedOnPurposeAreNotLost(t *testing.T) {
	t.Parallel()
	first := start(t)
	first.visited(t)
	if err := first.end(); err != nil {
		t.Fatal(err)
	}
	away := t.TempDir()
	files := archived(t, first.dir)
	for _, file := range files {
		if err := os.Rename(file, filepath.Join(away, filepath.Base(file))); err != nil {
			t.Fatal(err)
		}
	}
	same := seeds(first)
	elsewhere := func(dir, main string) string {
		return strings.Replace(same(dir, main), "[storage]\n", "[storage]\nelsewhere = [\""+away+"\"]\n", 1)
	}
	l := restarted(t, first.dir, elsewhere)
	l.waitFor(t, "not in their folder, as before", "STATUS=crawling")
	if strings.Contains(l.text(), "a WARC file is lost") {
		t.Errorf("a moved file is taken for lost:\n%s", l.text())
	}
	if err := l.end(); err != nil {
		t.Fatal(err)
	}
	// Without the setting it is lost, and when it is back, it counts again.
	l = restarted(t, first.dir, same)
	l.waitFor(t, "a WARC file is lost")
	if err := l.end(); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if err := os.Rename(filepath.Join(away, filepath.Base(file)), file); err != nil {
			t.Fatal(err)
		}
	}
	l = restarted(t, first.dir, same)
	l.waitFor(t, "lost WARC files are back")
}

// An operator declares a file lost: to a running daemon, and to the store of a stopped one.
func TestAnOperatorDeclaresAFileLost(t *testing.T) {
	t.Parallel()
	first := start(t)
	first.visited(t)
	if err := first.end(); err != nil {
		t.Fatal(err)
	}
	file := archived(t, first.dir)[0]
	l := restarted(t, first.dir, seeds(first))
	l.waitFor(t, "STATUS=crawling")
	lost := api.LostFiles{Files: []string{file}, Are: "lost"}
	done, err := bulk.Lose(t.Context(), l.path, lost, time.Now)
	if err != nil || !done.Running || done.Changed != 1 || len(done.Losses) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	l.waitFor(t, "are due again")
	select {
	case r := <-l.visits:
		if r.Kept != crawler.KeptResponse {
			t.Errorf("the visit of %s left %s, want the whole response", r.URI, r.Kept)
		}
	case <-time.After(patience):
		t.Fatalf("the page was not visited again:\n%s", l.text())
	}
	if err := l.end(); err != nil {
		t.Fatal(err)
	}
	lost.Files = archived(t, first.dir)[1:]
	done, err = bulk.Lose(t.Context(), l.path, lost, time.Now)
	if err != nil || done.Running || done.Changed != 1 || done.Due != 1 || len(done.Losses) != 2 ||
		done.Losses[1].Pending {
		t.Errorf("the store of a stopped daemon: %+v, %v", done, err)
	}
}
