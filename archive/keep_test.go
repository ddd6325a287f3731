package archive

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/daemontest"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// crawl starts a daemon that has the wing.
func crawl(t *testing.T, changes ...func(dir, main string) string) *daemontest.Life {
	t.Helper()
	return daemontest.StartIn(t, t.TempDir(), wings(), changes...)
}

func wings() []func() daemon.Wing { return []func() daemon.Wing{Wing} }

// crawled returns a daemon that has visited its page and was stopped.
func crawled(t *testing.T, changes ...func(dir, main string) string) *daemontest.Life {
	t.Helper()
	l := crawl(t, changes...)
	l.Visited(t)
	archivetest.Must(t, l.End())
	return l
}

// visitedWhole waits for a visit that archives the whole response.
func visitedWhole(t *testing.T, l *daemontest.Life) {
	t.Helper()
	select {
	case r := <-l.Visits:
		if r.Kept != aspects.KeptResponse {
			t.Errorf("the visit of %s left %s, want the whole response", r.URI, r.Kept)
		}
	case <-time.After(daemontest.Patience):
		t.Fatalf("the page was not visited again:\n%s", l.Text())
	}
}

// isSound verifies an archive that has responses.
func isSound(t *testing.T, dir string) {
	t.Helper()
	none := func(f warc.Finding) error { t.Error(f.Error()); return nil }
	sum, err := Verify(t.Context(), []string{dir}, VerifyOptions{}, none)
	if err != nil || sum.Errors > 0 || sum.Records["response"] == 0 {
		t.Errorf("%s: %+v, %v", dir, sum, err)
	}
}

// statusOf returns the status of a daemon.
func statusOf(t *testing.T, l *daemontest.Life) api.Status {
	t.Helper()
	status, err := api.NewClient(filepath.Join(l.Dir, "state", "admin.sock")).Status(t.Context())
	archivetest.Must(t, err)
	return status
}

// nothingIsLost checks that a daemon takes no moved file for lost or changed.
func nothingIsLost(t *testing.T, l *daemontest.Life) {
	t.Helper()
	for _, wrong := range []string{"is lost", "lost WARC", "changed since", "not in their folder"} {
		if strings.Contains(l.Text(), wrong) {
			t.Errorf("a moved file is taken for lost or changed:\n%s", l.Text())
		}
	}
}

// What the writer knew of a file, and the manifest lists, is what a reader finds, also in the file that was sealed at
// the stop.
func TestTheManifestListsEachFileAsItIs(t *testing.T) {
	t.Parallel()
	l := crawled(t)
	folder := filepath.Join(l.Dir, "warc")
	isSound(t, folder)
	none := func(f warc.Finding) error { t.Error(f); return nil }
	manifest, err := fixity.Read(folder)
	archivetest.Must(t, err)
	for _, e := range manifest.Entries {
		read, err := fixity.Measure(t.Context(), filepath.Join(folder, e.File), nil)
		read.File, read.Listed, read.Previous = e.File, e.Listed, e.Previous
		if err != nil || read != e {
			t.Errorf("the manifest has %+v, the file is %+v, %v", e, read, err)
		}
	}
	if c, err := fixity.Check(t.Context(), folder, fixity.CheckOptions{}, none); err != nil || c.Files != len(l.Files(t)) {
		t.Errorf("%d files are compared with the manifest, %v", c.Files, err)
	}
	first, err := warc.OpenFile(l.Files(t)[0])
	archivetest.Must(t, err)
	defer first.Close() //nolint:errcheck // nothing was written
	info, err := first.Next()
	archivetest.Must(t, err)
	if text, err := io.ReadAll(info); err != nil || !strings.Contains(string(text), "manifestHead: sha256:"+manifest.Entries[0].Previous+"\r\n") {
		t.Errorf("the warcinfo record does not name the head of the manifest: %s, %v", text, err)
	}
	archivetest.Must(t, os.Remove(filepath.Join(folder, fixity.FileName)))
	line{[]string{"verify", folder}, cli.ExitOK, []string{"0 errors, 1 warning", "arcrawl wrote WARC files here, such as "}}.run(t)
}

