package archive

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/foreign"
)

// Researchers read the captures as a table, and see which of them brought something new.
func TestDuckDBReadsTheTableOfCaptures(t *testing.T) {
	t.Parallel()
	l := archivetest.New(t)
	const front = "http://www.news.example/"
	for _, text := range []string{"one", "one", "two"} { // an hour apart
		l.Page(front, archivetest.HTMLHead, "<p>"+text)
	}
	l.Page(front+"a?b=c%20d", "HTTP/1.1 410 Gone\r\nContent-Type: text/html", "gone")
	l.Page(front, archivetest.HTMLHead, "<p>one")
	l.Seal()
	out := filepath.Join(t.TempDir(), "captures.parquet")
	line{[]string{"index", "-o", out, l.Dir}, cli.ExitOK, []string{"5 captures"}}.run(t)

	got := fmt.Sprint(foreign.DuckDB(t, `SELECT url_host_name, url_host_registered_domain, url_protocol, url_path, url_query,
		fetch_time::VARCHAR, fetch_status, content_mime_type, payload_change FROM '`+out+`' ORDER BY fetch_time`))
	page := func(hour, change string) string {
		return "[www.news.example news.example http / <nil> 2026-11-21 " + hour + ":00:00.123+00 200 text/html " + change + "]"
	}
	want := "[" + strings.Join([]string{
		page("09", "first"), page("10", "unchanged"), page("11", "changed"),
		"[www.news.example news.example http /a b=c%20d 2026-11-21 12:00:00.123+00 410 text/html first]",
		page("13", "changed"),
	}, " ") + "]"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the table (-want +got):\n%s", diff)
	}
	counts := foreign.DuckDB(t, `SELECT count(*), count(DISTINCT content_digest), min(warc_record_offset) > 0,
		min(warc_record_length) > 0 FROM '`+out+`'`)
	if fmt.Sprint(counts) != "[[5 3 true true]]" {
		t.Errorf("captures, payloads, and places: %v", counts)
	}
}

// The table has what the metadata records of visits say: the state of the content, what was compared, and why the URI
// was due. A record about another visit does not count.
func TestTheTableSaysWhatEachVisitFound(t *testing.T) {
	t.Parallel()
	about := func(id, fields string) string {
		return archivetest.Plain(archivetest.Fields("metadata", "m"+id, "WARC-Target-URI: http://a.example/"+id,
			"WARC-Concurrent-To: <urn:x:"+id+">", "Content-Type: application/warc-fields"), fields)
	}
	page := func(id string) string {
		return archivetest.Response(id, "http://a.example/"+id, archivetest.HTMLHead, id)
	}
	file := archivetest.Save(t, "a.warc", []byte(page("1")+
		about("1", "contentState: changed\r\ncontentStateReason: other content\r\ncomparisonDigest: sha1:ABC\r\nvisitReason: learned rule\r\nwaitSec: 5400\r\n")+
		page("2")+about("1", "contentState: unchanged\r\n")+page("3")))
	out := filepath.Join(t.TempDir(), "t.parquet")
	line{[]string{"index", "-o", out, file}, cli.ExitOK, []string{"3 captures"}}.run(t)
	got := fmt.Sprint(foreign.DuckDB(t, `SELECT url_path, content_state, content_state_reason, comparison_digest, visit_reason,
		wait_seconds FROM '`+out+`' ORDER BY url_path`))
	const nothing = "<nil> <nil> <nil> <nil> <nil>"
	if want := "[[/1 changed other content sha1:ABC learned rule 5400] [/2 " + nothing + "] [/3 " + nothing + "]]"; got != want {
		t.Errorf("the table has %s, want %s", got, want)
	}
}

