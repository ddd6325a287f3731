package index

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
)

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
	archivetest.Must(t, err)
	lines := strings.SplitAfter(out.String(), "\n")
	lines = lines[:len(lines)-1]
	if !slices.IsSorted(lines) || int64(len(lines)) != sum.Entries {
		t.Errorf("%d lines, %d entries, sorted: %v", len(lines), sum.Entries, slices.IsSorted(lines))
	}
	for _, line := range lines {
		e, err := ParseEntry(line)
		archivetest.Must(t, err)
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
		archivetest.Must(t, err)
		rec, err := r.Next()
		archivetest.Must(t, err)
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
		archivetest.Must(t, err)
		ours, _ := indexed(t, 0, path)
		var theirs []string
		for line := range strings.Lines(string(out)) {
			var f map[string]any
			words := strings.SplitN(line, " ", 3)
			archivetest.Must(t, json.Unmarshal([]byte(words[2]), &f))
			if strings.HasSuffix(words[0], "MANIFEST.txt") {
				continue // a metadata record is not a capture
			}
			length := f["length"]
			if file == "plain.warc" {
				length = "-" // warcio leaves out the two empty lines
			}
			if path, ok := strings.CutPrefix(words[0], "metadata://gnu.org"); ok {
				words[0] = "org,gnu)" + path // as surt makes it of such a URI, which warcio.js leaves as it is
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
	f.Add(`example,a)/ 20261121090000 {"url":"http://a.example/","mime":"a","status":"200","digest":"x","length":"7","offset":"1","url":"x"}`)
	f.Fuzz(func(t *testing.T, line string) {
		if _, object, found := strings.Cut(line, " {"); found {
			plain, ok := parsePlain("{" + object)
			var f jsonFields
			if err := json.Unmarshal([]byte("{"+object), &f); ok && (err != nil || f != plain) {
				t.Errorf("%q is read as %+v, and as JSON it is %+v, %v", line, plain, f, err)
			}
		}
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

func TestEntryAsCDX11(t *testing.T) {
	t.Parallel()
	whole := Entry{
		Key: "example,a)/x", Timestamp: "20261121090000", URL: "http://a.example/x", MIME: "text/html", Status: "200", Digest: "sha1:ABC",
		Length: 512, Offset: 77, Filename: "a.warc.gz",
	}
	revisit := whole
	revisit.MIME, revisit.Status, revisit.Length, revisit.Offset = RevisitMIME, "", 0, 0
	milliseconds := whole
	milliseconds.Timestamp += "123"
	spaced := whole
	spaced.URL, spaced.Filename, spaced.Digest = "http://a.example/x y\n", "my file.warc.gz", "ABC"
	for name, row := range map[string]struct {
		entry Entry
		want  string
	}{
		"a response":              {whole, "example,a)/x 20261121090000 http://a.example/x text/html 200 ABC - - 512 77 a.warc.gz\n"},
		"milliseconds":            {milliseconds, "example,a)/x 20261121090000 http://a.example/x text/html 200 ABC - - 512 77 a.warc.gz\n"},
		"a revisit without head":  {revisit, "example,a)/x 20261121090000 http://a.example/x warc/revisit - ABC - - - 0 a.warc.gz\n"},
		"fields with white space": {spaced, "example,a)/x 20261121090000 http://a.example/x%20y%0A text/html 200 ABC - - 512 77 my%20file.warc.gz\n"},
		"nothing known":           {Entry{}, "- - - - - - - - - 0 -\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := string(row.entry.AppendCDX(nil))
			if got != row.want {
				t.Errorf("got  %qwant %q", got, row.want)
			}
			if n := len(strings.Split(got, " ")); n != 11 {
				t.Errorf("%d fields", n)
			}
		})
	}
}

// of returns a source of lines, which ends with an error.
func of(end error, lines ...string) LineSource {
	return func() (string, error) {
		if len(lines) == 0 {
			return "", end
		}
		line := lines[0]
		lines = lines[1:]
		return line, nil
	}
}

func TestMergeWritesEachLineOnceAndInOrder(t *testing.T) {
	t.Parallel()
	var got []string
	from := []LineSource{of(io.EOF, "b\n", "d\n", "d\n"), of(io.EOF), of(io.EOF, "a\n", "b\n", "e\n")}
	err := MergeLines(from, func(line string) error {
		got = append(got, line)
		return nil
	})
	if want := []string{"a\n", "b\n", "d\n", "e\n"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

func TestMergeReturnsTheErrorsOfSourcesAndOfWrite(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	fine := func(string) error { return nil }
	for name, err := range map[string]error{
		"a source without a line": MergeLines([]LineSource{of(io.EOF, "a\n"), of(broken)}, fine),
		"a source with a line":    MergeLines([]LineSource{of(io.EOF, "b\n"), of(broken, "a\n")}, fine),
		"write":                   MergeLines([]LineSource{of(io.EOF, "a\n")}, func(string) error { return broken }),
	} {
		if !errors.Is(err, broken) {
			t.Errorf("%s: %v, want the error", name, err)
		}
	}
}

func TestSearchNeverPassesTheFirstLineAndComesNear(t *testing.T) {
	t.Parallel()
	const near = 20
	var text strings.Builder
	for i := range 500 {
		fmt.Fprintf(&text, "%04d\n", 2*i)
	}
	lineAfter := func(at int64) (string, error) {
		_, rest, _ := strings.Cut(text.String()[at:], "\n")
		line, _, _ := strings.Cut(rest, "\n")
		return line, nil
	}
	for i := range 1000 {
		at, err := SearchLines(int64(text.Len()), near, fmt.Sprintf("%04d", i), lineAfter)
		first := int64((i + 1) / 2 * 5) // offset of the first line that is not less
		if err != nil || at > first || at < first-near-5 {
			t.Errorf("the search for %04d returned %d, %v; want at most %d, and near it", i, at, err, first)
		}
	}
	broken := errors.New("broken")
	if _, err := SearchLines(100, near, "a", func(int64) (string, error) { return "", broken }); !errors.Is(err, broken) {
		t.Errorf("the error of a line is %v", err)
	}
}

func noFinding(f warc.Finding) error { return &f }
