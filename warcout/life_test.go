package warcout

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func mustWrite(t testing.TB, w *Writer, now time.Time, v Visit) Written {
	t.Helper()
	out, err := w.Write(now, v)
	must(t, err)
	return out
}

func put(t testing.TB, dir, name, content string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
}

func TestFilesAreOpenWhileTheyGrow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir, Prefix: "news", Host: "c1"})
	if names := namesIn(t, dir); len(names) != 0 {
		t.Errorf("before the first visit the folder has %q", names)
	}
	mustWrite(t, w, start, visit(address(1), page("x")))
	want := []string{"news-20261121090000123-00001-c1.warc.gz.open"}
	if diff := cmp.Diff(want, namesIn(t, dir)); diff != "" {
		t.Errorf("files while the first one grows (-want +got):\n%s", diff)
	}
	if g := w.Growing(); len(g) != 1 || g[0].Name+openSuffix != want[0] || g[0].Size < 500 || !g[0].Opened.Equal(start) {
		t.Errorf("the growing file is %+v", g)
	}
	must(t, w.Close(start))
	want[0] = strings.TrimSuffix(want[0], openSuffix)
	if diff := cmp.Diff(want, namesIn(t, dir)); diff != "" {
		t.Errorf("after Close (-want +got):\n%s", diff)
	}
	if _, err := w.Write(start, visit(address(2), page("x"))); !errors.Is(err, ErrClosed) {
		t.Errorf("Write after Close: %v", err)
	}
	if err := w.Close(start); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

func TestWriteBeginsANewFile(t *testing.T) {
	t.Parallel()
	later := func(d time.Duration) time.Time { return start.Add(d) }
	tests := []struct {
		name    string
		options Options
		between func(w *Writer) error
		second  time.Time
		files   int
	}{
		{"not when neither size nor age is reached", Options{MaxAge: time.Hour}, nil, later(time.Hour - 1), 1},
		{"when the size is reached", Options{MaxSize: 1000}, nil, start, 2},
		{"when the age is reached", Options{MaxAge: time.Hour}, nil, later(time.Hour), 2},
		{"not at Rotate before the age is reached", Options{MaxAge: time.Hour}, func(w *Writer) error { return w.Rotate(later(time.Minute)) }, later(time.Minute), 1},
		{"at Rotate when the age is reached", Options{MaxAge: time.Hour}, func(w *Writer) error { return w.Rotate(later(time.Hour)) }, start, 2},
		{"never by age when there is no limit", Options{}, func(w *Writer) error { return w.Rotate(later(1e6 * time.Hour)) }, later(1e6 * time.Hour), 1},
		{"at Seal", Options{}, func(w *Writer) error { return w.Seal(start) }, start, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			tt.options.Dir = dir
			w, _ := opened(t, tt.options)
			mustWrite(t, w, start, visit(address(1), noise(1, 2000)))
			if tt.between != nil {
				must(t, tt.between(w))
			}
			mustWrite(t, w, tt.second, visit(address(2), noise(2, 2000)))
			checkKept(t, w, dir, map[string]bool{address(1): true, address(2): true})
			if files := sealedFiles(t, dir); len(files) != tt.files {
				t.Errorf("files %q, want %d", files, tt.files)
			}
		})
	}
}

func TestFileWithoutVisitsIsRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	journal := filepath.Join(t.TempDir(), "warc.journal")
	w, _ := opened(t, Options{Dir: dir, Journal: journal})
	bad := visit(address(1), page("x"))
	bad.Response.BlockDigest[0]++
	if _, err := w.Write(start, bad); err == nil {
		t.Fatal("a wrong digest was accepted")
	}
	if names := namesIn(t, dir); len(names) != 1 {
		t.Fatalf("files %q, want one with only its warcinfo", names)
	}
	must(t, w.Close(start))
	if names := namesIn(t, dir); len(names) != 0 {
		t.Errorf("left behind: %q", names)
	}
	_, repairs := opened(t, Options{Dir: dir, Journal: journal})
	if len(repairs) != 0 {
		t.Errorf("the next start finds %v", repairs)
	}
}

func TestNoExistingFileIsOverwritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	taken := []string{
		"arcrawl-20261121090000123-00001-localhost.warc.gz",
		"arcrawl-20261121090000123-00003-localhost.warc.gz",
	}
	for _, name := range taken {
		put(t, dir, name, "mine")
	}
	one, _ := opened(t, Options{Dir: dir})
	two, _ := opened(t, Options{Dir: dir})
	first := mustWrite(t, one, start, visit(address(1), page("x")))
	second := mustWrite(t, two, start, visit(address(2), page("x")))
	must(t, errors.Join(one.Close(start), two.Close(start)))
	got := []string{first.Origin.File, second.Origin.File}
	want := []string{"arcrawl-20261121090000123-00002-localhost.warc.gz", "arcrawl-20261121090000123-00004-localhost.warc.gz"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for _, name := range taken {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != "mine" {
			t.Errorf("%s holds %q now, %v", name, b, err)
		}
	}
}

func TestFailedSealingIsRetried(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir, MaxAge: time.Hour})
	out := mustWrite(t, w, start, visit(address(1), page("x")))
	open := filepath.Join(dir, out.Origin.File+openSuffix)
	must(t, os.Rename(open, open+".hidden"))
	if err := w.Rotate(start.Add(time.Hour)); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("Rotate: %v, want why the file cannot be renamed", err)
	}
	must(t, os.Rename(open+".hidden", open))
	must(t, w.Rotate(start.Add(time.Hour)))
	if files := sealedFiles(t, dir); len(files) != 1 || filepath.Base(files[0]) != out.Origin.File {
		t.Errorf("sealed: %q", files)
	}
}

func TestOpenRefusesInvalidOptions(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	put(t, filepath.Dir(file), "file", "")
	tests := []struct {
		name    string
		options Options
		want    string
	}{
		{"no folder", Options{}, "no folder"},
		{"a file for a folder", Options{Dir: file}, "not a directory"},
		{"a prefix with a slash", Options{Dir: t.TempDir(), Prefix: "../x"}, `prefix "../x"`},
		{"a host with a blank", Options{Dir: t.TempDir(), Host: "a b"}, `host "a b"`},
		{"a negative size", Options{Dir: t.TempDir(), MaxSize: -1}, "maximum size"},
		{"a negative age", Options{Dir: t.TempDir(), MaxAge: -1}, "maximum age"},
		{"a level that gzip has not", Options{Dir: t.TempDir(), Level: 10}, "gzip level"},
		{"an info field without name", Options{Dir: t.TempDir(), Info: []Field{{"", "x"}}}, "not a token"},
		{"a journal in a missing folder", Options{Dir: t.TempDir(), Journal: file + "/j"}, "WARC journal"},
	}
	for _, tt := range tests {
		if w, _, err := Open(tt.options, start); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: Open() = %v, %v; want an error with %q", tt.name, w, err, tt.want)
		}
	}
}

// in returns a visit that is written to a series.
func in(series string, v Visit) Visit {
	v.Series = series
	return v
}

func TestEachSeriesHasFilesOfItsOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir, MaxSize: 20_000, MaxAge: time.Hour, Info: []Field{{"isPartOf", "News"}}})
	for i := range 4 {
		mustWrite(t, w, start, in("", visit(address(i), noise(i, 1000))))
		mustWrite(t, w, start, in("embargo", visit(address(10+i), noise(i, 9000))))
	}
	later := start.Add(30 * time.Minute)
	out, err := w.WriteLookup(later, Lookup{Series: "contract", Host: "c.example", Date: later})
	if err != nil || !strings.HasPrefix(out.Origin.File, "arcrawl-contract-2026") {
		t.Errorf("a look-up of a series is in %q, %v", out.Origin.File, err)
	}
	var growing []string
	for _, g := range w.Growing() {
		growing = append(growing, g.Name[:len("arcrawl-embargo")])
	}
	if diff := cmp.Diff([]string{"arcrawl-2026112", "arcrawl-contrac", "arcrawl-embargo"}, growing); diff != "" {
		t.Errorf("growing files (-want +got):\n%s", diff)
	}
	must(t, w.Rotate(start.Add(time.Hour)))
	if g := w.Growing(); len(g) != 1 || g[0].Name != out.Origin.File {
		t.Errorf("after the age of the first files %v are growing, want %s alone", g, out.Origin.File)
	}
	must(t, w.Close(later))
	want := map[string][]string{
		"": {address(0), address(1), address(2), address(3)}, "embargo": {address(10), address(11), address(12), address(13)},
		"contract": {"dns:c.example"},
	}
	got, files := map[string][]string{}, map[string][]string{}
	for _, k := range readDir(t, dir) {
		series := SeriesIn("arcrawl")(k.file)
		switch k.get("WARC-Type") {
		case "warcinfo":
			files[series] = append(files[series], k.file)
			if has := strings.Contains(string(k.block), "isPartOf: News\r\n"); !has {
				t.Errorf("the warcinfo record of %s lacks the collection", k.file)
			}
			if has := strings.Contains(string(k.block), "isPartOf: "+series+"\r\n"); has != (series != "") {
				t.Errorf("the warcinfo record of %s names its series: %t", k.file, has)
			}
		case "response":
			got[series] = append(got[series], k.get("WARC-Target-URI"))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("responses of each series (-want +got):\n%s", diff)
	}
	if len(files[""]) != 1 || len(files["embargo"]) != 2 {
		t.Errorf("files %v: a file is sealed by its own size", files)
	}
}

func TestSeriesOfFiles(t *testing.T) {
	t.Parallel()
	const rest = "20261121090000123-00001-c1.warc.gz"
	for file, want := range map[string]string{
		"kb-news-" + rest: "", "kb-news-embargo-" + rest: "embargo", "kb-news-e2_x-" + rest: "e2_x",
		"kb-" + rest: "", "kb-embargo-" + rest: "", "kb-news-a-b-" + rest: "", "kb-news-embargo-2026.warc.gz": "",
		"kb-newsembargo-" + rest: "", "2019.wacz/archive/kb-news-embargo-" + rest: "", "kb-news-": "", "": "",
	} {
		if got := SeriesIn("kb-news")(file); got != want {
			t.Errorf("%s is in the series %q, want %q", file, got, want)
		}
	}
	w, _ := opened(t, Options{Dir: t.TempDir()})
	for _, name := range []string{"../x", "a-b", "A", "1", strings.Repeat("a", 33)} {
		if _, err := w.Write(start, in(name, visit(address(1), page("x")))); !errors.Is(err, ErrRefused) {
			t.Errorf("a visit to the series %q: %v", name, err)
		}
	}
}

// Curators may rename series every day: files of earlier names must not stay open.
func TestFewFilesAreOpen(t *testing.T) {
	t.Parallel()
	w, _ := opened(t, Options{Dir: t.TempDir()})
	for i := range 3 * MaxSeries {
		mustWrite(t, w, start, in(fmt.Sprintf("s%d", i), visit(address(i), page("x"))))
		if n := len(w.Growing()); n > MaxSeries+1 {
			t.Fatalf("%d files are open", n)
		}
	}
}

func TestACrashIsRepairedInEachSeries(t *testing.T) {
	t.Parallel()
	before, dir := t.TempDir(), t.TempDir()
	w, _ := opened(t, Options{Dir: before})
	series := []string{"", "contract", "embargo"}
	for i, s := range series {
		mustWrite(t, w, start, in(s, visit(address(i), page("x"))))
		mustWrite(t, w, start, in(s, visit(address(i+10), page("y"))))
	}
	for _, name := range namesIn(t, before) {
		data, err := os.ReadFile(filepath.Join(before, name))
		must(t, err)
		put(t, dir, name, string(data[:len(data)-1]))
		if strings.Contains(name, "contract") { // a name that is taken
			put(t, dir, strings.TrimSuffix(name, openSuffix), "mine")
		}
	}
	_, repairs := opened(t, Options{Dir: dir})
	var sealed []string
	for _, r := range repairs {
		if r.Kind != Cut {
			t.Errorf("found %v", r)
		}
		sealed = append(sealed, SeriesIn("arcrawl")(r.Sealed))
	}
	slices.Sort(sealed)
	if diff := cmp.Diff(series, sealed); diff != "" {
		t.Errorf("series of the repaired files (-want +got):\n%s", diff)
	}
}

