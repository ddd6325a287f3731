package captures

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/slow"
)

func opened(t *testing.T, dir string) *Library {
	t.Helper()
	l, err := OpenLibrary(context.Background(), dir, Options{}, noFinding)
	archivetest.Must(t, err)
	t.Cleanup(func() { archivetest.Must(t, l.Close()) })
	return l
}

func history(t *testing.T, l *Library, uri string) []Capture {
	t.Helper()
	captures, err := l.History(uri)
	archivetest.Must(t, err)
	return captures
}

// content returns the payload of a version.
func content(t *testing.T, l *Library, name string, decode bool) (string, error) {
	t.Helper()
	v := ParseVersion(name)
	c, _, err := v.Choose(history(t, l, v.URI))
	if err != nil {
		return "", err
	}
	p, err := l.Payload(context.Background(), c, decode)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(p)
	return string(b), errors.Join(err, p.Close())
}

func writeIndex(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, index.FileName)
	if _, err := index.WriteFile(context.Background(), []string{dir}, index.Options{}, path, noFinding); err != nil {
		t.Fatal(err)
	}
}

// TestHistoryListsEveryVersion looks up captures without an index, with one, and with one that is older than a file.
func TestHistoryListsEveryVersion(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"no index", "an index", "an index of the first file"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			lib := archivetest.New(t)
			first := lib.Page("http://www.a.example/", archivetest.HTMLHead, "<p>one</p>")
			lib.Page("http://a.example/", archivetest.HTMLHead, "<p>without www</p>")
			lib.Seal()
			if way == "an index of the first file" {
				writeIndex(t, lib.Dir)
			}
			lib.Revisit("http://www.a.example/", archivetest.HTMLHead, first)
			lib.NotModified("http://www.a.example/", first)
			lib.Seal()
			if way == "an index" {
				writeIndex(t, lib.Dir)
			}
			l := opened(t, lib.Dir)
			if got, want := len(l.read), map[string]int{"no index": 4, "an index": 0, "an index of the first file": 2}[way]; got != want {
				t.Errorf("%d captures were read from the files, want %d", got, want)
			}
			var got []string
			for _, c := range history(t, l, "http://www.a.example/") {
				got = append(got, fmt.Sprint(c.Date.Format("15:04:05.000000 "), c.Type, " ", c.Profile, " ", c.Size, " ", c.RefersTo.RecordID == first.RecordID, " ", len(c.Why)))
			}
			want := []string{
				"09:00:00.123456 response  10 false 3",
				"11:00:00.123456 revisit identical-payload-digest 0 true 3",
				"12:00:00.123456 revisit server-not-modified 0 true 5",
			}
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("history\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if alike, err := l.Alike("http://www.a.example/"); err != nil || strings.Join(alike, " ") != "http://a.example/" {
				t.Errorf("Alike returns %v, %v", alike, err)
			}
			for _, date := range []string{"2026-11-21T09:00:00.123456Z", "2026112111", "20261121120000", "2027"} {
				if got, err := content(t, l, "http://www.a.example/@"+date, true); got != "<p>one</p>" || err != nil {
					t.Errorf("content at %s: %q, %v", date, got, err)
				}
			}
			if _, err := content(t, l, "http://www.a.example/@2025", true); !errors.Is(err, warc.ErrNotFound) {
				t.Errorf("content before the first capture: %v, want ErrNotFound", err)
			}
		})
	}
}

func TestLookupInALargeIndex(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir := t.TempDir()
	var records []string
	for i := range 2000 {
		records = append(records, archivetest.Response(fmt.Sprint(i), fmt.Sprintf("http://a.example/%d/%s", i, strings.Repeat("x", i%300)), archivetest.HTMLHead, fmt.Sprint(i)))
	}
	archivetest.Must(t, os.WriteFile(filepath.Join(dir, "many.warc.gz"), archivetest.Zipped(t, records...), 0o644))
	writeIndex(t, dir)
	l := opened(t, dir)
	for i := range 2000 {
		uri := fmt.Sprintf("http://a.example/%d/%s", i, strings.Repeat("x", i%300))
		if found, err := l.Lookup(uri, nil); err != nil || len(found) != 1 || found[0].URL != uri {
			t.Fatalf("%s: %v, %v", uri, found, err)
		}
	}
	if found, err := l.Lookup("http://a.example/none", nil); err != nil || len(found) > 0 {
		t.Errorf("an unknown URI: %v, %v", found, err)
	}
}

