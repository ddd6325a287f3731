package sim_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/lab/sim"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

func TestVisitsAreReadFromIndexes(t *testing.T) {
	dir := t.TempDir()
	cdx, cdxj := filepath.Join(dir, "a.cdx"), filepath.Join(dir, "b.cdxj")
	write(t, cdx, " CDX N b a m s k r M S V g\n"+
		"example,a)/ 20260101000000 http://a.example/ text/html 200 AAAA - - 100 0 a.warc.gz\n"+
		"example,a)/ 20260103000000 http://a.example/ warc/revisit - AAAA - - 100 9 a.warc.gz\n"+
		"example,a)/x 20260103000000 http://a.example/x text/html 404 CCCC - - 100 19 a.warc.gz\n")
	millis := filepath.Join(dir, "c.cdxj")
	write(t, millis, "example,a)/ 20260107000000500 {\"url\": \"http://a.example/\", \"mime\": \"text/html\", \"status\": \"200\", \"digest\": \"sha1:CCCC\"}\n")
	millisCDX := filepath.Join(dir, "d.cdx")
	write(t, millisCDX, " CDX N b a m s k r M S V g\n"+
		"example,a)/ 20260108000000250 http://a.example/ text/html 200 CCCC - - 100 0 a.warc.gz\n")
	write(t, cdxj, "example,a)/ 20260105000000 {\"url\": \"http://a.example/\", \"mime\": \"text/html\", \"status\": \"200\", \"digest\": \"sha1:BBBB\", \"offset\": \"0\", \"filename\": \"b.warc.gz\"}\n")
	var s sim.Sightings
	_, skipped, err := s.ReadFiles([]string{cdx, cdxj, millis, millisCDX}, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := s.All()
	if len(all) != 1 || skipped != 0 {
		t.Fatalf("%d URIs, %d lines skipped, want 1 URI and none skipped", len(all), skipped)
	}
	var states []string
	for _, v := range all[0].Visits {
		states = append(states, v.State.String())
	}
	if got := strings.Join(states, " "); got != "changed unchanged changed changed unchanged" {
		t.Errorf("the states are %s", got)
	}
	if last := all[0].Visits[4].At.Format("2006-01-02T15:04:05.000"); last != "2026-01-08T00:00:00.250" {
		t.Errorf("the last visit is of %s", last)
	}
	junk := filepath.Join(dir, "junk")
	write(t, junk, "nothing\n")
	if _, _, err := s.ReadFiles([]string{junk}, nil); err == nil {
		t.Error("a file of another format was accepted")
	}
}

// OutbackCDX and other CDX servers write a CDX without a header by default.
func TestVisitsAreReadFromIndexesWithoutAHeader(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "server.cdx")
	write(t, name, "com,example)/ 20260101000000 http://example.com/ text/html 200 AAAA - - 100 0 a.warc.gz\n"+
		"com,example)/ 20260102000000 http://example.com/ warc/revisit - AAAA - - 90 700 a.warc.gz\n"+
		"com,example)/ 20260103000000 http://example.com/ text/html 200 BBBB 100\n"+
		"com,example)/gone 20260103000000 http://example.com/gone text/html 404 CCCC - - 100 19 a.warc.gz\n"+
		"com,example)/robots.txt 20260103000000 http://example.com/robots.txt text/plain 200 DDDD - - 100 19 a.warc.gz\n"+
		"no line of an index at all, though it is long\n")
	var s sim.Sightings
	visits, skipped, err := s.ReadFiles([]string{name}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if visits != 3 || skipped != 1 {
		t.Errorf("%d visits read and %d lines skipped, want 3 and 1", visits, skipped)
	}
	if got := statesOf(s.All()); got != "http://example.com/ changed unchanged changed" {
		t.Errorf("read %s", got)
	}
}

func TestVisitsAreReadFromWARCFiles(t *testing.T) {
	t.Parallel()
	a := archivetest.New(t)
	first := a.Page("http://example.com/", archivetest.HTMLHead, "one")
	a.NotModified("http://example.com/", first)
	a.Page("http://example.com/", archivetest.HTMLHead, "two")
	a.Seal()
	var s sim.Sightings
	visits, err := s.ReadArchives(t.Context(), []string{a.Dir}, nil, func(f warc.Finding) error {
		t.Errorf("a whole archive: %v", f)
		return nil
	})
	if err != nil || visits != 3 {
		t.Fatalf("%d visits read, want 3: %v", visits, err)
	}
	if got := statesOf(s.All()); got != "http://example.com/ changed unchanged changed" {
		t.Errorf("read %s", got)
	}
}

// statesOf returns the URIs with the states of their visits.
func statesOf(all []*sim.Sighted) string {
	var words []string
	for _, sighted := range all {
		words = append(words, sighted.URI)
		for _, v := range sighted.Visits {
			words = append(words, v.State.String())
		}
	}
	return strings.Join(words, " ")
}
