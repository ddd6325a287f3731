package rewrite_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive"
	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/rewrite"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/foreign"
	"github.com/arcrawl/arcrawl/internal/human"
)

// rewritten writes new files and verifies that they need no other files except the known ones.
func rewritten(
	t *testing.T, paths []string, o rewrite.Options, known ...string,
) (out string, sum rewrite.Summary, found []warc.Finding) {
	t.Helper()
	o.Out = filepath.Join(t.TempDir(), "new")
	sum, err := rewrite.Files(context.Background(), paths, o, func(f warc.Finding) error {
		found = append(found, f)
		return nil
	})
	archivetest.Must(t, err)
	if sum.Files == 0 {
		return o.Out, sum, found
	}
	soundness(t, archive.VerifyOptions{Known: known}, o.Out)
	if left, err := filepath.Glob(filepath.Join(o.Out, ".*")); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
	return o.Out, sum, found
}

// soundness checks that files have no findings and returns the summary.
func soundness(t *testing.T, o archive.VerifyOptions, paths ...string) archive.Verified {
	t.Helper()
	sum, err := archive.Verify(context.Background(), paths, o, func(f warc.Finding) error {
		t.Errorf("a finding in the new files: %s", f.Error())
		return nil
	})
	archivetest.Must(t, err)
	return sum
}

func openOut(t *testing.T, dir string) *captures.Library {
	t.Helper()
	l, err := captures.OpenLibrary(t.Context(), dir, captures.Options{}, noFinding)
	archivetest.Must(t, err)
	t.Cleanup(func() { archivetest.Must(t, l.Close()) })
	return l
}

func history(t *testing.T, l *captures.Library, uri string) []captures.Capture {
	t.Helper()
	list, err := l.History(uri)
	archivetest.Must(t, err)
	return list
}

// replay returns the payload of a version.
func replay(t *testing.T, l *captures.Library, name string) (string, error) {
	t.Helper()
	v := captures.ParseVersion(name)
	c, _, err := v.Choose(history(t, l, v.URI))
	if err != nil {
		return "", err
	}
	p, err := l.Payload(t.Context(), c, true)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(p)
	return string(b), errors.Join(err, p.Close())
}

