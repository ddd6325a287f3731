package crawllog_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/arcrawl/arcrawl/crawllog"
)

func TestStatusTextNamesCodesOfHTTPAndHeritrix(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		404: "404 Not Found", -2: "-2 connection failed", -9998: "-9998 forbidden by robots.txt", 299: "299", -77: "-77",
	} {
		if got := crawllog.StatusText(status); got != want {
			t.Errorf("StatusText(%d) = %q, want %q", status, got, want)
		}
	}
}

func TestFilesFindsRotatedFilesOfANameWithSpecialCharacters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := filepath.Join(dir, "crawl[1].log")
	for _, name := range []string{"crawl[1].log", "crawl[1].log-20261120.gz", "crawl1.log", "other.log"} {
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	got, err := crawllog.Files(log)
	if want := []string{log, log + "-20261120.gz"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("Files(%s) = %v, %v; want %v", log, got, err, want)
	}
}