// With warc.changes the table says what a reader sees that changed with each version, also if the record about it is in
// another file. A record that cannot be read says nothing.
func TestTheTableSaysWhatChangedWithAVersion(t *testing.T) {
	t.Parallel()
	const page = "http://a.example/"
	note := func(id, about, content string) string {
		return archivetest.Plain(archivetest.Fields("metadata", id, "WARC-Target-URI: urn:change:"+about,
			"Content-Type: application/json"), content)
	}
	kinds := func(uri, at, kinds string) string {
		return fmt.Sprintf(`{"uri":%q,"at":"2026-11-21T%sZ","change":{"kinds":[%s]}}`, uri, at, kinds)
	}
	l := archivetest.New(t)
	for _, text := range []string{"one", "two", "three"} { // 9:00, 10:00 and 11:00
		l.Page(page, archivetest.HTMLHead, text)
	}
	l.Page(page+"other", archivetest.HTMLHead, "one")
	l.Seal()
	file := archivetest.Save(t, "notes.warc", []byte(note("n1", page, kinds(page, "10:00:02.5", `"headline","text"`))+
		note("n2", page, kinds(page, "11:00:04", `"links"`))+note("n3", page, "no JSON")+
		note("n4", "http://b.example/", kinds("http://b.example/", "11:00:04", `"text"`))))
	out := filepath.Join(t.TempDir(), "t.parquet")
	line{[]string{"index", "-o", out, l.Dir, file}, cli.ExitOK, []string{"4 captures"}}.run(t)
	got := fmt.Sprint(foreign.DuckDB(t, `SELECT hour(fetch_time), change_kinds FROM '`+out+`' ORDER BY fetch_time`))
	if want := "[[9 <nil>] [10 headline,text] [11 links] [12 <nil>]]"; got != want {
		t.Errorf("the table has %s, want %s", got, want)
	}
}

// The questions of the example are answered from this table and from what arcrawl changes prints.
func TestDuckDBAnswersTheQuestionsOfTheExample(t *testing.T) {
	t.Parallel()
	l := archivetest.New(t)
	for _, text := range []string{"one", "two", "three", "four"} {
		l.Page("http://www.news.example/", archivetest.HTMLHead, text)
		l.Page("http://www.news.example/article", archivetest.HTMLHead, text[:1])
	}
	l.Seal()
	dir := t.TempDir()
	table := filepath.Join(dir, "captures.parquet")
	line{[]string{"index", "-o", table, l.Dir}, cli.ExitOK, nil}.run(t)
	changes := archivetest.Save(t, "changes.jsonl", []byte(
		`{"at":"2026-11-21T09:10:00.5Z","host":"www.news.example","change":{"kinds":["headline","text"],"words":{"removed":7,"added":2}}}`+"\n"+
			`{"at":"2026-11-21T11:10:00Z","host":"www.news.example","change":{"kinds":["withdrawn"],"words":{"removed":0,"added":0}}}`+"\n"))
	text := archivetest.Read(t, "../examples/research/questions.sql")
	text = strings.NewReplacer("captures.parquet", table, "changes.jsonl", changes).Replace(text)
	var got []string
	for _, query := range strings.Split(text, ";\n") {
		if strings.Contains(query, "SELECT") {
			got = append(got, fmt.Sprint(foreign.DuckDB(t, query)))
		}
	}
	for i, want := range []string{
		"[[www.news.example 1 1 2]]", "[[www.news.example 1 7]]", "[[9 1]]", "2026-11-21 11:00:00.123+00 ", "[[www.news.example 2026-11-21 8 7]]",
	} {
		if len(got) != 5 || !strings.Contains(got[i], want) {
			t.Errorf("the answers are %q, want %s", got, want)
		}
	}
}

// A line that comes in pieces is one row, and a line that cannot be read ends the table with an error.
func TestATableTakesLinesInPieces(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	w := newRowWriter(&out)
	entry := string(index.Entry{Key: "example,a)/", Timestamp: "20261121090000", URL: "http://a.example/", Filename: "f"}.AppendTo(nil))
	for _, part := range []string{entry[:5], entry[5:] + entry[:9], entry[9:]} {
		if _, err := w.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.out.Close(); err != nil || len(w.rest) > 0 || !strings.HasPrefix(out.String(), "PAR1") {
		t.Errorf("closing: %v; %d bytes are left of %d", err, len(w.rest), out.Len())
	}
	if _, err := newRowWriter(&out).Write([]byte("no line\n")); err == nil {
		t.Error("a text without a line was accepted")
	}
}