func TestRewrittenFileNeedsNoOtherFile(t *testing.T) {
	t.Parallel()
	l, _ := archivetest.Three(t)
	last := l.Files()[2]
	out, sum, found := rewritten(t, []string{last}, rewrite.Options{From: []string{l.Dir}})
	if len(found) > 0 || sum.Filled != 2 || sum.Repointed != 1 || sum.Files != 1 {
		t.Errorf("sum %+v, findings %v, want 2 filled and 1 repointed in 1 file", sum, found)
	}
	lib := openOut(t, out)
	for name, want := range map[string]string{
		"http://www.a.example/":            "<p>one</p>",
		"https://c.example/two@2026112115": "<p>two, in chunks</p>",
		"https://c.example/two":            "<p>two, in chunks</p>",
	} {
		if got, err := replay(t, lib, name); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	// The response to the conditional request was a 304, which cannot be replayed. The new response has the head of the
	// original.
	unmodified := history(t, lib, "http://www.a.example/")[0]
	if unmodified.Type != "response" || unmodified.Status != "200" {
		t.Errorf("the unmodified page is a %s with status %s", unmodified.Type, unmodified.Status)
	}
	filled := history(t, lib, "https://c.example/two")
	if filled[0].Type != "response" || filled[1].Type != "revisit" || filled[1].RefersTo.RecordID != filled[0].RecordID {
		t.Errorf("the copies are a %s and a %s that refers to %s", filled[0].Type, filled[1].Type, filled[1].RefersTo.RecordID)
	}
	p, err := lib.Payload(context.Background(), filled[0], false)
	archivetest.Must(t, err)
	if !strings.Contains(string(p.Head.Raw), "X-Visit: third") {
		t.Errorf("the head is %q, want the revisit's own", p.Head.Raw)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if filled[0].Digest != digest.Of([]byte("<p>two, in chunks</p>")).String() {
		t.Errorf("the payload digest is %s", filled[0].Digest)
	}
}

// TestPywbShowsMendedRevisits rewrites an archive with revisits whose heads do not fit the bodies of their originals,
// and plays it with pywb.
func TestPywbShowsMendedRevisits(t *testing.T) {
	t.Parallel()
	l := archivetest.New(t)
	const plain, chunked = archivetest.HTMLHead, archivetest.ChunkedHead
	coded := plain + "\r\nContent-Encoding: gzip"
	text, zipped := strings.Repeat("<p>text</p>", 200), archivetest.Coded(t, "gzip", strings.Repeat("<p>zip</p>", 200))
	for _, c := range []struct{ name, head, body string }{
		{"plain", plain, text}, {"chunked", chunked, text}, {"coded", coded, zipped}, {"packed", plain, zipped},
	} {
		original := l.Page("http://a.example/"+c.name, c.head, c.body)
		for _, again := range []string{plain, chunked, coded, plain, chunked} {
			if strings.Contains(again, "gzip") && c.body != zipped {
				again = plain
			}
			l.Revisit("http://b.example/"+c.name, again+"\r\nX-Again: yes", original)
		}
	}
	l.Seal()
	warnings := 0
	verdict, err := archive.Verify(t.Context(), []string{l.Dir}, archive.VerifyOptions{}, func(f warc.Finding) error {
		if warnings++; f.Kind != warc.OtherFraming {
			t.Errorf("verify reports %s", f.Error())
		}
		return nil
	})
	archivetest.Must(t, err)
	// Of chunked the three plain ones, of coded all except one, of packed the coded one.
	if want := 3 + 4 + 1; verdict.Warnings != want {
		t.Errorf("verify has %d warnings, want %d", verdict.Warnings, want)
	}
	out, sum, found := rewritten(t, []string{l.Dir}, rewrite.Options{})
	if len(found) > 0 || sum.Filled != 1+2+1 || sum.Repointed != 2+2 {
		t.Errorf("sum %+v, findings %v", sum, found)
	}
	var lines strings.Builder
	_, err = index.Build(t.Context(), []string{out}, index.Options{}, &lines, noFinding)
	archivetest.Must(t, err)
	player, lib := foreign.Pywb(t, out, archivetest.Save(t, "index.cdxj", []byte(lines.String()))), openOut(t, out)
	for _, name := range []string{"plain", "chunked", "coded", "packed"} {
		want := text
		if name == "coded" || name == "packed" {
			want = zipped
		}
		for _, c := range history(t, lib, "http://b.example/"+name) {
			request, err := http.NewRequest(http.MethodGet, player+c.Date.Format(index.DateLayout)+"id_/"+c.URL, nil)
			archivetest.Must(t, err)
			request.Header.Set("Accept-Encoding", "gzip") // what comes is not decoded
			answer, err := http.DefaultClient.Do(request)
			archivetest.Must(t, err)
			b, err := io.ReadAll(answer.Body)
			if _ = answer.Body.Close(); string(b) != want || err != nil {
				t.Errorf("pywb shows %.60q of %s at %s, %v", b, c.URL, c.Date, err)
			}
		}
	}
}

func TestAllMakesAResponseFromEveryRevisit(t *testing.T) {
	t.Parallel()
	l, _ := archivetest.Three(t)
	out, sum, found := rewritten(t, []string{l.Dir}, rewrite.Options{All: true})
	if len(found) > 0 || sum.Filled != 5 || sum.Repointed != 0 || sum.Files != 3 {
		t.Errorf("sum %+v, findings %v, want 5 filled in 3 files", sum, found)
	}
	verdict := soundness(t, archive.VerifyOptions{}, out)
	if verdict.Records["revisit"] != 0 || verdict.Records["response"] != 8 {
		t.Errorf("records %v, want 8 responses and no revisit", verdict.Records)
	}
}

// TestRecordsWithoutDependenciesAreCopiedByteForByte also checks that no file is overwritten.
func TestRecordsWithoutDependenciesAreCopiedByteForByte(t *testing.T) {
	t.Parallel()
	l, names := archivetest.Three(t)
	out, sum, _ := rewritten(t, []string{l.Dir}, rewrite.Options{})
	if sum.Filled+sum.Repointed != 0 {
		t.Errorf("sum %+v, want only copies", sum)
	}
	for _, name := range names {
		if a, b := archivetest.Read(t, filepath.Join(l.Dir, name)), archivetest.Read(t, filepath.Join(out, name)); a != b {
			t.Errorf("%s has changed", name)
		}
	}
	_, err := rewrite.Files(context.Background(), []string{l.Dir}, rewrite.Options{Out: out}, noFinding)
	if err == nil || !strings.Contains(err.Error(), "nothing is overwritten") {
		t.Errorf("overwriting files: %v, want an error", err)
	}
}

func TestARevisitWithoutItsOriginalIsCopiedAndReported(t *testing.T) {
	t.Parallel()
	l, _ := archivetest.Three(t)
	last := l.Files()[2]
	_, sum, found := rewritten(t, []string{last}, rewrite.Options{}, l.Files()[:2]...)
	if len(found) != 3 || found[0].Kind != warc.NoOriginal || sum.Errors != 3 || sum.Filled != 0 {
		t.Errorf("sum %+v, findings %v, want three revisits without original", sum, found)
	}
}

// TestWhatIsAboutAPageIsExtractedWithIt chooses records whose URIs contain the URI of a page.
func TestWhatIsAboutAPageIsExtractedWithIt(t *testing.T) {
	t.Parallel()
	prefix := rewrite.Selection{Prefixes: []string{"http://b.example/t"}}.Matcher()
	host := rewrite.Selection{Hosts: []string{"b.example", "[::1]", "d.example:", "e.example:81"}}.Matcher()
	for uri, want := range map[string][2]bool{
		"http://b.example/today":              {true, true},
		"http://b.example:8080/today":         {false, true},
		"http://[::1]:8080/":                  {false, true},
		"http://d.example/":                   {false, true},
		"http://d.example:8080/":              {false, false},
		"http://e.example/":                   {false, false},
		"http://e.example:81/":                {false, true},
		"urn:evidence:http://b.example/today": {true, true},
		"urn:text:http://b.example/today":     {true, true},
		"urn:text:http://b.example/other":     {false, true},
		"urn:text:http://c.example/today":     {false, false},
		"urn:arcrawl:configuration":           {false, false},
	} {
		if got := [2]bool{prefix(uri, archivetest.Start), host(uri, archivetest.Start)}; got != want {
			t.Errorf("%s: chosen by prefix and host %v, want %v", uri, got, want)
		}
	}
}

func TestSelectedRecordsAreExtracted(t *testing.T) {
	t.Parallel()
	l, names := archivetest.Three(t)
	from, to, err := human.ParsePeriod("2026112114")
	archivetest.Must(t, err)
	for _, c := range []struct {
		name    string
		choose  rewrite.Selection
		keep    bool
		records string // by type
		needs   string
	}{
		{"a host", rewrite.Selection{Hosts: []string{"c.example"}}, false, "metadata:3 request:2 response:1 revisit:1 warcinfo:1", ""},
		{"a host that needs nothing", rewrite.Selection{Hosts: []string{"b.example"}}, false, "metadata:3 request:3 response:2 revisit:1 warcinfo:2", ""},
		{"a host and those below", rewrite.Selection{Hosts: []string{".a.example"}}, false, "metadata:3 request:3 response:1 revisit:2 warcinfo:3", ""},
		{"a prefix", rewrite.Selection{Prefixes: []string{"http://b.example/t"}}, false, "metadata:2 request:2 response:1 revisit:1 warcinfo:1", ""},
		{"a period", rewrite.Selection{From: from, To: to}, false, "metadata:2 request:1 response:1 warcinfo:1", ""},
		{"a host as it is", rewrite.Selection{Hosts: []string{"c.example"}}, true, "metadata:2 request:2 revisit:2 warcinfo:1", names[1] + " 2"},
		{"nothing", rewrite.Selection{Hosts: []string{"example"}}, false, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var known []string
			if c.keep {
				known = []string{l.Files()[1]}
			}
			out, sum, found := rewritten(t, []string{l.Dir}, rewrite.Options{Select: c.choose, Keep: c.keep}, known...)
			if len(found) > 0 {
				t.Errorf("findings %v", found)
			}
			var needs []string
			for _, d := range sum.Needs {
				needs = append(needs, fmt.Sprintf("%s %d", d.File, d.Revisits))
			}
			if strings.Join(needs, " ") != c.needs {
				t.Errorf("the extract needs %v, want %s", needs, c.needs)
			}
			if sum.Files == 0 {
				if c.records != "" {
					t.Error("no file was written")
				}
				return
			}
			verdict := soundness(t, archive.VerifyOptions{Known: known}, out)
			if got := strings.TrimSuffix(strings.TrimPrefix(fmt.Sprint(verdict.Records), "map["), "]"); got != c.records {
				t.Errorf("records %s, want %s", got, c.records)
			}
		})
	}
}

// TestRevisitsOfWgetBecomeResponses rewrites files with unusual records: URIs in angle brackets, revisits that name
// their original only by its id, digests of chunks, a plain file.
func TestRevisitsOfWgetBecomeResponses(t *testing.T) {
	t.Parallel()
	dir, site := archivetest.Wget(t)
	out, sum, found := rewritten(t, []string{filepath.Join(dir, "two.warc.gz"), filepath.Join(dir, "plain.warc")}, rewrite.Options{From: []string{dir}})
	if len(found) > 0 || sum.Filled != 2 || sum.Files != 2 {
		t.Errorf("sum %+v, findings %v, want 2 filled in 2 files", sum, found)
	}
	lib := openOut(t, out)
	if got, err := replay(t, lib, site+"/chunked"); got != "piece 0\npiece 1\npiece 2\n" || err != nil {
		t.Errorf("the chunked page: %q, %v", got, err)
	}
	for _, c := range history(t, lib, site+"/picture.gif") {
		if c.Type != "response" {
			t.Errorf("the picture is a %s", c.Type)
		}
	}
}

// TestWarcioAcceptsRewrittenFiles lets warcio check the block and payload digests of new files.
func TestWarcioAcceptsRewrittenFiles(t *testing.T) {
	t.Parallel()
	l, _ := archivetest.Three(t)
	out, _, _ := rewritten(t, []string{l.Dir}, rewrite.Options{All: true})
	files, err := filepath.Glob(filepath.Join(out, "*.warc.gz"))
	if err != nil || len(files) != 3 {
		t.Fatalf("files %v, %v", files, err)
	}
	for _, r := range foreign.Records(t, files...) {
		if len(r.Errors) > 0 {
			t.Errorf("%s at %d: %v", r.File, r.Offset, r.Errors)
		}
	}
}

// noFinding fails on the first finding.
func noFinding(f warc.Finding) error { return &f }

// recordsOf returns the headers and blocks of all records of the only file in a folder.
func recordsOf(t *testing.T, dir string) (headers []warc.Header, blocks []string) {
	t.Helper()
	files, _ := warc.Files([]string{dir})
	if len(files) != 1 {
		t.Fatalf("%d files in %s", len(files), dir)
	}
	r, err := warc.OpenFile(files[0].Path)
	archivetest.Must(t, err)
	defer r.Close()
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return headers, blocks
		}
		archivetest.Must(t, err)
		block, err := io.ReadAll(rec)
		archivetest.Must(t, err)
		headers, blocks = append(headers, rec.Header), append(blocks, string(block))
	}
}

