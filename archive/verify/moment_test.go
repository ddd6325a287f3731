package verify

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/rewrite"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// TestARevisitWithoutRecordIDFindsItsVersionWithinASecond reads files of Browsertrix's kind: three versions of a URI
// within a second, and revisits that name only its URI and a date.
func TestARevisitWithoutRecordIDFindsItsVersionWithinASecond(t *testing.T) {
	t.Parallel()
	const target = "http://a.example/"
	for name, refersTo := range map[string]string{
		"the date of the version":    "2026-11-21T09:00:00.200Z",
		"the date without fractions": "2026-11-21T09:00:00Z",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records := []string{archivetest.Info}
			at := func(id string, ms int) []string {
				return []string{
					"WARC-Record-ID: <urn:x:" + id + ">", fmt.Sprintf("WARC-Date: 2026-11-21T09:00:00.%03dZ", ms), "WARC-Target-URI: " + target,
					"Content-Type: application/http;msgtype=response",
				}
			}
			body := func(version int) string { return fmt.Sprintf("<p>version %d</p>", version) }
			for version := range 3 {
				block := archivetest.HTMLHead + "\r\n\r\n" + body(version)
				records = append(records, archivetest.Plain(append([]string{
					"WARC-Type: response", "WARC-Block-Digest: " + digest.Of([]byte(block)).String(),
					"WARC-Payload-Digest: " + digest.Of([]byte(body(version))).String(),
				}, at(fmt.Sprint(version), 100*(version+1))...), block))
			}
			head := archivetest.HTMLHead + "\r\n\r\n"
			records = append(records, archivetest.Plain(append([]string{
				"WARC-Type: revisit", "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
				"WARC-Refers-To-Target-URI: " + target, "WARC-Refers-To-Date: " + refersTo,
				"WARC-Block-Digest: " + digest.Of([]byte(head)).String(), "WARC-Payload-Digest: " + digest.Of([]byte(body(1))).String(),
			}, at("revisit", 900)...), head))
			file := archivetest.Save(t, "a.warc.gz", archivetest.Zipped(t, records...))
			none := func(f warc.Finding) error { return &f }

			_, err := Files(t.Context(), []string{file}, Options{}, none)
			archivetest.Must(t, err)

			s, err := depend.New(t.Context(), []string{file}, nil, none)
			archivetest.Must(t, err)
			if o := s.Original(3); o != 1 {
				t.Errorf("the survey has the original %d, want 1", o)
			}

			l, err := index.OpenLibrary(t.Context(), filepath.Dir(file), index.Options{}, none)
			archivetest.Must(t, err)
			captures, err := l.History(target)
			archivetest.Must(t, err)
			original, err := l.Original(t.Context(), captures[3])
			archivetest.Must(t, err)
			if original.RecordID != "urn:x:1" {
				t.Errorf("the library has the original %s, want urn:x:1", original.RecordID)
			}
			archivetest.Must(t, l.Close())

			sum, err := rewrite.Files(t.Context(), []string{file}, rewrite.Options{Out: t.TempDir(), All: true}, none)
			if err != nil || sum.Filled != 1 {
				t.Errorf("reduplicate filled %d revisits, %v; want 1", sum.Filled, err)
			}
		})
	}
}
