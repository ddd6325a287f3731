package warcout

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/foreign"
)

// TestWarcioReadsTheWrittenRecords writes each kind of visit and compares the records that warcio reads.
func TestWarcioReadsTheWrittenRecords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir, Info: []Field{{"software", "arcrawl/1"}, {"operator", "Národní knihovna"}}})
	chunked := []byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n")
	_, body, _ := strings.Cut(string(chunked), "\r\n\r\n")
	payload := dechunk(t, []byte(body))
	first := mustWrite(t, w, start, visit(address(1), responseOf(chunked, payload)))
	same := visit(address(2), nil)
	same.Revisit = &Revisit{Profile: IdenticalPayload, Origin: first.Origin, Head: []byte("HTTP/1.1 200 OK\r\nX: y\r\n\r\n")}
	mustWrite(t, w, start, same)
	unmodified := visit(address(1), nil)
	unmodified.Revisit = &Revisit{Profile: NotModified, Origin: first.Origin, Head: []byte(notModified), ETag: `"a"`}
	mustWrite(t, w, start, unmodified)
	aborted := visit(address(3), nil)
	aborted.Head = []byte("HTTP/1.1 200 OK\r\nETag: \"a\"\r\n\r\n")
	mustWrite(t, w, start, aborted)
	garbage := visit(address(4), responseOf([]byte("SSH-2.0-x\r\n"), nil))
	mustWrite(t, w, start, garbage)
	mustWrite(t, w, start, visit(address(5), noise(5, 2*spoolMemory)))
	must(t, w.Close(start))

	records := foreign.Records(t, sealedFiles(t, dir)...)
	strict := readDir(t, dir)
	if len(records) != len(strict) {
		t.Fatalf("warcio sees %d records, the strict reader %d", len(records), len(strict))
	}
	var kinds []string
	for i, r := range records {
		if len(r.Errors) > 0 || r.Offset != strict[i].offset || r.Length != strict[i].length || r.ID != strict[i].id() ||
			string(r.Block) != string(strict[i].block) {
			t.Errorf("record %d: warcio sees a %s of %d bytes at %d with errors %q, the strict reader %+v", i, r.Type, r.ContentLength, r.Offset, r.Errors, strict[i].header)
		}
		kinds = append(kinds, r.Type)
	}
	want := "warcinfo " +
		"response request metadata " +
		"revisit request metadata " +
		"revisit request metadata metadata " +
		"metadata request metadata " +
		"metadata request metadata " +
		"response request metadata"
	if diff := cmp.Diff(want, strings.Join(kinds, " ")); diff != "" {
		t.Errorf("record types (-want +got):\n%s", diff)
	}
	if got := records[1]; got.ComputedPayload != digest.Of([]byte("hello world")).String() || got.PayloadDigest != got.ComputedPayload || got.Status != "HTTP/1.1 200 OK" {
		t.Errorf("the chunked response has payload digest %s, computed %s, status %q", got.PayloadDigest, got.ComputedPayload, got.Status)
	}
	for _, i := range []int{4, 7} {
		got := records[i]
		if got.RefersTo != records[1].ID || got.RefersToTarget != records[1].Target || got.RefersToDate != records[1].Date ||
			got.PayloadDigest != records[1].PayloadDigest {
			t.Errorf("revisit %d refers to %s, %s, %s with payload %s; the original is %+v", i, got.RefersTo, got.RefersToTarget, got.RefersToDate, got.PayloadDigest, records[1])
		}
	}
}
