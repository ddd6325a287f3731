package index

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

func TestKeysAreEqualToThoseOfReplayTools(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"http://www.archive.org/", "org,archive)/"},
		{"https://www2.Archive.org:443", "org,archive)/"},
		{"http://archive.org:8080/goo/?a=2&b&a=1", "org,archive:8080)/goo?a=1&a=2&b"},
		{"http://archive.org/goo//x/../%7Eme/?#top", "org,archive)/goo/~me"},
		{"http://user:pass@a.example/Path?Query=Yes", "example,a)/path?query=yes"},
		{"http://a.example/%E2%82%AC?q=%20x%2520", "example,a)/%e2%82%ac?q=%20x%20"},
		{"http://a.example/100%", "example,a)/100%25"},
		{"http://192.168.1.254/info/", "254,1,168,192)/info"},
		{"http://[::1]:8080/", "[::1]:8080)/"},
		{"http://a.example/x;jsessionid=0123456789ABCDEF0123456789abcdef?y=1", "example,a)/x?y=1"},
		{"http://a.example/x?PHPSESSID=0123456789abcdef0123456789abcdef&y=1", "example,a)/x?y=1"},
		{"dns:www.a.example", "dns:www.a.example"},
	} {
		if got := uri.ReplayKey(c[0]); got != c[1] {
			t.Errorf("ReplayKey(%q) = %q, want %q", c[0], got, c[1])
		}
	}
}

func TestParseEntryReadsWhatAppendToWrites(t *testing.T) {
	t.Parallel()
	e := Entry{
		Key: "example,a)/?b&c", Timestamp: "20261121090000", URL: "http://a.example/?c&b\"", MIME: "text/html", Status: "200",
		Digest: "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", Length: 12, Offset: 0, Filename: "a b.warc.gz",
	}
	line := string(e.AppendTo(nil))
	const want = `example,a)/?b&c 20261121090000 {"url":"http://a.example/?c&b\"","mime":"text/html","status":"200",` +
		`"digest":"sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ","length":"12","offset":"0","filename":"a b.warc.gz"}` + "\n"
	if line != want {
		t.Errorf("line %s, want %s", line, want)
	}
	if got, err := ParseEntry(line); err != nil || got != e {
		t.Errorf("read back %+v, %v", got, err)
	}
	foreign := `example,a)/ 20261121090000 {"url": "http://a.example/", "length": 12, "offset": 7, "filename": "x", "more": [1]}`
	if got, err := ParseEntry(foreign); err != nil || got.Length != 12 || got.Offset != 7 {
		t.Errorf("a line with numbers instead of strings: %+v, %v", got, err)
	}
	for _, bad := range []string{"", "a", "a 2026 {}", "a 20261121090000 {", `a 20261121090000 {"offset":"-1"}`, `a 20261121090000 {"offset":"x"}`} {
		if e, err := ParseEntry(bad); err == nil {
			t.Errorf("ParseEntry(%q) = %+v, want an error", bad, e)
		}
	}
}

