package keep_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/keep"
	"github.com/arcrawl/arcrawl/archive/verify"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/internal/daemontest"
)

// crawl starts a daemon that has the wing.
func crawl(t *testing.T, changes ...func(dir, main string) string) *daemontest.Life {
	t.Helper()
	return daemontest.StartIn(t, t.TempDir(), wings(), changes...)
}

func wings() []func() daemon.Wing { return []func() daemon.Wing{keep.Wing} }

// What the writer knew of a file, and the manifest lists, is what a reader finds, also in the file that was sealed at
// the stop.
func TestTheManifestListsEachFileAsItIs(t *testing.T) {
	t.Parallel()
	l := crawl(t)
	l.Visited(t)
	if err := l.End(); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(l.Dir, "warc")
	none := func(f warc.Finding) error { t.Error(f); return nil }
	if _, err := verify.Files(t.Context(), []string{folder}, verify.Options{}, none); err != nil {
		t.Fatal(err)
	}
	manifest, err := fixity.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range manifest.Entries {
		read, err := fixity.Measure(t.Context(), filepath.Join(folder, e.File), nil)
		read.File, read.Listed, read.Previous = e.File, e.Listed, e.Previous
		if err != nil || read != e {
			t.Errorf("the manifest has %+v, the file is %+v, %v", e, read, err)
		}
	}
	if n, err := fixity.Check(t.Context(), folder, fixity.CheckOptions{}, none); err != nil || n != len(l.Files(t)) {
		t.Errorf("%d files are compared with the manifest, %v", n, err)
	}
}

// Before, the only WARC file of a crawl was deleted, and all visits after the restart were revisits of nothing.
func TestPayloadsOfALostFileAreArchivedAgain(t *testing.T) {
	t.Parallel()
	first := crawl(t)
	first.Visited(t)
	if err := first.End(); err != nil {
		t.Fatal(err)
	}
	for _, file := range first.Files(t) {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	l := first.Again(t, wings())
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
	again := first.Again(t, wings())
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
	first := crawl(t)
	first.Visited(t)
	if err := first.End(); err != nil {
		t.Fatal(err)
	}
	away := t.TempDir()
	files := first.Files(t)
	for _, file := range files {
		if err := os.Rename(file, filepath.Join(away, filepath.Base(file))); err != nil {
			t.Fatal(err)
		}
	}
	setting := "elsewhere = [\"" + away + "\"]\n"
	elsewhere := func(_, main string) string { return strings.Replace(main, "[storage]\n", "[storage]\n"+setting, 1) }
	without := func(_, main string) string { return strings.Replace(main, setting, "", 1) }
	l := first.Again(t, wings(), elsewhere)
	l.WaitFor(t, "not in their folder, as before", "STATUS=crawling")
	if strings.Contains(l.Text(), "a WARC file is lost") {
		t.Errorf("a moved file is taken for lost:\n%s", l.Text())
	}
	if err := l.End(); err != nil {
		t.Fatal(err)
	}
	// Without the setting it is lost, and when it is back, it counts again.
	l = first.Again(t, wings(), without)
	l.WaitFor(t, "a WARC file is lost")
	if err := l.End(); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if err := os.Rename(filepath.Join(away, filepath.Base(file)), file); err != nil {
			t.Fatal(err)
		}
	}
	l = first.Again(t, wings())
	l.WaitFor(t, "lost WARC files are back")
}

// An operator declares a file lost: to a running daemon, and to the store of a stopped one.
func TestAnOperatorDeclaresAFileLost(t *testing.T) {
	t.Parallel()
	first := crawl(t)
	first.Visited(t)
	if err := first.End(); err != nil {
		t.Fatal(err)
	}
	file := first.Files(t)[0]
	l := first.Again(t, wings())
	l.WaitFor(t, "STATUS=crawling")
	lost := api.LostFiles{Files: []string{file}, Are: "lost"}
	done, err := keep.Lose(t.Context(), l.Path, lost, time.Now)
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
	lost.Files = first.Files(t)[1:]
	done, err = keep.Lose(t.Context(), l.Path, lost, time.Now)
	if err != nil || done.Running || done.Changed != 1 || done.Due != 1 || len(done.Losses) != 2 ||
		done.Losses[1].Pending {
		t.Errorf("the store of a stopped daemon: %+v, %v", done, err)
	}
}