// Before, the only WARC file of a crawl was deleted, and all visits after the restart were revisits of nothing.
func TestPayloadsOfALostFileAreArchivedAgain(t *testing.T) {
	t.Parallel()
	first := crawled(t)
	for _, file := range first.Files(t) {
		archivetest.Must(t, os.Remove(file))
	}
	l := first.Again(t, wings())
	l.WaitFor(t, "a WARC file is lost", "are due again")
	visitedWhole(t, l)
	archivetest.Must(t, l.End())
	isSound(t, filepath.Join(l.Dir, "warc"))
	again := first.Again(t, wings())
	again.WaitFor(t, "not in their folder, as before", "STATUS=crawling")
	var listed []string
	archivetest.Must(t, eachLine(filepath.Join(l.Dir, "warc", lossesName), func(line lossLine) {
		listed = append(listed, line.Event+" "+line.Cause)
	}))
	if want := []string{"loss absent", "recovery absent"}; !slices.Equal(listed, want) {
		t.Errorf("the list of losses has %q, want %q", listed, want)
	}
	if strings.Contains(again.Text(), "a WARC file is lost") {
		t.Errorf("the second start after the loss reports it again:\n%s", again.Text())
	}
	again.WaitFor(t, "serving the admin API")
	if lost := statusOf(t, again).Archive.Lost; lost.Absent != 1 || lost.Example == "" {
		t.Errorf("the status has the losses %+v", lost)
	}
}

func TestFilesThatWereMovedOnPurposeAreNotLost(t *testing.T) {
	t.Parallel()
	first := crawled(t)
	away := t.TempDir()
	files := first.Files(t)
	for _, file := range files {
		archivetest.Must(t, os.Rename(file, filepath.Join(away, filepath.Base(file))))
	}
	setting := "elsewhere = [\"" + away + "\"]\n"
	elsewhere := func(_, main string) string { return strings.Replace(main, "[storage]\n", "[storage]\n"+setting, 1) }
	without := func(_, main string) string { return strings.Replace(main, setting, "", 1) }
	l := first.Again(t, wings(), elsewhere)
	l.WaitFor(t, "not in their folder, as before", "STATUS=crawling")
	if strings.Contains(l.Text(), "a WARC file is lost") {
		t.Errorf("a moved file is taken for lost:\n%s", l.Text())
	}
	archivetest.Must(t, l.End())
	// Without the setting it is lost, and when it is back, it counts again.
	l = first.Again(t, wings(), without)
	l.WaitFor(t, "a WARC file is lost")
	archivetest.Must(t, l.End())
	for _, file := range files {
		archivetest.Must(t, os.Rename(filepath.Join(away, filepath.Base(file)), file))
	}
	l = first.Again(t, wings())
	l.WaitFor(t, "lost WARC files are back")
}

// An operator declares a file lost: to a running daemon, and to the store of a stopped one.
func TestAnOperatorDeclaresAFileLost(t *testing.T) {
	t.Parallel()
	first := crawled(t)
	file := first.Files(t)[0]
	l := first.Again(t, wings())
	l.WaitFor(t, "STATUS=crawling")
	lost := api.LostFiles{Files: []string{file}, Are: "lost"}
	done, err := lose(t.Context(), l.Path, lost, time.Now)
	if err != nil || !done.Running || done.Changed != 1 || len(done.Losses) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	l.WaitFor(t, "are due again")
	visitedWhole(t, l)
	archivetest.Must(t, l.End())
	lost.Files = first.Files(t)[1:]
	done, err = lose(t.Context(), l.Path, lost, time.Now)
	if err != nil || done.Running || done.Changed != 1 || done.Due != 1 || len(done.Losses) != 2 ||
		done.Losses[1].Pending {
		t.Errorf("the store of a stopped daemon: %+v, %v", done, err)
	}
}

// The WARC files of a crawl are moved to another folder. The next start takes none for lost or changed, shows the
// folder, and verify reads the files there.
func TestARestartFindsFilesInFurtherFolders(t *testing.T) {
	t.Parallel()
	first := crawled(t)
	further := t.TempDir()
	files := first.Files(t)
	m := mover{
		Dir: filepath.Join(first.Dir, "warc"), Folders: []string{further}, Keep: 10, StateDir: t.TempDir(),
		Free: func(folder string) (int64, error) {
			if folder == further {
				return 1 << 40, nil
			}
			return 0, nil
		},
		Now: time.Now, Log: zerolog.Nop(),
	}
	m.Step(t.Context())
	for _, file := range files {
		if info, err := os.Lstat(file); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Fatalf("%s was not moved: %v, %+v", file, err, m.State())
		}
	}
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer busy.Close()
	archivetest.Must(t, os.Mkdir(filepath.Join(first.Dir, "secrets"), 0o700))
	archivetest.Must(t, os.WriteFile(filepath.Join(first.Dir, "secrets", "s3"), []byte("reader:swordfish"), 0o600))
	l := first.Again(t, wings(), func(_, main string) string {
		upload := "[upload]\nendpoint = \"" + busy.URL + "\"\nbucket = \"web-archive\"\nsecret = \"file:s3\"\n"
		storage := "[storage]\nfolders = [\"" + further + "\"]\nfolders_free = \"900TB\"\n"
		return upload + strings.Replace(main, "[storage]\n", storage, 1)
	})
	l.WaitFor(t, "serving the admin API")
	var o api.Offload
	begin := time.Now()
	for (len(o.Folders) == 0 || o.Upload.Since == nil) && time.Since(begin) < daemontest.Patience {
		time.Sleep(10 * time.Millisecond)
		o = statusOf(t, l).Archive.Offload
	}
	if len(o.Folders) != 1 || o.Folders[0].Files != len(files) || o.Since != nil {
		t.Errorf("the status has %+v", o)
	}
	if u := o.Upload; u == nil || u.Waiting != len(files) || u.Bucket != busy.URL+"/web-archive" || u.Error == "" {
		t.Errorf("the status has the upload %+v", u)
	}
	nothingIsLost(t, l)
	archivetest.Must(t, l.End())
	isSound(t, filepath.Join(l.Dir, "warc"))
}

