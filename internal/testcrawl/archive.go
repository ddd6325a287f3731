package testcrawl

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/warcout"
)

// ReadLog returns the lines of a crawl.log.
func ReadLog(t testing.TB, path string) []crawllog.Entry {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []crawllog.Entry
	for line := range strings.Lines(string(text)) {
		e, err := crawllog.Parse(strings.TrimSuffix(line, "\n"))
		if err != nil {
			t.Errorf("%v in line %q", err, line)
		}
		out = append(out, e)
	}
	return out
}

// CheckArchive reads the archive and the log that a crawl wrote to dir. The archive must be valid by itself, and must
// contain each record that the log names. The log must say of each other visit that later revisits cannot refer to it.
func CheckArchive(t testing.TB, dir string) []archivetest.CheckedRecord {
	t.Helper()
	records := archivetest.CheckDir(t, filepath.Join(dir, "warc"))
	at := make(map[string]archivetest.CheckedRecord, len(records))
	for _, r := range records {
		at[fmt.Sprintf("%s@%d", r.File, r.Offset)] = r
	}
	for _, r := range records {
		if r.Type() == "response" && r.Header.Get("WARC-Truncated") != "" {
			_, body, _ := strings.Cut(string(r.Block), "\r\n\r\n")
			if got, want := r.Header.Get("WARC-Payload-Digest"), digest.Of([]byte(body)).String(); got != want {
				t.Errorf("the cut response of %s has the digest %s, and its bytes have %s", r.Target(), got, want)
			}
		}
	}
	for _, e := range ReadLog(t, filepath.Join(dir, "crawl.log")) {
		checkClaim(t, e, at)
	}
	return records
}

// checkClaim checks that the archive contains the record that a log line names.
func checkClaim(t testing.TB, e crawllog.Entry, at map[string]archivetest.CheckedRecord) {
	t.Helper()
	if e.Extra == nil {
		return
	}
	if e.Extra.WARCFile == "" {
		if e.IsWhole() {
			t.Errorf("the line of %s at %s does not say that nothing was archived: %q", e.URI, e.Logged, e.Annotations)
		}
		return
	}
	r, ok := at[fmt.Sprintf("%s@%d", e.Extra.WARCFile, e.Extra.WARCOffset)]
	if !ok {
		t.Errorf("crawl.log names %s at %d of %s, where the archive has no record", e.URI, e.Extra.WARCOffset, e.Extra.WARCFile)
		return
	}
	target := r.Target()
	if r.Type() == "metadata" {
		target = strings.TrimPrefix(target, warcout.EvidencePrefix)
	}
	if target != e.URI || !r.Main() {
		t.Errorf("crawl.log names %s at %d of %s, where the archive has a %s of %s", e.URI, e.Extra.WARCOffset, e.Extra.WARCFile, r.Type(), r.Target())
	}
	if e.IsWhole() && r.Type() != "response" {
		t.Errorf("the line of %s at %s does not say that its record is a %s: %q", e.URI, e.Logged, r.Type(), e.Annotations)
	}
	why := r.Header.Get("WARC-Truncated")
	broken := why != "" && why != "length" && e.Digest.IsZero() // its record has the digest of a part
	if got := r.Header.Get("WARC-Payload-Digest"); r.Type() != "metadata" && got != e.Digest.String() && !broken {
		t.Errorf("crawl.log has %s for %s, its record has %s", e.Digest, e.URI, got)
	}
}
