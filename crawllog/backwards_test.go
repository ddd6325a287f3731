package crawllog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/crawllog"
)

func TestBackwardsReadsEachWholeLineWithItsPlace(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 5000 {
		lines = append(lines, fmt.Sprint(i, strings.Repeat("x", i%300)))
	}
	tooLong := strings.Repeat("y", 10*crawllog.MaxLine)
	for name, text := range map[string]string{
		"whole":                  strings.Join(lines, "\n") + "\n",
		"half a line at the end": strings.Join(lines, "\n") + "\nhalf",
		"a line that is too long, in the middle": strings.Join(lines[:70], "\n") + "\n" + tooLong + "\n" +
			strings.Join(lines[70:], "\n") + "\n",
		"a line that is too long, at the end": strings.Join(lines, "\n") + "\n" + tooLong + "\n",
	} {
		path := filepath.Join(t.TempDir(), "crawl.log")
		must(t, os.WriteFile(path, []byte(text), 0o600))
		var got []string
		err := crawllog.Backwards(path, func(line []byte, offset int64) bool {
			if !strings.HasPrefix(text[offset:], string(line)+"\n") {
				t.Errorf("%s: %q is not at %d", name, line, offset)
			}
			got = append(got, string(line))
			return true
		})
		slices.Reverse(got)
		if err != nil || !slices.Equal(got, lines) {
			t.Errorf("%s: read %d lines, want %d (%v)", name, len(got), len(lines), err)
		}
	}
}

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

// A disk that fails is not a folder without a log: the store would not be compared with its log.
func TestFilesOfAFolderThatCannotBeRead(t *testing.T) {
	t.Parallel()
	notFolder := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(notFolder, nil, 0o600))
	if got, err := crawllog.Files(filepath.Join(notFolder, "crawl.log")); err == nil || !strings.Contains(err.Error(), notFolder) {
		t.Errorf("Files = %v, %v; want an error with the name of the folder", got, err)
	}
	if got, err := crawllog.Files(filepath.Join(t.TempDir(), "missing", "crawl.log")); got != nil || err != nil {
		t.Errorf("Files in a folder that does not exist = %v, %v; want none", got, err)
	}
}
