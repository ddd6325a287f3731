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
