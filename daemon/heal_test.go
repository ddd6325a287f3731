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
	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/daemon/bulk"
	"github.com/arcrawl/arcrawl/internal/daemontest"
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
func restarted(t *testing.T, dir string, changes ...func(dir, main string) string) *daemontest.Life {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, "hosts.d")); err != nil {
		t.Fatal(err)
	}
	return daemontest.StartIn(t, dir, nil, changes...)
}

// seeds names the site of the first daemon again: each daemon of a test has a site of its own.
func seeds(first *daemontest.Life) func(dir, main string) string {
	text, _ := os.ReadFile(first.Path)
	main := string(text)
	return func(string, string) string { return main }
}

// Before, the only WARC file of a crawl was deleted, and all visits after the restart were revisits of nothing.
func TestPayloadsOfALostFileAreArchivedAgain(t *testing.T) {
	t.Parallel()
	first := daemontest.Start(t)
	first.Visited(t)
	if err := first.End(); err != nil {
		t.Fatal(err)
	}
	for _, file := range archived(t, first.Dir) {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	l := restarted(t, first.Dir, seeds(first))
	l.WaitFor(t, "a WARC file is lost", "are due again")
	select {
	case r := <-l.Visits:
		if r.Kept != aspects.KeptResponse {
			t.Errorf("the visit of %s after the loss left %s, want the whole response", r.URI, r.Kept)
		}
	case <-time.After(daemontest.Patience):
		t.Fatalf("the page was not visited again:\n%s", l.Text())
	}
	if err := l.End(); err != nil {
		t.Fatal(err)
	}
	sum, err := verify.Files(t.Context(), []string{filepath.Join(l.Dir, "warc")}, verify.Options{}, func(f warc.Finding) error { t.Error(f.Error()); return nil })
	if err != nil || sum.Errors > 0 || sum.Records["response"] == 0 {
		t.Errorf("%+v, %v", sum, err)
	}
	again := restarted(t, first.Dir, seeds(first))
	again.WaitFor(t, "not in their folder, as before", "STATUS=crawling")
	if strings.Contains(again.Text(), "a WARC file is lost") {
		t.Errorf("the second start after the loss reports it again:\n%s", again.Text())
	}
	again.WaitFor(t, "serving the admin API")
	status, err := api.NewClient(filepath.Join(again.Dir, "state", "admin.sock")).Status(t.Context())
	if err != nil || status.Archive.Lost.Absent != 1 || status.Archive.Lost.Example == "" {
		t.Errorf("the status has the losses %+v, %v", status.Archive.Lost, err)
	}
}

func TestFilesThatWereMovedOnPurposeAreNotLost(t *testing.T) {
	t.Parallel()
	first := daemontest.Start(t)
	first.Visited(t)
	if err := first.End(); err != nil {
		t.Fatal(err)
	}
	away := t.TempDir()
	files := archived(t, first.Dir)
	for _, file := range files {
		if err := os.Rename(file, filepath.Join(away, filepath.Base(file))); err != nil {
			t.Fatal(err)
		}
	}
	same := seeds(first)
	elsewhere := func(dir, main string) string {
		return strings.Replace(same(dir, main), "[storage]\n", "[storage]\nelsewhere = [\""+away+"\"]\n", 1)
	}
	l := restarted(t, first.Dir, elsewhere)
	l.WaitFor(t, "not in their folder, as before", "STATUS=crawling")
	if strings.Contains(l.Text(), "a WARC file is lost") {
		t.Errorf("a moved file is taken for lost:\n%s", l.Text())
	}
	if err := l.End(); err != nil {
		t.Fatal(err)
	}
	// Without the setting it is lost, and when it is back, it counts again.
	l = restarted(t, first.Dir, same)
	l.WaitFor(t, "a WARC file is lost")
	if err := l.End(); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if err := os.Rename(filepath.Join(away, filepath.Base(file)), file); err != nil {
			t.Fatal(err)
		}
	}
	l = restarted(t, first.Dir, same)
	l.WaitFor(t, "lost WARC files are back")
}

// An operator declares a file lost: to a running daemon, and to the store of a stopped one.
func TestAnOperatorDeclaresAFileLost(t *testing.T) {
	t.Parallel()
	first := daemontest.Start(t)
	first.Visited(t)
	if err := first.End(); err != nil {
		t.Fatal(err)
	}
	file := archived(t, first.Dir)[0]
	l := restarted(t, first.Dir, seeds(first))
	l.WaitFor(t, "STATUS=crawling")
	lost := api.LostFiles{Files: []string{file}, Are: "lost"}
	done, err := bulk.Lose(t.Context(), l.Path, lost, time.Now)
	if err != nil || !done.Running || done.Changed != 1 || len(done.Losses) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	l.WaitFor(t, "are due again")
	select {
	case r := <-l.Visits:
		if r.Kept != aspects.KeptResponse {
			t.Errorf("the visit of %s left %s, want the whole response", r.URI, r.Kept)
		}
	case <-time.After(daemontest.Patience):
		t.Fatalf("the page was not visited again:\n%s", l.Text())
	}
	if err := l.End(); err != nil {
		t.Fatal(err)
	}
	lost.Files = archived(t, first.Dir)[1:]
	done, err = bulk.Lose(t.Context(), l.Path, lost, time.Now)
	if err != nil || done.Running || done.Changed != 1 || done.Due != 1 || len(done.Losses) != 2 ||
		done.Losses[1].Pending {
		t.Errorf("the store of a stopped daemon: %+v, %v", done, err)
	}
}