func TestNewFilesSayFromWhatTheyWereMade(t *testing.T) {
	t.Parallel()
	l, names := archivetest.Three(t)
	o := rewrite.Options{
		From: []string{l.Dir}, Software: "arcrawl/test", Command: "arcrawl extract",
		Now:    time.Date(2026, 11, 22, 16, 0, 0, 0, time.UTC),
		Select: rewrite.Selection{Hosts: []string{"www.a.example"}, From: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)},
	}
	out, sum, _ := rewritten(t, l.Files()[:1], o)
	headers, blocks := recordsOf(t, out)
	if sum.Records != len(headers) || headers[0].Type() != "warcinfo" || headers[1].Type() != "warcinfo" ||
		headers[0].Get("WARC-Date") != "2026-11-22T16:00:00.000000Z" {
		t.Fatalf("%d of %d records, the first is %v", sum.Records, len(headers), headers[0])
	}
	for _, line := range []string{
		"software: arcrawl/test\r\n", "madeFrom: " + names[0] + "\r\n", "madeBy: arcrawl extract\r\n",
		"selection: hosts www.a.example; from 2026-11-01T00:00:00Z\r\n",
	} {
		if !strings.Contains(blocks[0], line) {
			t.Errorf("the warcinfo record lacks %q:\n%s", line, blocks[0])
		}
	}
	o.Select.Hosts = []string{"nowhere.example"}
	if _, sum, _ := rewritten(t, l.Files()[:1], o); sum.Files != 0 {
		t.Errorf("a file with nothing but a warcinfo record was made: %+v", sum)
	}
}

