package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/warcout"
)

// newTestSealed returns the notifier of an archive, its manifest, and the log.
func newTestSealed(
	t *testing.T, lib *archivetest.Archive, state, url, command string,
) (*sealed, *fixity.Manifest, *bytes.Buffer) {
	t.Helper()
	c, log := &config.Config{}, &bytes.Buffer{}
	c.Storage.WARC, c.Storage.State, c.WARC.Prefix = lib.Dir, state, "test"
	c.Sealed.URL, c.Sealed.Command = url, command
	unknown := func(string) (warcout.Summary, bool) { return warcout.Summary{}, false }
	s := newSealed(c, "test", unknown, nil, time.Now, zerolog.New(log))
	m, err := fixity.Open(lib.Dir, time.Time{})
	archivetest.Must(t, err)
	t.Cleanup(func() { _ = m.Close() })
	return s, m, log
}

// TestEveryFinishedFileIsSentUntilItIsTaken lets the server refuse, restarts in between, and moves a taken file away.
func TestEveryFinishedFileIsSentUntilItIsTaken(t *testing.T) {
	t.Parallel()
	lib := archivetest.New(t)
	page := func(name string) {
		lib.Page("http://a.example/"+name, archivetest.HTMLHead, "<p>"+name+"</p>")
		lib.Seal()
	}
	refuse := true
	var got []sealedNotice
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n sealedNotice
		text, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(text, &n); err != nil || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("received %q: %v", text, err)
		}
		if refuse && len(got) == 1 {
			http.Error(w, "the disk is full", http.StatusInsufficientStorage)
			return
		}
		got = append(got, n)
	}))
	defer server.Close()
	state := t.TempDir()

	page("one")
	page("two")
	s, m, _ := newTestSealed(t, lib, state, server.URL, "")
	for range 3 {
		if err := s.step(t.Context(), m); err == nil || !strings.Contains(err.Error(), "the disk is full") {
			t.Fatalf("a refused file: %v", err)
		}
	}
	if len(got) != 1 {
		t.Fatalf("%d files were taken, want 1", len(got))
	}
	if n := s.waiting(m); n != 1 {
		t.Errorf("%d files wait, want 1", n)
	}
	if err := os.Remove(got[0].Path); err != nil { // taken files may be moved away
		t.Fatal(err)
	}
	page("three") // while the daemon is stopped
	refuse = false
	s, m, _ = newTestSealed(t, lib, state, server.URL, "")
	for range 2 {
		archivetest.Must(t, s.step(t.Context(), m))
	}
	if len(got) != 3 {
		t.Fatalf("%d files were taken, want 3: %+v", len(got), got)
	}
	for i, n := range got {
		e, err := fixity.Measure(t.Context(), n.Path, nil)
		if i == 0 && errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil || e.SHA256 != n.SHA256 || e.Size != n.Size || e.Records != n.Records ||
			!e.First.Equal(n.First) || !e.Last.Equal(n.Last) {
			t.Errorf("%+v was sent, the file is %+v, %v", n, e, err)
		}
	}
}

// TestACommandTakesFinishedFiles calls a program that fails at first.
func TestACommandTakesFinishedFiles(t *testing.T) {
	t.Parallel()
	lib := archivetest.New(t)
	lib.Page("http://a.example/", archivetest.HTMLHead, "<p>one</p>")
	lib.Seal()
	dir := t.TempDir()
	program := filepath.Join(dir, "take")
	script := "#!/bin/sh\n[ -e " + dir + "/ready ] || { echo not ready; exit 1; }\ncat > " + dir + "/json && cp \"$1\" " + dir + "/copy\necho scanned 1 file; echo; echo 'no \xffvirus'\n"
	archivetest.Must(t, os.WriteFile(program, []byte(script), 0o700))
	s, m, log := newTestSealed(t, lib, dir, "", program)
	for range 2 {
		err := s.step(t.Context(), m)
		for err != nil && strings.Contains(err.Error(), "text file busy") { // another test starts a process just now
			err = s.step(t.Context(), m)
		}
		if err == nil || !strings.Contains(err.Error(), "not ready") {
			t.Fatalf("a program that fails: %v", err)
		}
		s.failure(err)
	}
	if n := strings.Count(log.String(), "was not taken"); n != 1 {
		t.Errorf("the log has %d lines, want 1:\n%s", n, log)
	}
	archivetest.Must(t, os.WriteFile(filepath.Join(dir, "ready"), nil, 0o600))
	archivetest.Must(t, s.step(t.Context(), m))
	file := lib.Files()[0]
	if archivetest.Read(t, filepath.Join(dir, "copy")) != archivetest.Read(t, file) {
		t.Error("the program did not get the path of the file")
	}
	if text := archivetest.Read(t, filepath.Join(dir, "json")); !strings.Contains(text, `"path":"`+file+`"`) || !strings.Contains(text, `"sha256":"`) {
		t.Errorf("the program received %s", text)
	}
	archivetest.Must(t, s.step(t.Context(), m)) // the verdict is no file that somebody takes
	read, err := fixity.Read(lib.Dir)
	archivetest.Must(t, err)
	if len(read.Faults) > 0 || len(read.Entries) != 1 || len(read.Verdicts) != 1 {
		t.Fatalf("the manifest has %+v, %+v, faults %q", read.Entries, read.Verdicts, read.Faults)
	}
	if v := read.Verdicts[0]; v.Verdict != "no \uFFFDvirus" || v.Agent != program || v.SHA256 != read.Entries[0].SHA256 {
		t.Errorf("the verdict is %+v", v)
	}
}