// The host of a crawl is in a series with a folder of its own. Its files go there as soon as they are finished,
// although there is space enough; the other files stay. The server of warc.sealed_url gets the name of the series.
func TestASeriesHasAFolderOfItsOwn(t *testing.T) {
	t.Parallel()
	vault := t.TempDir()
	got := make(chan struct{ File, Path, Series string }, 10)
	library := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var n struct{ File, Path, Series string }
		if err := json.NewDecoder(r.Body).Decode(&n); err != nil {
			t.Error(err)
		}
		got <- n
	}))
	defer library.Close()
	settings := func(dir, main string) string {
		host := regexp.MustCompile(`127\.0\.0\.1:[1-9]\d+`).FindString(main)
		daemontest.Write(t, filepath.Join(dir, "hosts.d", "site.toml"), "host = \""+host+"\"\n[warc]\nseries = \"embargo\"\n")
		storage := "[storage]\nfolders = [\"embargo=" + vault + "\"]\nfolders_free = \"2MB\"\n"
		return "[warc]\nseries_names = [\"embargo\"]\nsealed_url = \"" + library.URL + "\"\n" +
			strings.Replace(main, "[storage]\n", storage, 1)
	}
	first := crawled(t, settings)
	series, other := "", 0
	for _, file := range first.Files(t) {
		records, err := archivetest.CheckFile(file)
		archivetest.Must(t, err)
		apart := strings.HasPrefix(filepath.Base(file), "arcrawl-embargo-")
		if apart {
			series = file
		} else {
			other++
		}
		for _, r := range records[1:] {
			name, isConfiguration := strings.CutPrefix(r.Target(), "urn:arcrawl:configuration")
			if ofHost := name == ":hosts:site.toml" || name == ":series:embargo"; apart != (!isConfiguration || ofHost) {
				t.Errorf("%s is in %s", r.Target(), file)
			}
		}
	}
	if series == "" || other != 1 {
		t.Fatalf("the files are %q", first.Files(t))
	}

	second := first.Again(t, wings(), func(dir, main string) string {
		settings(dir, main[strings.Index(main, "[seeds]"):]) // the host file again
		return main
	})
	begin, moved := time.Now(), false
	for !moved && time.Since(begin) < daemontest.Patience {
		time.Sleep(10 * time.Millisecond)
		info, err := os.Lstat(series)
		moved = err == nil && info.Mode()&os.ModeSymlink != 0
	}
	if to, err := os.Readlink(series); err != nil || filepath.Dir(to) != vault {
		t.Errorf("the file of the series is at %q, %v", to, err)
	}
	for range first.Files(t) {
		select {
		case n := <-got:
			if want := strings.HasPrefix(n.File, "arcrawl-embargo-"); (n.Series == "embargo") != want {
				t.Errorf("the library received %+v", n)
			}
		case <-time.After(daemontest.Patience):
			t.Fatal("the library did not receive all files")
		}
	}
	var o api.Offload
	for len(o.Folders) == 0 && time.Since(begin) < daemontest.Patience { // the status follows the move
		o = statusOf(t, second).Archive.Offload
	}
	if len(o.Folders) != 1 || o.Since != nil {
		t.Errorf("the status has %+v", o)
	}
	archivetest.Must(t, second.End())
	nothingIsLost(t, second)
	isSound(t, filepath.Join(second.Dir, "warc"))
	isSound(t, vault)
}

