package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// A crawl writes next to the verification. While the open files are read, it writes an original and a revisit of it.
func TestARevisitFindsAnOriginalThatWasWrittenSinceTheListing(t *testing.T) {
	t.Parallel()
	const target = "http://a.example/new"
	info := func(id string) string { return strings.ReplaceAll(archivetest.Info, "urn:x:info", "urn:x:info-"+id) }
	original := archivetest.Response("original", target, archivetest.HTMLHead, "new")
	revisit := archivetest.Plain(archivetest.Fields("revisit", "again", "WARC-Target-URI: "+target,
		"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified", "WARC-Refers-To: <urn:x:original>",
		"WARC-Refers-To-Target-URI: "+target, "WARC-Refers-To-Date: "+archivetest.Start.Format(warc.DateLayout)), "")
	revisit = strings.Replace(revisit, "T09:", "T20:", 1) // its date
	for _, c := range []struct {
		name, listed string   // the file with the revisit
		written      string   // the file that gets the original while it is read
		records      []string // of this file
		lost         bool
	}{
		{"in a newer file", "b.warc.gz.open", "c.warc.gz.open", []string{info("c"), original}, false},
		{"at the end of an older file", "b.warc.gz.open", "a.warc.gz.open", []string{info("a"), original}, false},
		{"in an older file, sealed since", "b.warc.gz.open", "a.warc.gz", []string{info("a"), original}, false},
		{"nowhere", "b.warc.gz.open", "c.warc.gz.open", []string{info("c")}, true},
		{"a sealed file refers to nothing newer", "b.warc.gz", "c.warc.gz.open", []string{info("c"), original}, true},
	} {
		dir := t.TempDir()
		save := func(name string, records ...string) {
			archivetest.Must(t, os.WriteFile(filepath.Join(dir, name), archivetest.Zipped(t, records...), 0o600))
		}
		save("a.warc.gz.open", info("a"))
		save(c.listed, info("b"), revisit)
		save("z.warc.gz.open", info("z"))
		var faults []string
		written := false
		_, err := Files(t.Context(), []string{dir}, Options{}, func(f warc.Finding) error {
			if f.Kind == warc.StillOpen && filepath.Base(f.File) == "z.warc.gz.open" { // all others have been read
				if c.written == "a.warc.gz" {
					archivetest.Must(t, os.Remove(filepath.Join(dir, "a.warc.gz.open")))
				}
				save(c.written, c.records...)
				written = true
			}
			if f.Severity == warc.Error {
				faults = append(faults, f.Error())
			}
			return nil
		})
		if lost := len(faults) == 1 && strings.Contains(faults[0], "the original is not there"); err != nil || !written ||
			lost != c.lost || len(faults) > 1 || !lost && len(faults) > 0 {
			t.Errorf("%s: faults %q, %v; want a lost original: %t", c.name, faults, err, c.lost)
		}
	}
}