// The first failure of several in a row stays known until a file is taken.
func TestHandoverSaysSinceWhenFilesAreNotTaken(t *testing.T) {
	t.Parallel()
	var s sealed
	now := time.Date(2026, 11, 22, 7, 0, 0, 0, time.UTC)
	s.note(2, errors.New("no answer"), now)
	s.note(3, errors.New("full"), now.Add(time.Hour))
	if h := s.handover(); h.Waiting != 3 || h.Error != "full" || h.Since == nil || !h.Since.Equal(now) {
		t.Errorf("after two failures: %+v", h)
	}
	s.note(0, nil, now.Add(2*time.Hour))
	if h := s.handover(); h != (api.Handover{}) {
		t.Errorf("after a success: %+v", h)
	}
}

// TestFinishedFilesAreInTheDependencyIndex also loses the index between two runs.
func TestFinishedFilesAreInTheDependencyIndex(t *testing.T) {
	t.Parallel()
	lib := archivetest.New(t)
	origin := lib.Page("http://a.example/", archivetest.HTMLHead, "<p>one</p>")
	lib.Seal()
	lib.Revisit("http://a.example/", archivetest.HTMLHead, origin)
	lib.Seal()
	s, m, log := newTestSealed(t, lib, t.TempDir(), "", "")
	s.growing = depend.NewGrowing(t.TempDir())
	archivetest.Must(t, s.step(t.Context(), m))
	lost := filepath.Base(lib.Files()[0])
	for _, step := range []string{"after sealing", "after the index was lost"} {
		x, err := depend.Open(t.Context(), lib.Dir, depend.Options{Covered: true}, func(warc.Finding) error { return nil })
		archivetest.Must(t, err)
		losses, err := x.Impact([]string{lost}, "2006", func(depend.Lost) error { return nil })
		if err != nil || len(losses) != 1 || losses[0].Captures != 2 || losses[0].Revisits != 1 {
			t.Errorf("%s: %+v, %v\n%s", step, losses, err, log)
		}
		archivetest.Must(t, errors.Join(x.Close(), os.RemoveAll(filepath.Join(lib.Dir, depend.Folder))))
		s.catchUp(t.Context(), m)
	}
}

// TestAFileOfThisRunIsNotReadAgain destroys a file between two looks, but not its size: only its digest is made. A file
// whose last capture has not come yet waits for the next look.
func TestAFileOfThisRunIsNotReadAgain(t *testing.T) {
	t.Parallel()
	lib := archivetest.New(t)
	record := lib.Page("http://a.example/", archivetest.HTMLHead, "<p>one</p>")
	lib.Seal()
	path := lib.Files()[0]
	read, err := fixity.Measure(t.Context(), path, nil)
	archivetest.Must(t, err)
	archivetest.Must(t, os.WriteFile(path, make([]byte, read.Size), 0o600))
	s, m, _ := newTestSealed(t, lib, t.TempDir(), "", "")
	s.growing = depend.NewGrowing(t.TempDir())
	s.written = func(name string) (warcout.Summary, bool) {
		return warcout.Summary{
			Name: name, Size: read.Size, Records: int64(read.Records), Captures: 1, First: read.First, Last: read.Last,
		}, name == record.File
	}
	if err := s.step(t.Context(), m); err != nil || len(m.Entries) != 0 {
		t.Fatalf("a file with a capture that is not known yet: %+v, %v", m.Entries, err)
	}
	s.growing.Add(record, digest.Origin{})
	if err := s.step(t.Context(), m); err != nil || len(m.Entries) != 1 {
		t.Fatalf("the manifest lists %+v, %v; want one file", m.Entries, err)
	}
	e := m.Entries[0]
	if e.Records != read.Records || !e.First.Equal(read.First) || !e.Last.Equal(read.Last) || e.SHA256 == read.SHA256 {
		t.Errorf("the manifest lists %+v, want the counts of %+v and another digest", e, read)
	}
	covered, err := depend.Uncovered(lib.Dir, []string{e.File})
	if err != nil || len(covered) > 0 {
		t.Errorf("the dependency index does not cover %v, %v", covered, err)
	}

	lib.Page("http://a.example/2", archivetest.HTMLHead, "<p>two</p>") // its capture never comes
	lib.Seal()
	second := filepath.Base(lib.Files()[1])
	s.written = func(name string) (warcout.Summary, bool) { return warcout.Summary{Name: name, Captures: 1}, true }
	for range 2 {
		archivetest.Must(t, s.step(t.Context(), m))
	}
	if len(m.Entries) != 2 || m.Entries[1].File != second || m.Entries[1].Records != read.Records {
		t.Errorf("the manifest lists %+v, want also %s, which was read", m.Entries, second)
	}
}