// A finished file vanishes while the daemon runs. At the second look, within a minute, the daemon knows, and archives
// its payloads again.
func TestAFileThatVanishesIsNoticedWhileTheDaemonRuns(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	if 2*watchEvery > time.Minute {
		t.Errorf("two looks take %s", 2*watchEvery)
	}
	first := crawled(t)
	often := []func() daemon.Wing{func() daemon.Wing { return wingThatLooks(100 * time.Millisecond) }}
	second := first.Again(t, often)
	await := func(text string) {
		t.Helper()
		for begin := time.Now(); !strings.Contains(second.Text(), text); {
			if time.Sleep(10 * time.Millisecond); time.Since(begin) > daemontest.Patience {
				t.Fatalf("the daemon does not say %q:\n%s", text, second.Text())
			}
		}
	}
	await(`"message":"started"`)
	file := first.Files(t)[0]
	manifest := archivetest.Read(t, filepath.Join(filepath.Dir(file), fixity.FileName))
	if !strings.Contains(manifest, filepath.Base(file)) {
		t.Fatalf("%s is not in the manifest:\n%s", file, manifest)
	}
	if text := second.Text(); strings.Contains(text, "is lost") {
		t.Fatalf("a file is lost already:\n%s", text)
	}
	archivetest.Must(t, os.Remove(file))
	await("a WARC file is lost")
	await("are due again, at the pace of their hosts")
	archivetest.Must(t, second.End())
}

// A folder of the archive is not listed at each look: only if its time has changed, and each five minutes. A change
// within the time steps of a file system is seen nevertheless.
func TestAFolderIsListedOnlyAfterItChanged(t *testing.T) {
	t.Parallel()
	lib := &archivetest.Archive{T: t, Dir: t.TempDir()}
	m, err := fixity.Open(lib.Dir, archivetest.Start)
	archivetest.Must(t, err)
	names := []string{"a.warc.gz", "b.warc.gz", "c.warc.gz", "d.warc.gz"}
	for _, name := range names {
		archivetest.Must(t, os.WriteFile(filepath.Join(lib.Dir, name), []byte(name), 0o600))
		archivetest.Must(t, m.Add(name, fixity.Entry{Size: int64(len(name))}, archivetest.Start))
	}
	same := archivetest.Start
	remove := func(name string, at time.Time) {
		archivetest.Must(t, os.Remove(filepath.Join(lib.Dir, name)))
		archivetest.Must(t, os.Chtimes(lib.Dir, at, at))
	}
	list := listed{dir: lib.Dir}
	looks := func(n int, want ...string) {
		t.Helper()
		for i := range n {
			if got, err := list.absent(); err != nil || !slices.Equal(got, want) {
				t.Fatalf("look %d finds that %q are gone, %v; want %q", i+1, got, err, want)
			}
		}
	}
	archivetest.Must(t, os.Chtimes(lib.Dir, same, same))
	looks(1)
	remove("a.warc.gz", same) // in the same step of the file system's time
	looks(3, "a.warc.gz")
	remove("b.warc.gz", same.Add(time.Second))
	looks(2, "a.warc.gz", "b.warc.gz")
	remove("c.warc.gz", same.Add(time.Second)) // the file system never says so
	looks(listAgain-2, "a.warc.gz", "b.warc.gz")
	looks(1, "a.warc.gz", "b.warc.gz", "c.warc.gz")
}

// lostPages is a store with thirty lost pages of each of some hosts, one host in each step.
type lostPages struct {
	hosts     []uri.Host
	due       map[uri.Host][]time.Time
	beingRead int // how often a page is being visited when the store is gone through
	steps     int
}

// Recapture makes the pages of one host due.
func (s *lostPages) Recapture(
	_ time.Time, from frontier.Cursor, _ func(digest.Origin) bool, due func(uri.Host) time.Time,
) (done frontier.Steered, next frontier.Cursor, err error) {
	s.steps++
	at := len(from)
	host := s.hosts[at]
	if at++; at < len(s.hosts) {
		next = from + "x"
	} else if s.beingRead > 0 {
		s.beingRead--
		done.Matched, done.InProgress = 1, 1
	}
	for range 30 - len(s.due[host]) {
		done.Matched++
		if at := due(host); !at.IsZero() {
			s.due[host] = append(s.due[host], at)
			done.Changed++
		}
	}
	return done, next, nil
}

