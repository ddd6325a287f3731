package sim_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/sim"
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