// indexed returns the index of paths, sorted with the given memory, and the findings.
func indexed(t *testing.T, memory int64, paths ...string) (entries []Entry, found []warc.Finding) {
	t.Helper()
	var out bytes.Buffer
	o := Options{Memory: memory, TempDir: t.TempDir()}
	sum, err := Build(context.Background(), paths, o, &out, func(f warc.Finding) error {
		found = append(found, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(out.String(), "\n")
	lines = lines[:len(lines)-1]
	if !slices.IsSorted(lines) || int64(len(lines)) != sum.Entries {
		t.Errorf("%d lines, %d entries, sorted: %v", len(lines), sum.Entries, slices.IsSorted(lines))
	}
	for _, line := range lines {
		e, err := ParseEntry(line)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	return entries, found
}

func TestBuildWritesThePlaceOfEachCapture(t *testing.T) {
	t.Parallel()
	l := archivetest.Small(t)
	entries, found := indexed(t, 0, l.Dir)
	if len(found) > 0 {
		t.Errorf("findings: %v", found)
	}
	var got []string
	for _, e := range entries {
		got = append(got, fmt.Sprintf("%s %s %s %s", e.Key, e.Timestamp, e.MIME, e.Status))
		r, err := warc.OpenAt(filepath.Join(l.Dir, e.Filename), e.Offset)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if err := rec.Close(); err != nil || rec.Header.Target() != e.URL || rec.Length != e.Length || rec.Header.Get("WARC-Payload-Digest") != e.Digest {
			t.Errorf("%+v points to %+v, %v", e, rec, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	want := []string{
		"example,a)/ 20261121090000 text/html 200",
		"example,a)/ 20261121110000 warc/revisit 200",
		"example,a)/ 20261121120000 warc/revisit ",
		"example,a)/ 20261121130000 text/html 200",
		"example,a)/chunked 20261121100000 text/html 200",
		"example,b:8080)/copy?a=1&b=2 20261121140000 warc/revisit 200",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestSortingWithTemporaryFilesMakesTheSameIndex(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	var records []string
	for i := range 3000 {
		records = append(records, archivetest.Response(fmt.Sprint(i), fmt.Sprintf("http://a.example/%d", i*7919%3000), archivetest.HTMLHead, "x"))
	}
	path := archivetest.Save(t, "many.warc.gz", archivetest.Zipped(t, records...))
	inMemory, _ := indexed(t, 0, path)
	inRuns, _ := indexed(t, 10_000, path)
	if len(inMemory) != 3000 || cmp.Diff(inMemory, inRuns) != "" {
		t.Errorf("sorting in memory returns %d entries and sorting in runs %d, and they differ", len(inMemory), len(inRuns))
	}
}

func TestBuildReportsDamageAndSkipsIt(t *testing.T) {
	t.Parallel()
	content := archivetest.Zipped(t, archivetest.Info, archivetest.Response("a", "http://a.example/a", archivetest.HTMLHead, "one"), archivetest.Response("b", "http://a.example/b", archivetest.HTMLHead, "two"),
		archivetest.Response("c", "http://a.example/c", archivetest.HTMLHead, "three"))
	content[len(archivetest.Zipped(t, archivetest.Info, archivetest.Response("a", "http://a.example/a", archivetest.HTMLHead, "one")))+60] ^= 1
	entries, found := indexed(t, 0, archivetest.Save(t, "x.warc.gz", content), "missing")
	if len(entries) != 2 || len(found) != 2 || found[0].Kind != warc.Unreadable || found[1].Offset <= 0 {
		t.Errorf("entries %v, findings %v", entries, found)
	}
}

// TestARecordWithAHugeHeaderIsSkipped indexes files with a record whose header has 2 MB. The records around it are
// indexed.
func TestARecordWithAHugeHeaderIsSkipped(t *testing.T) {
	t.Parallel()
	record := func(id string, more ...string) string {
		return archivetest.Response(id, "http://a.example/"+id, archivetest.HTMLHead, id, more...)
	}
	all := []string{archivetest.Info, record("a"), record("b", "X-Huge: "+strings.Repeat("y", 2<<20)), record("c")}
	for name, content := range map[string][]byte{"x.warc": []byte(strings.Join(all, "")), "x.warc.gz": archivetest.Zipped(t, all...)} {
		entries, found := indexed(t, 0, archivetest.Save(t, name, content))
		if len(entries) != 2 || len(found) != 1 || found[0].Kind != warc.BadHeader || len(found[0].Text) > 200 {
			t.Errorf("%s: entries %v, findings %v", name, entries, found)
		}
	}
}

func TestBuildComputesMissingDigests(t *testing.T) {
	t.Parallel()
	record := strings.Replace(archivetest.Response("a", "http://a.example/", archivetest.HTMLHead, "one"), "WARC-Payload-Digest", "X-Payload-Digest", 1)
	want, _ := indexed(t, 0, archivetest.Save(t, "x.warc", []byte(archivetest.Response("a", "http://a.example/", archivetest.HTMLHead, "one"))))
	got, _ := indexed(t, 0, archivetest.Save(t, "x.warc", []byte(record)))
	if len(got) != 1 || got[0].Digest != want[0].Digest {
		t.Errorf("digest %v, want %v", got, want)
	}
}

func TestIndexOfWgetFilesEqualsWarcio(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir, _ := archivetest.Wget(t)
	node, err := exec.LookPath("node")
	cli := filepath.Join("..", "..", "internal", "foreign", "node_modules", "warcio", "dist", "cli.js")
	if _, err2 := os.Stat(cli); err != nil || err2 != nil {
		missing := t.Skipf
		if os.Getenv("ARCRAWL_REQUIRE_FOREIGN") == "1" {
			missing = t.Fatalf
		}
		missing("warcio is not installed: %v %v", err, err2)
	}
	for _, file := range []string{"one.warc.gz", "two.warc.gz", "plain.warc"} {
		path := filepath.Join(dir, file)
		out, err := exec.CommandContext(t.Context(), node, cli, "cdx-index", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		ours, _ := indexed(t, 0, path)
		var theirs []string
		for line := range strings.Lines(string(out)) {
			var f map[string]any
			words := strings.SplitN(line, " ", 3)
			if err := json.Unmarshal([]byte(words[2]), &f); err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(words[0], "MANIFEST.txt") {
				continue // a metadata record is not a capture
			}
			length := f["length"]
			if file == "plain.warc" {
				length = "-" // warcio leaves out the two empty lines
			}
			theirs = append(theirs, fmt.Sprintf("%s %s %v %v %v %v %v", words[0], words[1], f["url"], f["mime"], f["status"], length, f["offset"]))
		}
		var got []string
		for _, e := range ours {
			status, length := any(e.Status), any(e.Length)
			if e.Status == "" {
				status = nil
			}
			if file == "plain.warc" {
				length = "-"
			}
			got = append(got, fmt.Sprintf("%s %s %s %s %v %v %d", e.Key, e.Timestamp, e.URL, e.MIME, status, length, e.Offset))
		}
		slices.Sort(theirs)
		slices.Sort(got)
		if d := cmp.Diff(theirs, got); d != "" {
			t.Errorf("%s: warcio's index (-) and ours (+):\n%s", file, d)
		}
	}
}

// TestAppendToWritesTheSameAsEncodingJSON compares the lines with the output of encoding/json, which wrote
// them in the past.
func TestAppendToWritesTheSameAsEncodingJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "plain", `a"b\c`, "a\tb\x01", "<&>", "ü\u2028\xff", "\x7f"} {
		for _, length := range []int64{0, 12} {
			e := Entry{Key: "k", Timestamp: "20260101000000", URL: text, MIME: text, Status: text, Digest: text, Length: length, Offset: 7, Filename: text}
			f := jsonFields{URL: text, MIME: text, Status: text, Digest: text, Offset: "7", Filename: text}
			if length > 0 {
				f.Length = "12"
			}
			var want bytes.Buffer
			enc := json.NewEncoder(&want)
			enc.SetEscapeHTML(false)
			archivetest.Must(t, enc.Encode(f))
			if got := string(e.AppendTo(nil)); got != "k 20260101000000 "+want.String() {
				t.Errorf("%q becomes\n%swant\nk 20260101000000 %s", text, got, &want)
			}
		}
	}
}

func FuzzParseEntry(f *testing.F) {
	f.Add(`example,a)/ 20261121090000 {"url":"http://a.example/","offset":"1","filename":"x"}`)
	f.Fuzz(func(t *testing.T, line string) {
		e, err := ParseEntry(line)
		if err != nil {
			return
		}
		again, err := ParseEntry(string(e.AppendTo(nil)))
		if err != nil || again != e && !strings.ContainsRune(fmt.Sprint(again), '\uFFFD') {
			t.Errorf("%q: %+v is read back as %+v, %v", line, e, again, err)
		}
	})
}