// Some readers look an original up by the text of its date.
func TestRevisitsRepeatTheDateOfTheirNewOriginal(t *testing.T) {
	t.Parallel()
	const head, page = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5", "http://a.example/"
	dated := func(record, date string) string { return strings.Replace(record, "2026-11-21T09:00:00Z", date, 1) }
	revisit := func(id, date string) string {
		return dated(archivetest.Plain(archivetest.Fields("revisit", id,
			"WARC-Target-URI: "+page, "Content-Type: application/http;msgtype=response",
			"WARC-Payload-Digest: "+digest.Of([]byte("hello")).String(),
			"WARC-Refers-To-Target-URI: "+page, "WARC-Refers-To-Date: 2019-03-01T10:00:00Z",
			"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"), head+"\r\n\r\n"), date)
	}
	old := archivetest.Save(t, "old.warc",
		[]byte(archivetest.Info+dated(archivetest.Response("a", page, head, "hello"), "2019-03-01T10:00:00Z")))
	late := archivetest.Save(t, "new.warc", []byte(strings.Replace(archivetest.Info, "urn:x:info", "urn:x:other", 1)+
		revisit("b", "2020-03-01T10:00:00Z")+revisit("c", "2021-03-01T10:00:00Z")))
	out, done, found := rewritten(t, []string{late}, rewrite.Options{From: []string{old}})
	if done.Filled != 1 || done.Repointed != 1 {
		t.Fatalf("%+v, %v; want one response and a revisit of it", done, found)
	}
	headers, blocks := recordsOf(t, out)
	for i, h := range headers {
		if got := h.Get("WARC-Refers-To-Date"); h.Type() == "revisit" && got != "2020-03-01T10:00:00Z" {
			t.Errorf("the revisit refers to %s, the response has 2020-03-01T10:00:00Z", got)
		}
		if h.Type() == "metadata" && !strings.Contains(blocks[i], "payloadFromDate: 2019-03-01T10:00:00Z\r\n") {
			t.Errorf("the metadata record has another date of the payload:\n%s", blocks[i])
		}
	}
}