// healed is a healing of the pages of some hosts, in a store with one loss.
func healed(
	t *testing.T, now *time.Time, cycle func(uri.Host, config.Politeness) time.Duration, hosts ...uri.Host,
) (*healing, *lostPages) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "arcrawl.toml")
	text := "[operator]\nname = \"Test Library\"\ncontact = \"https://library.example/crawler\"\n"
	archivetest.Must(t, os.WriteFile(path, []byte(text), 0o600))
	grouped := "[politeness]\ngroup = \"one.machine\"\n"
	archivetest.Must(t, os.Mkdir(filepath.Join(filepath.Dir(path), "hosts.d"), 0o700))
	for _, host := range []string{"c.example", "d.example"} {
		file := filepath.Join(filepath.Dir(path), "hosts.d", host+".toml")
		archivetest.Must(t, os.WriteFile(file, []byte(grouped), 0o600))
	}
	c, err := config.Load(path)
	archivetest.Must(t, err)
	f, err := frontier.Open(frontier.Options{Dir: t.TempDir(), Now: *now, Compactors: -1})
	archivetest.Must(t, err)
	t.Cleanup(func() { f.Close() }) //nolint:errcheck // the test is done
	index, err := dedup.Open(f.DB(), dedup.Options{})
	if err == nil {
		_, err = index.Lose(dedup.Loss{File: "gone.warc.gz", Cause: dedup.Absent, Pending: true})
	}
	archivetest.Must(t, err)
	s := &lostPages{hosts: hosts, due: map[uri.Host][]time.Time{}}
	return newHealing(s, index, func() *config.Config { return c }, cycle, func() time.Time { return *now }), s
}

func isPending(h *healing) bool { l := h.index.Losses(); return len(l) == 1 && l[0].Pending }

// Pages of several hosts lose their payloads at once. Each host gets every second request for them, at the pace that it
// has at present, and no host waits for another, unless they share their politeness.
func TestLostPayloadsAreFetchedAgainAtThePaceOfTheirHost(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	start := now
	cycles := map[uri.Host]time.Duration{
		"a.example": 2 * time.Second, "b.example": 30 * time.Second, "c.example": time.Second, "d.example": time.Second,
		"slow.example": 5 * time.Minute,
	}
	h, s := healed(t, &now, func(host uri.Host, _ config.Politeness) time.Duration { return cycles[host] },
		"a.example", "b.example", "c.example", "d.example", "slow.example")
	pause := func() error { return nil }
	due, later, err := h.makeDue(t.Context(), time.Hour, pause)
	if err != nil || due != 4*30+6 || later != 24 || !isPending(h) {
		t.Fatalf("in the first hour %d are due and %d later, %v", due, later, err)
	}
	now = now.Add(time.Hour)
	cycles["slow.example"] = time.Minute // the server answers faster now
	due, later, err = h.makeDue(t.Context(), 2*time.Hour, pause)
	if err != nil || due != 24 || later != 0 || isPending(h) {
		t.Fatalf("then %d are due and %d later, %v", due, later, err)
	}
	for host, want := range map[uri.Host]func(n int) time.Duration{
		"a.example": func(n int) time.Duration { return time.Duration(n) * 4 * time.Second },
		"b.example": func(n int) time.Duration { return time.Duration(n) * time.Minute },
		"c.example": func(n int) time.Duration { return time.Duration(n) * 2 * time.Second },
		"d.example": func(n int) time.Duration { return time.Duration(30+n) * 2 * time.Second }, // c.example goes first
		"slow.example": func(n int) time.Duration {
			return time.Duration(min(n, 6))*10*time.Minute + time.Duration(max(n-6, 0))*2*time.Minute
		},
	} {
		for i, at := range s.due[host] {
			if !at.Equal(start.Add(want(i + 1))) {
				t.Errorf("page %d of %s is due after %s, want %s", i+1, host, at.Sub(start), want(i+1))
			}
		}
	}
}

// A loss is pending until the store was gone through and no page was being visited.
func TestALossIsPendingUntilItsPagesAreDue(t *testing.T) {
	t.Parallel()
	ended := errors.New("the daemon stops")
	for _, test := range []struct {
		name       string
		beingRead  int
		pause      error
		wantRounds int
		pending    bool
	}{
		{"once", 0, nil, 1, false},
		{"a page is being visited", 1, nil, 2, false},
		{"a page is always being visited", 9, nil, 3, false},
		{"the daemon stops", 0, ended, 0, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
			second := func(uri.Host, config.Politeness) time.Duration { return time.Second }
			h, s := healed(t, &now, second, "a.example", "b.example")
			s.beingRead = test.beingRead
			due, _, err := h.makeDue(t.Context(), time.Hour, func() error { return test.pause })
			if !errors.Is(err, test.pause) || s.steps/2 != test.wantRounds || test.pause == nil && due != 60 {
				t.Errorf("%d due after %d steps, %v; want %d times two steps", due, s.steps, err, test.wantRounds)
			}
			if isPending(h) != test.pending {
				t.Errorf("the losses are %+v, want pending: %t", h.index.Losses(), test.pending)
			}
		})
	}
}