func TestPayloadRemovesContentCodings(t *testing.T) {
	t.Parallel()
	const text = "the same text in every coding, the same text in every coding"
	lib := archivetest.New(t)
	gz := archivetest.Coded(t, "gzip", text)
	lib.Page("http://a.example/plain", archivetest.HTMLHead, text)
	lib.Page("http://a.example/gzip", archivetest.ChunkedHead+"\r\nContent-Encoding: gzip", gz)
	lib.Page("http://a.example/br", archivetest.HTMLHead+"\r\nContent-Encoding: br", archivetest.Coded(t, "br", text))
	lib.Page("http://a.example/empty", archivetest.HTMLHead+"\r\nContent-Encoding: gzip", "")
	lib.Page("http://a.example/odd", archivetest.HTMLHead+"\r\nContent-Encoding: rot13", text)
	lib.Seal()
	l := opened(t, lib.Dir)
	for name, want := range map[string]string{"plain": text, "gzip": text, "br": text, "empty": ""} {
		if got, err := content(t, l, "http://a.example/"+name, true); got != want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if got, err := content(t, l, "http://a.example/gzip", false); got != gz || err != nil {
		t.Errorf("gzip as it was sent: %q, %v", got, err)
	}
	if _, err := content(t, l, "http://a.example/odd", true); err == nil || !strings.Contains(err.Error(), "rot13") {
		t.Errorf("an unknown coding: %v", err)
	}
}

func TestTextIsUTF8(t *testing.T) {
	t.Parallel()
	lib := archivetest.New(t)
	lib.Page("http://a.example/latin", "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=iso-8859-1", "caf\xe9")
	lib.Page("http://a.example/picture", "HTTP/1.1 200 OK\r\nContent-Type: image/png", "\x89PNG\x00\xff")
	lib.Seal()
	l := opened(t, lib.Dir)
	if got, err := l.Text(context.Background(), history(t, l, "http://a.example/latin")[0], nil); got != "café" || err != nil {
		t.Errorf("latin: %q, %v", got, err)
	}
	if _, err := l.Text(context.Background(), history(t, l, "http://a.example/picture")[0], nil); !errors.Is(err, ErrNoText) {
		t.Errorf("a picture: %v", err)
	}
}

// Some writers remove the chunks and keep the head that announces them. The framing says what the record holds.
func TestTheFramingOfACaptureIsThatOfItsRecord(t *testing.T) {
	t.Parallel()
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: br\r\nTransfer-Encoding: chunked"
	dir := t.TempDir()
	archivetest.Must(t, os.WriteFile(filepath.Join(dir, "a.warc.gz"), archivetest.Zipped(t, archivetest.Info,
		archivetest.Response("a", "http://a.example/kept", head, "4\r\nbody\r\n0\r\n\r\n"),
		archivetest.Response("b", "http://a.example/removed", head, "the body")), 0o600))
	l := opened(t, dir)
	for u, want := range map[string]string{"kept": "chunked br", "removed": "br"} {
		if c := history(t, l, "http://a.example/"+u)[0]; c.Framing != want {
			t.Errorf("the body of %s is framed as %q, want %q", u, c.Framing, want)
		}
	}
}

// TestPayloadOfADamagedCaptureIsAnError damages the original of a revisit.
func TestPayloadOfADamagedCaptureIsAnError(t *testing.T) {
	t.Parallel()
	const target = "http://a.example/"
	sum := digest.Of([]byte("body")).String()
	revisit := archivetest.Plain(archivetest.Fields("revisit", "again", "WARC-Target-URI: "+target, "WARC-Refers-To: <urn:x:a>", "WARC-Payload-Digest: "+sum,
		"WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"), "")
	revisit = strings.Replace(revisit, "T09:", "T10:", 1)
	for _, c := range []struct {
		name, record string
		want         error
	}{
		{"an original that is named only by its id", archivetest.Response("a", target, archivetest.HTMLHead, "body"), nil},
		{"an original with another byte", strings.Replace(archivetest.Response("a", target, archivetest.HTMLHead, "body"), "body", "bode", 1), warc.ErrDamaged},
		{"an original with another digest", archivetest.Response("a", target, archivetest.HTMLHead, "other"), warc.ErrDamaged},
		{"no original", archivetest.Response("b", target, archivetest.HTMLHead, "body"), warc.ErrNotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			archivetest.Must(t, os.WriteFile(filepath.Join(dir, "a.warc.gz"), archivetest.Zipped(t, archivetest.Info, c.record, revisit), 0o644))
			got, err := content(t, opened(t, dir), target, true)
			if !errors.Is(err, c.want) || err == nil && got != "body" {
				t.Errorf("content %q, %v, want %v", got, err, c.want)
			}
		})
	}
}