// crashDir names the environment variable with the folder for the child process of the test below.
const crashDir = "ARCRAWL_WARCOUT_CRASH_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		writeUntilKilled(dir, os.Getenv(crashDir+"_ROUND"))
		return
	}
	os.Exit(m.Run())
}

// crashSeries are the series to which the goroutines write.
var crashSeries = [4]string{"", "", "contract", "embargo"}

// writeUntilKilled writes visits in four goroutines and prints the address of each one that was acknowledged.
func writeUntilKilled(dir, round string) {
	w, _, err := Open(Options{Dir: dir, MaxSize: 100_000, Journal: dir + "/journal"}, time.Now())
	if err != nil {
		fmt.Println("fault:", err)
		return
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := 0; ; i++ {
				a := fmt.Sprintf("http://www.example.org/%s/%d/%d", round, g, i)
				_, err := w.Write(time.Now(), in(crashSeries[g], visit(a, noise(i, 100*(i%50)))))
				mu.Lock()
				if err != nil {
					fmt.Println("fault:", err)
				} else {
					fmt.Println("done", a)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
}

func TestKilledWriterLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	const rounds = 5
	dir := t.TempDir()
	acknowledged := map[string]bool{}
	for round := range rounds {
		for _, a := range killedAfter(t, dir, round, 30+15*round) {
			acknowledged[a] = true
		}
	}
	w, repairs := opened(t, Options{Dir: dir, Journal: dir + "/journal"})
	for _, r := range repairs {
		if r.Kind == Short || r.Kind == Differs || r.Kind == DamagedJournal || r.Tail != "" {
			t.Errorf("found %v", r)
		}
	}
	must(t, w.Close(start))
	kinds := map[string]string{}
	for _, k := range readDir(t, dir) {
		a := k.get("WARC-Target-URI")
		kinds[a] += k.get("WARC-Type") + " "
		if parts := strings.Split(a, "/"); a != "" {
			if g, _ := strconv.Atoi(parts[4]); SeriesIn("arcrawl")(k.file) != crashSeries[g] {
				t.Errorf("%s is in %s", a, k.file)
			}
		}
	}
	delete(kinds, "")
	for a := range acknowledged {
		if kinds[a] != "response request metadata " {
			t.Errorf("%s was acknowledged, but has %q", a, kinds[a])
		}
	}
	if extra := len(kinds) - len(acknowledged); extra < 0 || extra > 4*rounds {
		t.Errorf("%d visits more than the %d acknowledged ones, want at most one for each goroutine and round", extra, len(acknowledged))
	}
	for _, name := range namesIn(t, dir) {
		if strings.HasSuffix(name, openSuffix) {
			t.Errorf("%s is still open", name)
		}
	}
}

// killedAfter runs a child, kills it once it has acknowledged some visits, and returns these visits.
func killedAfter(t *testing.T, dir string, round, visits int) (acknowledged []string) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), crashDir+"="+dir, fmt.Sprintf("%s_ROUND=%d", crashDir, round))
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF { // an incomplete last line is not an acknowledgement
			break
		}
		must(t, err)
		a, ok := strings.CutPrefix(strings.TrimSpace(line), "done ")
		if !ok {
			t.Errorf("the child printed %q", line)
		}
		acknowledged = append(acknowledged, a)
		if len(acknowledged) == visits {
			must(t, cmd.Process.Kill())
		}
	}
	if err := cmd.Wait(); err == nil || len(acknowledged) < visits {
		t.Fatalf("the child ended by itself after %d visits: %v", len(acknowledged), err)
	}
	return acknowledged
}
