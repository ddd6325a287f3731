package curator

import (
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/uri"
)

const page = "http://www.a.example/"

// records indexes captures of the page, and returns how to ask for a record.
func (w *archived) records(captures ...digest.Origin) func(at string) (Record, error) {
	w.T.Helper()
	for i, o := range captures {
		mime := "text/html"
		if i > 0 {
			mime = index.RevisitMIME
		}
		w.add(o, mime, http.StatusOK)
	}
	u, err := uri.Parse(page)
	archivetest.Must(w.T, err)
	c := catalog{Archive: w.reader, Config: func() *config.Config { return &config.Config{} }}
	return func(at string) (Record, error) { return c.Record(w.T.Context(), access.Curate, u, at, w.Now) }
}

// TestTheRecordsOfAVersionAreShown shows a response and a revisit of it, in a file that is still open.
func TestTheRecordsOfAVersionAreShown(t *testing.T) {
	t.Parallel()
	a := newArchived(t)
	first := a.Page(page, archivetest.HTMLHead+"\r\nX-First: yes", "<p>not part of the head")
	second := a.Revisit(page, archivetest.HTMLHead+"\r\nX-Second: yes", first)
	ask := a.records(first, second)
	got, err := ask(stamp(second))
	if err != nil || got.Problem != "" || len(got.Notes) > 0 || len(got.Parts) < 3 || len(got.Original) < 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, c := range []struct {
		part                     RecordPart
		kind, header, head, lack string
	}{
		{got.Parts[0], "revisit", "WARC-Refers-To-Target-URI: " + page, "HTTP/1.1 200 OK\nContent-Type: text/html; charset=utf-8\nX-Second: yes\n", "X-First"},
		{got.Parts[1], "request", "WARC-Concurrent-To: <", "GET / HTTP/1.1\nHost: www.a.example\n", "\r"},
		{got.Parts[2], "metadata", "Content-Type: application/warc-fields", "contentStateReason: other content", ""},
		{got.Original[0], "response", "WARC/1.1\n", "X-First: yes", "not part of the head"},
		{got.Original[1], "request", "WARC-Concurrent-To: <", "GET / HTTP/1.1", ""},
	} {
		p := c.part
		has := strings.Contains(p.Header, c.header) && strings.Contains(p.Head, c.head)
		if p.Type != c.kind || !has || p.Cut || p.Size == 0 {
			t.Errorf("%+v\nis not a %s with %q and %q", p, c.kind, c.header, c.head)
		}
		if c.lack != "" && strings.Contains(p.Head, c.lack) {
			t.Errorf("the head of the %s is %q, with %q", c.kind, p.Head, c.lack)
		}
	}
	if o := got.Original[0]; o.Offset != first.Offset || o.File != first.File {
		t.Errorf("the payload is in %s at %d, want %+v", o.File, o.Offset, first)
	}
}

// TestTheUsualRequestOfAVersionIsShown shows the request of a revisit without a request record.
func TestTheUsualRequestOfAVersionIsShown(t *testing.T) {
	t.Parallel()
	a := archivedIn(t, archivetest.NewBrief(t))
	first := a.Page(page, archivetest.HTMLHead, "<p>one")
	second := a.NotModified(page, first)
	got, err := a.records(first, second)(stamp(second))
	if err != nil || got.Problem != "" || len(got.Notes) > 0 || len(got.Parts) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	metadata, request := got.Parts[1], got.Parts[2]
	if want := "GET / HTTP/1.1\nHost: www.a.example\n\n"; request.Type != "request" || request.Head != want {
		t.Errorf("the request is %+v, want %q", request, want)
	}
	if want := "responseHead: HTTP/1.1 304 Not Modified\nresponseHead: ETag: \"1\"\nrequest: usual\n"; !strings.HasSuffix(metadata.Head, want) {
		t.Errorf("the metadata record is %q, want %q at its end", metadata.Head, want)
	}
}

// TestHostileBytesOfARecordAreHarmless shows heads with control characters, marks of direction, invalid UTF-8 and much
// text.
func TestHostileBytesOfARecordAreHarmless(t *testing.T) {
	t.Parallel()
	a := newArchived(t)
	hostile := archivetest.HTMLHead + "\r\nX-Bad: \x1b[31m\u202Eevil\x00\xff<script>\r\nX-Long: " + strings.Repeat("y", 2<<20)
	first := a.Page(page, hostile, "<p>well")
	got, err := a.records(first)("")
	if err != nil || got.Problem != "" || len(got.Parts) < 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	if p := got.Parts[0]; !p.Cut || len(p.Head) > 70<<10 || !strings.Contains(p.Head, "X-Bad: [U+001B][31m[U+202E]evil[U+0000]\uFFFD<script>\n") {
		t.Errorf("the head is shown as %.200q, cut %v", p.Head, p.Cut)
	}
	if got.Parts[1].Type != "request" || got.Parts[1].Cut {
		t.Errorf("behind it is %+v", got.Parts[1])
	}
}

// TestARecordThatCannotBeReadSaysWhy damages the record of a version, and then removes its file.
func TestARecordThatCannotBeReadSaysWhy(t *testing.T) {
	t.Parallel()
	a := newArchived(t)
	first := a.Page(page, archivetest.HTMLHead, "<p>one")
	second := a.Revisit(page, archivetest.HTMLHead, first)
	a.Seal()
	ask := a.records(first, second)
	file := a.Files()[0]
	content := []byte(archivetest.Read(t, file))
	for i := first.Offset; i < first.Offset+first.Length; i++ {
		content[i] = 'x'
	}
	archivetest.Must(t, os.WriteFile(file, content, 0o600))
	for name, want := range map[string]string{
		stamp(first): "problem: Its record in the WARC file is damaged.", stamp(second): "note: The record with the payload cannot be read. Its record",
	} {
		got, err := ask(name)
		all := "problem: " + got.Problem + " note: " + strings.Join(got.Notes, " ")
		if err != nil || !strings.Contains(all, want) {
			t.Errorf("the damaged record of %s is %q, %v; want %q", name, all, err, want)
		}
	}
	archivetest.Must(t, os.Remove(file))
	got, err := ask("")
	if err != nil || !strings.Contains(got.Problem, "is not in the folder of the archive") || len(got.Parts) > 0 {
		t.Errorf("without its file: %s, %v", strconv.Quote(got.Problem), err)
	}
}

// TestARecordWithAHugeHeaderSaysWhy asks for a record of another program whose header has 2 MB.
func TestARecordWithAHugeHeaderSaysWhy(t *testing.T) {
	t.Parallel()
	a := newArchived(t)
	first := a.Page(page, archivetest.HTMLHead, "<p>one")
	a.Seal()
	huge := archivetest.Response("huge", page, archivetest.HTMLHead, "x", "X-Huge: "+strings.Repeat("y", 2<<20))
	content := archivetest.Zipped(t, huge)
	first.Offset, first.Length = 0, int64(len(content))
	archivetest.Must(t, os.WriteFile(a.Files()[0], content, 0o600))
	got, err := a.records(first)("")
	if err != nil || !strings.Contains(got.Problem, "damaged") || len(got.Problem) > 500 || len(got.Parts) > 0 {
		t.Errorf("%.500q with %d parts, %v", got.Problem, len(got.Parts), err)
	}
}
