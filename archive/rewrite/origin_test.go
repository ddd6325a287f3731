package rewrite

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

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
	o := Options{
		From: []string{l.Dir}, Software: "arcrawl/test", Command: "arcrawl extract",
		Now:    time.Date(2026, 11, 22, 16, 0, 0, 0, time.UTC),
		Select: Selection{Hosts: []string{"www.a.example"}, From: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)},
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
	out, done, found := rewritten(t, []string{late}, Options{From: []string{old}})
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