func TestParseVersion(t *testing.T) {
	t.Parallel()
	day := func(d int) time.Time { return time.Date(2026, 11, d, 0, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		in   string
		want Version
	}{
		{"http://a.example/", Version{URI: "http://a.example/"}},
		{"http://a.example/@someone", Version{URI: "http://a.example/@someone"}},
		{"http://a.example/@someone@20261121", Version{"http://a.example/@someone", day(21), day(22)}},
		{"http://a.example/@2026-11", Version{"http://a.example/", day(1), day(31)}},
		{"http://a.example/@2026-11-21T01", Version{"http://a.example/", day(21).Add(time.Hour), day(21).Add(2 * time.Hour)}},
		{"http://a.example/@2026-11-21 00:01", Version{"http://a.example/", day(21).Add(time.Minute), day(21).Add(2 * time.Minute)}},
		{"http://a.example/@2026-11-31", Version{URI: "http://a.example/@2026-11-31"}},
		{"http://a.example/@2026-11-21T00:00:00Z", Version{"http://a.example/", day(21), day(21).Add(time.Second)}},
	} {
		if got := ParseVersion(c.in); got != c.want {
			t.Errorf("ParseVersion(%q) = %v, want %v", c.in, got, c.want)
		}
	}
}

func TestWriteFileKeepsTheOldIndexAfterAnError(t *testing.T) {
	t.Parallel()
	l := archivetest.Small(t)
	path := filepath.Join(l.Dir, index.FileName)
	archivetest.Must(t, os.WriteFile(path, []byte("old"), 0o644))
	stop := errors.New("stop")
	archivetest.Must(t, os.WriteFile(filepath.Join(l.Dir, "bad.warc"), []byte("bad"), 0o644))
	failing := func(warc.Finding) error { return stop }
	_, err := index.WriteFile(context.Background(), []string{l.Dir}, index.Options{}, path, failing)
	if old, _ := os.ReadFile(path); !errors.Is(err, stop) || string(old) != "old" {
		t.Errorf("the error is %v and the old index is %q", err, old)
	}
	if left, err := filepath.Glob(filepath.Join(l.Dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

// noFinding fails on the first finding.
func noFinding(f warc.Finding) error { return &f }

// TestAFileThatIsRemovedMeanwhileIsNotDamaged removes a file after the library was opened.
func TestAFileThatIsRemovedMeanwhileIsNotDamaged(t *testing.T) {
	t.Parallel()
	lib := archivetest.Small(t)
	l := opened(t, lib.Dir)
	file := lib.Files()[0]
	archivetest.Must(t, os.Remove(file))
	for _, c := range history(t, l, "http://www.a.example/") {
		if name, gone := GoneFile(c.Damage); !gone || name != filepath.Base(file) {
			t.Errorf("the capture of %s has the error %v", c.Date, c.Damage)
		}
	}
}

// TestFilesThatWereMovedAwayAreNamed moves a file of an indexed archive away, and then all of them.
func TestFilesThatWereMovedAwayAreNamed(t *testing.T) {
	t.Parallel()
	lib := archivetest.New(t)
	first := lib.Page("http://a.example/", archivetest.HTMLHead, "<p>one</p>")
	lib.Seal()
	lib.Revisit("http://a.example/", archivetest.HTMLHead, first)
	lib.Seal()
	writeIndex(t, lib.Dir)
	for moved, file := range lib.Files() {
		archivetest.Must(t, os.Rename(file, filepath.Join(t.TempDir(), "moved")))
		l, err := OpenLibrary(t.Context(), lib.Dir, Options{}, func(f warc.Finding) error {
			if f.Kind == warc.Empty { // the folder has no file any more
				return nil
			}
			return &f
		})
		archivetest.Must(t, err)
		defer l.Close() //nolint:errcheck // nothing was written
		captures := history(t, l, "http://a.example/")
		if len(captures) != 2 || !captures[0].IsElsewhere() || captures[1].IsElsewhere() != (moved == 1) {
			t.Fatalf("after %d files were moved away the history is %+v", moved+1, captures)
		}
		want := "bring " + first.File + " back"
		_, err = l.Payload(t.Context(), captures[1], true)
		if moved == 0 && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("the payload of a revisit whose original was moved away: %v; want %q", err, want)
		}
		var table bytes.Buffer
		if err := WriteTable(&table, captures); err != nil || !strings.Contains(table.String(), want) {
			t.Errorf("the table does not say %q: %v\n%s", want, err, &table)
		}
	}
}

// TestAPageWithVeryManyCapturesTakesNoMemory looks captures up in an index that has very many of one page, and a second
// page with the same key.
func TestAPageWithVeryManyCapturesTakesNoMemory(t *testing.T) {
	t.Parallel()
	const captures, limit = 3000, 100
	const pages = captures * 99 / 100 // without www
	lib, start := archivetest.New(t), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var lines strings.Builder
	for i := range captures {
		host := "a.example"
		if i%100 == 0 {
			host = "www.a.example"
		}
		fmt.Fprintf(&lines, `example,a)/ %s {"url":"http://%s/","mime":"text/html","status":"200","digest":"sha1:A",`+
			`"length":"9","offset":"%d","filename":"moved.warc.gz"}`+"\n", start.Add(time.Duration(i)*time.Minute).Format(index.DateLayout), host, i)
	}
	lib.Page("http://c.example/", archivetest.HTMLHead, "a folder without files is refused")
	lib.Seal()
	for name, text := range map[string]string{index.FileName: lines.String(), index.FileName + ".files": ""} {
		archivetest.Must(t, os.WriteFile(filepath.Join(lib.Dir, name), []byte(text), 0o600))
	}
	l := opened(t, lib.Dir)
	newest, count, err := l.Newest("http://a.example/", limit)
	if err != nil || count != pages || len(newest) != limit || cap(newest) > 4*limit {
		t.Fatalf("%d of %d captures in room for %d, %v; want %d of %d", len(newest), count, cap(newest), err, limit, pages)
	}
	if first, last := newest[0].Offset, newest[limit-1].Offset; first != captures-limit-1 || last != captures-1 {
		t.Errorf("the newest are at %d to %d, want %d to %d", first, last, captures-limit-1, captures-1)
	}
	for pos, want := range map[int64]Place{
		1:            {Number: 1, Count: pages, After: index.Entry{Offset: 2}},
		101:          {Number: 100, Count: pages, Before: index.Entry{Offset: 99}, After: index.Entry{Offset: 102}},
		captures - 1: {Number: pages, Count: pages, Before: index.Entry{Offset: captures - 2}},
		300:          {Number: 4, Count: captures / 100, Before: index.Entry{Offset: 200}, After: index.Entry{Offset: 400}},
	} {
		isThere := func(a, b index.Entry) bool { return a.Offset == pos && b.Offset != pos }
		found, ok, err := l.Nearest("http://a.example/", isThere)
		if err != nil || !ok || found.Offset != pos {
			t.Fatalf("the capture at %d: %+v, %v", pos, found, err)
		}
		p, err := l.PlaceOf(found)
		if err != nil || p.Number != want.Number || p.Count != want.Count || p.Before.Offset != want.Before.Offset ||
			p.After.Offset != want.After.Offset {
			t.Errorf("the place of the capture at %d is %+v, %v; want %+v", pos, p, err, want)
		}
	}
	if later, ok, err := l.Nearest("http://a.example/", func(_, _ index.Entry) bool { return false }); !ok || err != nil || later.Offset != captures-1 {
		t.Errorf("the last capture: %+v, %v", later, err)
	}
	if _, ok, err := l.Nearest("http://b.example/", func(_, _ index.Entry) bool { return false }); ok || err != nil {
		t.Errorf("a capture of an unknown URI: %v", err)
	}
}

// The request of a revisit without a request record is made again from the first records of its file, also if the file
// was extracted from another one. A capture with a request record, or of another program, has none.
func TestTheUsualRequestIsMadeAgain(t *testing.T) {
	t.Parallel()
	l := archivetest.NewBrief(t)
	const page = "http://www.a.example:8080/x?y"
	const request = "GET /x?y HTTP/1.1\r\nHost: www.a.example:8080\r\n\r\n"
	first := l.Page(page, archivetest.HTMLHead, "<p>one")
	l.Revisit(page, archivetest.HTMLHead, first)
	l.NotModified(page, first)
	l.Seal()
	extracted := t.TempDir()
	file := archivetest.Read(t, l.Files()[0])
	other := archivetest.Zipped(t, archivetest.Plain(archivetest.Fields("warcinfo", "other", "Content-Type: application/warc-fields"), ""))
	archivetest.Must(t, os.WriteFile(filepath.Join(extracted, "e.warc.gz"), []byte(string(other)+file), 0o600))
	for _, dir := range []string{l.Dir, extracted} {
		library := opened(t, dir)
		all := history(t, library, page)
		for i, want := range []string{"", request, request} {
			if got, err := library.UsualRequest(all[i].Entry); got != want || err != nil {
				t.Errorf("the request of %s is %q, %v; want %q", all[i].Timestamp, got, err, want)
			}
		}
	}
}
